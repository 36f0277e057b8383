package server

import (
	"context"
	"fmt"
	"net/http"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

func newUI(p settings) *uiserver.Server {
	return uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		TemporalGRPCAddress: p.address(),
		Host:                p.host,
		Port:                p.uiPort,
		EnableUI:            true,
		DefaultNamespace:    p.namespace,
		HideLogs:            true,
		DisableNewsFetch:    true,
		// Loopback has no TLS, and a browser sends a secure cookie over TLS only: without it every write is refused.
		CORS: uiconfig.CORS{CookieInsecure: true},
	}))
}

// startUI runs the Web UI in the background, where an error of its listener could not be seen, and waits for an answer.
func startUI(ctx context.Context, ui *uiserver.Server, url string) error {
	go func() { _ = ui.Start() }()
	err := retry(ctx, func() error { return probe(ctx, url+"/healthz") })
	if err != nil {
		return fmt.Errorf("start the Temporal Web UI on %s: %w", url, err)
	}
	return nil
}

func probe(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}
