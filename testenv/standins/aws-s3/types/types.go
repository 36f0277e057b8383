// Package types has the data that the Temporal server's archiver reads from S3. Nothing here makes any.
package types

type (
	CommonPrefix struct{ Prefix *string }
	Object       struct{ Key *string }
	NoSuchBucket struct{}
	NoSuchKey    struct{}
)

func (*NoSuchBucket) Error() string { return "NoSuchBucket" }
func (*NoSuchKey) Error() string    { return "NoSuchKey" }
