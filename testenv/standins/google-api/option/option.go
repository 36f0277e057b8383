// Package option has the options that the Temporal server gives to its Google Cloud client, of which there is none.
package option

import "golang.org/x/oauth2"

// ClientOption is ignored: the stand-in for Cloud Storage makes no client.
type ClientOption interface{}

func WithTokenSource(oauth2.TokenSource) ClientOption { return nil }
