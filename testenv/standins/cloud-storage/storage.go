// Package storage is what the Temporal server's archiver asks of Google Cloud Storage. No client can be had: archival is
// off in a development server.
package storage

import (
	"context"
	"errors"

	"google.golang.org/api/option"
)

// ScopeFullControl is the permission that the archiver asks for.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

var errNoStorage = errors.New("this development server does not archive to Google Cloud Storage: leave archival off")

type (
	Client         struct{}
	BucketHandle   struct{}
	BucketAttrs    struct{}
	ObjectHandle   struct{}
	ObjectAttrs    struct{ Name string }
	ObjectIterator struct{}
	Query          struct{ Prefix string }
	Reader         struct{}
	Writer         struct{}
)

func NewClient(context.Context, ...option.ClientOption) (*Client, error) { return nil, errNoStorage }

func (*Client) Bucket(string) *BucketHandle { return &BucketHandle{} }

func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, errNoStorage }
func (*BucketHandle) Object(string) *ObjectHandle                     { return &ObjectHandle{} }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return &ObjectIterator{} }

func (*ObjectIterator) Next() (*ObjectAttrs, error) { return nil, errNoStorage }

func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error) { return nil, errNoStorage }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)  { return nil, errNoStorage }
func (*ObjectHandle) NewWriter(context.Context) *Writer           { return &Writer{} }

func (*Reader) Read([]byte) (int, error) { return 0, errNoStorage }
func (*Reader) Close() error             { return nil }

func (*Writer) Write([]byte) (int, error)  { return 0, errNoStorage }
func (*Writer) Close() error               { return errNoStorage }
func (*Writer) CloseWithError(error) error { return nil }
