package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

const retryEvery = 20 * time.Millisecond

// awaitNamespace returns when the namespace answers and has the search attributes. A database that another dev
// server made has the namespace without them.
func awaitNamespace(ctx context.Context, p settings) error {
	quiet := sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	c, err := client.DialContext(ctx, client.Options{HostPort: p.address(), Namespace: p.namespace, Logger: quiet})
	if err != nil {
		return fmt.Errorf("connect to the Temporal server just started on %s: %w", p.address(), err)
	}
	defer c.Close()
	err = retry(ctx, func() error { return addSearchAttributes(ctx, c.OperatorService(), p.namespace) })
	if err != nil {
		return fmt.Errorf("register the search attributes of namespace %q: %w", p.namespace, err)
	}
	return nil
}

func addSearchAttributes(ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string) error {
	missing, err := missingSearchAttributes(ctx, operator, namespace)
	if err != nil || len(missing) == 0 {
		return err
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if err != nil {
		return err
	}
	// Each of the four services now has to read the namespace again, and there is no way to ask whether it has.
	time.Sleep(2 * namespaceRefresh)
	return nil
}

func missingSearchAttributes(
	ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string,
) (map[string]enumspb.IndexedValueType, error) {
	have, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	missing := maps.Clone(searchAttributes)
	maps.DeleteFunc(missing, func(name string, _ enumspb.IndexedValueType) bool {
		_, there := have.GetCustomAttributes()[name]
		return there
	})
	return missing, err
}

// retry repeats try until it succeeds, or answers with its last error when the time is up.
func retry(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryEvery):
		}
	}
}
