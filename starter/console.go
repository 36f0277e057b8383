package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/starter/guard"
)

// Secrets come by the environment, so that no list of processes shows them.
const (
	oidcSecretVariable    = "CODEMODE_OIDC_CLIENT_SECRET"
	webhookSecretVariable = "CODEMODE_WEBHOOK_SECRET"
)

type consoleFlags struct {
	addr, url, ui string
	runtimes      []string
	tokens        string
	cert, key     string
	oidc          console.OIDCOptions
	webhook       string
}

func (c *cli) consoleVerb() *cobra.Command {
	var f consoleFlags
	cmd := c.verb("console", "Serve the approval inbox for browsers, and its JSON API", shapeBool, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) { return c.console(cmd.Context(), f) })
	cmd.Long = "Serve the approval inbox for browsers, and its JSON API (/api/openapi.json), until interrupted.\n\n" +
		"On 127.0.0.1 nobody is authenticated: who has the address that is printed, with the key at its end, may " +
		"decide.\n" +
		"The key is " + guard.KeyVariable + " if that is set, else a new one each time. On any other address people " +
		"have to be\n" +
		"authenticated, by a tokens file or by OIDC, and the connection has to be encrypted, here or by a proxy in " +
		"front (--url https://…).\n" +
		"A tokens file is a YAML list: [{name: ada, role: approver, token: …}, {name: bob, role: viewer, token: " +
		"…}].\n" +
		"Secrets come by the environment: " + oidcSecretVariable + ", " + webhookSecretVariable + "."
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8234", "listen on this `host:port`")
	flags.StringSliceVar(&f.runtimes, "runtime",
		nil, "serve this runtime; may be repeated, or a list with commas (default: default)")
	flags.StringVar(&f.url, "url", "", "the `address` by which others reach the console, for links and sign-in")
	flags.StringVar(&f.ui, "ui", "", "the `address` of the Temporal Web UI, for links")
	flags.StringVar(&f.tokens, "tokens", "", "the `file` with who may come in by token")
	flags.StringVar(&f.cert, "tls-cert", "", "the certificate's `file`")
	flags.StringVar(&f.key, "tls-key", "", "its key's `file`")
	flags.StringVar(&f.oidc.Issuer, "oidc-issuer", "", "the `address` of the OpenID Connect provider people sign in at")
	flags.StringVar(&f.oidc.ClientID, "oidc-client-id", "", "the console's `id` at the provider")
	flags.StringSliceVar(&f.oidc.Approvers, "oidc-approvers",
		nil, "who may decide, such as `group:finance`, role:auditor or email:ada@example.com (verified); * for all")
	flags.StringSliceVar(&f.oidc.Viewers, "oidc-viewers", nil,
		"those who may look, such as `group:staff`; * for all")
	flags.StringVar(&f.webhook, "webhook", "", "tell this `address` of every call that begins to wait")
	return cmd
}

func (c *cli) console(ctx context.Context, f consoleFlags) (answer, error) {
	if len(f.runtimes) == 0 {
		f.runtimes = []string{c.runtime}
	}
	exposure := console.Exposure{Addr: f.addr, URL: f.url, Authenticated: f.tokens != "" || f.oidc.Issuer != "",
		TLS: f.cert != ""}
	if err := exposure.Check(); err != nil {
		return answer{}, usagef("%w (--tokens or --oidc-issuer, --tls-cert and --tls-key, --url)", err)
	}
	o, err := c.consoleOptions(ctx, f)
	if err != nil {
		return answer{}, err
	}
	temporal, err := c.serveRuntimes(ctx, f, &o)
	if err != nil {
		return answer{}, err
	}
	defer temporal.Close()
	site, err := console.New(o)
	if err != nil {
		return answer{}, usageError{err}
	}
	listener, err := listenConsole(f)
	if err != nil {
		return answer{}, usageError{err}
	}
	fmt.Fprintf(c.err, "console ready url=%s\n", site.Entry(consoleURL(f, listener.Addr())))
	if err := console.ListenAndServe(ctx, listener, site); err != nil {
		return answer{}, err
	}
	return answer{document: true}, nil
}

// consoleOptions reads who may come in and whom to tell. Mistakes in it are usage errors.
func (c *cli) consoleOptions(ctx context.Context, f consoleFlags) (console.Options, error) {
	o := console.Options{User: c.user, URL: f.url, Log: slog.New(slog.NewTextHandler(c.err, nil))}
	if o.User == "" {
		o.User = "local"
	}
	var err error
	if f.tokens != "" {
		if o.Tokens, err = console.LoadTokens(f.tokens); err != nil {
			return o, usageError{err}
		}
	}
	if f.oidc.Issuer != "" {
		f.oidc.ClientSecret, f.oidc.URL = os.Getenv(oidcSecretVariable), strings.TrimSuffix(f.url, "/")
		if o.OIDC, err = console.NewOIDC(ctx, f.oidc); err != nil {
			return o, usageError{err}
		}
	}
	if f.webhook != "" {
		if o.Webhook, err = console.NewWebhook(f.webhook, os.Getenv(webhookSecretVariable)); err != nil {
			return o, usageError{fmt.Errorf("%w (its secret comes by %s)", err, webhookSecretVariable)}
		}
	}
	return o, nil
}

// serveRuntimes connects to Temporal, for all runtimes together.
func (c *cli) serveRuntimes(ctx context.Context, f consoleFlags, o *console.Options) (client.Client, error) {
	options, err := c.serverOptions()
	if err != nil {
		return nil, err
	}
	temporal, err := codemode.Dial(ctx, options)
	if err != nil {
		return nil, err
	}
	for _, name := range f.runtimes {
		cm, err := codemode.NewClient(temporal,
			codemode.ClientOptions{Runtime: name, DataConverter: options.DataConverter})
		if err != nil {
			temporal.Close()
			return nil, usageError{err}
		}
		o.Runtimes = append(o.Runtimes, console.Serve(cm))
	}
	if f.ui != "" {
		namespace := options.Namespace
		if namespace == "" {
			namespace = client.DefaultNamespace
		}
		o.TemporalUI = strings.TrimSuffix(f.ui, "/") + "/namespaces/" + namespace
	}
	return temporal, nil
}

func listenConsole(f consoleFlags) (net.Listener, error) {
	if (f.cert == "") != (f.key == "") {
		return nil, errors.New("--tls-cert and --tls-key belong together")
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil || f.cert == "" {
		return listener, err
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the certificate: %w", err), listener.Close())
	}
	return tls.NewListener(listener,
		&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1"}}), nil
}

func consoleURL(f consoleFlags, addr net.Addr) string {
	if f.url != "" {
		return f.url
	}
	if f.cert != "" {
		return "https://" + addr.String()
	}
	return "http://" + addr.String()
}
