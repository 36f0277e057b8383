// Package rpcerr tells the Temporal server's errors apart.
//
// Its rule: by their types, and by their text only where the server has one type for many things.
package rpcerr

import (
	"errors"
	"strings"

	"go.temporal.io/api/serviceerror"
)

// NotFound says that the server does not know what was asked for, or that it has ended.
func NotFound(err error) bool { return is[*serviceerror.NotFound](err) }

// Service says that the server refused, or could not be reached.
func Service(err error) bool { return is[serviceerror.ServiceError](err) }

// AlreadyStarted says that there is a workflow of that id.
func AlreadyStarted(err error) bool { return is[*serviceerror.WorkflowExecutionAlreadyStarted](err) }

// NoMoreUpdates says that a run has taken as many updates as the server lets it.
func NoMoreUpdates(err error) bool { return is[*serviceerror.FailedPrecondition](err) }

// NotReady says that a workflow takes no updates for the moment.
func NotReady(err error) bool { return is[*serviceerror.WorkflowNotReady](err) }

// Unimplemented says that the server lacks something, or has it switched off.
func Unimplemented(err error) bool {
	return is[*serviceerror.Unimplemented](err) || is[*serviceerror.PermissionDenied](err)
}

// UnknownSearchAttribute says that the server does not know a search attribute: all it says is that an argument is
// invalid, and which.
func UnknownSearchAttribute(err error) bool {
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &invalid) && strings.Contains(strings.ToLower(invalid.Message), "search attribute")
}

func is[T error](err error) bool {
	var as T
	return errors.As(err, &as)
}
