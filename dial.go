package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/internal/invocation"
)

// NoServerError says that Temporal cannot be used at an address.
type NoServerError struct {
	Address string
	// Namespace is set when the server answers but does not have it.
	Namespace string
	Err       error
}

func (e *NoServerError) Error() string {
	if e.Namespace != "" {
		return fmt.Sprintf("the Temporal server at %s has no namespace %q: create it (temporal operator namespace "+
			"create --namespace %s) "+
			"or choose another with TEMPORAL_NAMESPACE", e.Address, e.Namespace, e.Namespace)
	}
	return fmt.Sprintf("no Temporal server can be reached at %s: start one (%s) "+
		"or say where it is with TEMPORAL_ADDRESS: %v", e.Address, invocation.Server(), e.Err)
}

func (e *NoServerError) Unwrap() error { return e.Err }

// dialPatience is how long a server may take to answer before it counts as missing.
const dialPatience = 3 * time.Second

// Dial connects to Temporal. Within a few seconds it tells, as a *NoServerError, that there is no server or that it
// lacks the namespace. What goes to a server on the same machine is not compressed, unless the options ask for it: that
// would cost time and save nothing.
func Dial(ctx context.Context, o client.Options) (client.Client, error) {
	o.HostPort, o.Namespace = cmp.Or(o.HostPort, client.DefaultHostPort), cmp.Or(o.Namespace, client.DefaultNamespace)
	if o.ConnectionOptions.GrpcCompression == nil && loopback(o.HostPort) {
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	patient, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	c, err := client.DialContext(patient, o)
	if err != nil {
		return nil, &NoServerError{Address: o.HostPort, Err: err}
	}
	_, err = c.WorkflowService().DescribeNamespace(patient,
		&workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) {
		c.Close()
		return nil, &NoServerError{Address: o.HostPort, Namespace: o.Namespace, Err: err}
	}
	return c, nil // who may not describe a namespace may still use it
}

// loopback reports whether an address is of this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
