// Package iterator has the mark of a list's end, which the Temporal server's Google Cloud archiver looks for.
package iterator

import "errors"

// Done is never reached: the stand-in for Cloud Storage lists nothing.
var Done = errors.New("no more items in iterator")
