// Package config is what the Temporal server asks of the AWS configuration for its S3 archiver and for Elasticsearch on
// AWS. None can be loaded: a development server keeps everything in SQLite.
package config

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
)

var errNoAWS = errors.New("this development server does not use AWS: leave archival and Elasticsearch off")

type (
	LoadOptions     struct{}
	LoadOptionsFunc func(*LoadOptions) error
	EnvConfig       struct{ Credentials aws.Credentials }
)

func LoadDefaultConfig(context.Context, ...func(*LoadOptions) error) (aws.Config, error) {
	return aws.Config{}, errNoAWS
}

func NewEnvConfig() (EnvConfig, error) { return EnvConfig{}, errNoAWS }

func WithRegion(string) LoadOptionsFunc { return chooseNothing }

func WithClientLogMode(aws.ClientLogMode) LoadOptionsFunc { return chooseNothing }

func chooseNothing(*LoadOptions) error { return nil }
