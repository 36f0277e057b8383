package codemodeworker

import (
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode/activities"
)

// watchAttempts makes a client tell its workers which workflow tasks are tried again.
func (o *Options) watchAttempts(c *client.Options) {
	if o.attempts == nil {
		o.attempts = &activities.Attempts{}
	}
	c.ConnectionOptions.DialOptions = append(c.ConnectionOptions.DialOptions,
		grpc.WithChainUnaryInterceptor(o.attempts.Interceptor()))
}
