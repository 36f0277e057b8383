package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/invocation"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
)

// check is one line of doctor.
type check struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Warning says that nothing is wrong with what the operator wrote, and yet something may not be as meant.
	Warning bool `json:"warning,omitempty"`
	// Connector and Kind group what is said of a configuration.
	Connector string `json:"connector,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Fix       string `json:"fix,omitempty"`
	// Methods are those of a connector.
	Methods []config.Policy `json:"methods,omitempty"`
}

func (c *cli) doctorVerb() *cobra.Command {
	var config string
	cmd := c.verb("doctor", "Tell what is missing to run programs", shapeList, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) {
			return c.doctor(cmd.Context(), config, cmd.Flags().Changed("runtime"))
		})
	cmd.Flags().StringVar(&config, "config", "",
		"check the runtime of this `file`, load its connectors and list their methods, each with its policy and why")
	cmd.Long = "Check the server, its search attributes, the runtime's workers and their builds, and encryption\n" +
		"keys, and say what to do. Exits with 5 when there is no server, no worker, or none of a build that\n" +
		"an open execution needs, with 1 when keys differ, the configuration has a mistake or a connector\n" +
		"cannot be loaded; missing search attributes only make lists slower, and lines with ! are warnings."
	return cmd
}

func (c *cli) doctor(ctx context.Context, config string, named bool) (answer, error) {
	var policies []check
	var ownQueues []string
	if config != "" {
		loaded, err := checkConnectors(ctx, config)
		if err != nil {
			return answer{}, err
		}
		policies, ownQueues = loaded.checks, loaded.ownQueues
		if !named {
			c.runtime = loaded.runtime
		}
	}
	conn, err := c.connect(ctx)
	var none *codemode.NoServerError
	if errors.As(err, &none) {
		return checksAnswer(append([]check{noServer(none), unknown("search attributes"), unknown("worker"),
			checkSandbox()}, policies...)), nil
	}
	if err != nil {
		return answer{}, err
	}
	defer conn.close()
	worker, queue := conn.checkWorker(ctx, c.runtime)
	checks := append([]check{conn.checkServer(ctx), conn.checkAttributes(ctx), worker},
		conn.checkBuilds(ctx, c.runtime, queue)...)
	if worker.OK {
		checks = append(checks, conn.checkKeys(ctx, c.runtime))
	}
	checks = append(append(checks, checkSandbox()), conn.checkServed(ctx, c.runtime, ownQueues)...)
	return checksAnswer(append(checks, policies...)), nil
}

func checksAnswer(list []check) answer {
	a := answer{document: list, text: func(p *page) { showChecks(p, list) }}
	for _, c := range list {
		switch {
		case c.OK:
		case c.Check == "server", c.Check == "worker", c.Check == "builds":
			a.code = exitNobody
		case (c.Check == "configuration" || c.Check == "keys") && a.code == exitDone:
			a.code = exitError
		}
	}
	return a
}

// checkSandbox looks at this host; a worker on another one tells of its own when it starts.
func checkSandbox() check {
	result := check{Check: "sandbox"}
	layers, err := codemodeworker.SandboxLayers(child.Options{Children: 1})
	if err != nil {
		result.Detail, result.Fix = err.Error(), "programs cannot run in child processes on this host"
		return result
	}
	var active []string
	for _, l := range layers {
		if l.Active {
			active = append(active, l.Name)
		} else {
			result.Fix = "see docs/hardening.md for what each layer needs"
			result.Detail += fmt.Sprintf("; without %s (%s)", l.Name, l.Detail)
		}
	}
	result.OK = result.Detail == ""
	result.Detail = "this host: " + strings.Join(active, ", ") + result.Detail
	return result
}

func unknown(name string) check {
	return check{Check: name, Detail: "cannot be checked without a server"}
}

func noServer(e *codemode.NoServerError) check {
	if e.Namespace != "" {
		return check{Check: "server",
			Detail: fmt.Sprintf("%s answers, but has no namespace %q", e.Address, e.Namespace),
			Fix: fmt.Sprintf("temporal operator namespace create --namespace %s, or set TEMPORAL_NAMESPACE",
				e.Namespace)}
	}
	return check{Check: "server", Detail: fmt.Sprintf("%s cannot be reached: %v", e.Address, e.Err),
		Fix: "start one (" + invocation.Server() + ") or set TEMPORAL_ADDRESS"}
}

func (c *connection) namespace() string { return cmp.Or(c.options.Namespace, client.DefaultNamespace) }

func (c *connection) checkServer(ctx context.Context) check {
	detail := fmt.Sprintf("%s, namespace %s", cmp.Or(c.options.HostPort, client.DefaultHostPort), c.namespace())
	info, err := c.temporal.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return check{Check: "server", Detail: fmt.Sprintf("%s: %v", detail, err), Fix: "look at the server's log"}
	}
	return check{Check: "server", OK: true, Detail: detail + ", version " + info.GetServerVersion()}
}

func (c *connection) checkAttributes(ctx context.Context) check {
	result := check{Check: "search attributes"}
	known, err := c.temporal.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: c.namespace()})
	if err != nil {
		result.Detail, result.Fix = fmt.Sprintf("cannot be read: %v", err),
			"lists work without them; ask whoever runs the server whether they are there"
		return result
	}
	kinds := map[string]string{signals.AttributeRuntime: "Keyword", signals.AttributeStatus: "Keyword"}
	if yes, _ := indexLabels(); yes {
		kinds[signals.AttributeLabels] = "KeywordList"
	}
	names := slices.Sorted(maps.Keys(kinds))
	var missing, create []string
	for _, name := range names {
		if _, ok := known.GetCustomAttributes()[name]; !ok {
			missing = append(missing, name)
			create = append(create, "--name "+name+" --type "+kinds[name])
		}
	}
	if len(missing) == 0 {
		result.OK, result.Detail = true, strings.Join(names, ", ")
		return result
	}
	result.Detail = strings.Join(missing, ", ") + " missing: lists are slower"
	result.Fix = fmt.Sprintf("start a worker that may add them, or: temporal operator search-attribute create "+
		"--namespace %s %s", c.namespace(), strings.Join(create, " "))
	return result
}
