package web

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// UnsentError says that a request never went out, so that nothing can have
// happened. It wraps no context error, which would mean the opposite.
type UnsentError struct{ Text string }

func (e *UnsentError) Error() string { return e.Text }

func IsDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// TimeoutError is the connector's own limit, as opposed to its caller's.
type TimeoutError struct{ Limit time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.Limit) }
