package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// found and described are what the worker's catalogue answers, as far as it is shown to people.
type found struct {
	Results []struct {
		Path             string `json:"path"`
		Description      string `json:"description"`
		RequiresApproval bool   `json:"requiresApproval"`
		Kind             string `json:"kind"`
	} `json:"results"`
	Total int `json:"total"`
	// More are names by connector, Unmatched words of the query that no method has.
	More      map[string][]string `json:"more"`
	Unmatched []string            `json:"unmatched"`
}

type described struct {
	Path             string `json:"path"`
	Description      string `json:"description"`
	RequiresApproval bool   `json:"requiresApproval"`
	Types            string `json:"types"`
	Signature        string `json:"signature"`
	Kind             string `json:"kind"`
}

func (c *cli) searchVerb() *cobra.Command {
	var o codemode.SearchOptions
	cmd := c.verb("search QUERY", "Find methods and snippets by a few words", shapeFound, someWords,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.search(cmd.Context(), strings.Join(args, " "), o)
		})
	cmd.Flags().StringVar(&o.Connector, "connector",
		"", `search only the connector of this `+"`name`"+` ("snippet": the snippets)`)
	cmd.Flags().IntVar(&o.Limit, "limit", 10, "show at most this `many`, up to 50")
	return cmd
}

func someWords(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("say what to look for: " + cmd.UseLine())
	}
	return nil
}

func (c *cli) search(ctx context.Context, query string, o codemode.SearchOptions) (answer, error) {
	if o.Limit < 1 {
		return answer{}, usagef("--limit %d: at least 1", o.Limit)
	}
	raw, err := c.ask(ctx, func(conn *connection) (json.RawMessage, error) { return conn.Search(ctx, query, o) })
	if err != nil {
		return answer{}, err
	}
	var list found
	if err := json.Unmarshal(raw, &list); err != nil {
		return answer{}, err
	}
	return answer{document: raw, text: func(p *page) { showFound(p, list) }}, nil
}

func (c *cli) ask(ctx context.Context, question func(*connection) (json.RawMessage, error)) (json.RawMessage, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.close()
	return question(conn)
}

func showFound(p *page, list found) {
	if len(list.Results) == 0 {
		p.styled(dim, "nothing found\n")
	}
	if len(list.Unmatched) > 0 {
		p.styled(dim, "no method has: %s\n", strings.Join(list.Unmatched, ", "))
	}
	if len(list.Results) == 0 {
		showNearest(p, list.More)
	}
	for _, r := range list.Results {
		p.styled(bold, "%s", r.Path)
		if r.Kind == "snippet" {
			p.styled(dim, " snippet")
		}
		if r.RequiresApproval {
			p.styled(warn, " needs approval")
		}
		p.line("\n  %s", signals.Cut(r.Description, 160))
	}
	if more := list.Total - len(list.Results); more > 0 {
		p.styled(dim, "%d more\n", more)
	}
}

// nearestShown is how many names of a connector are shown where nothing was found.
const nearestShown = 5

func showNearest(p *page, more map[string][]string) {
	for _, connector := range slices.Sorted(maps.Keys(more)) {
		list := more[connector]
		p.styled(dim, "%s has %s\n", connector, strings.Join(list[:min(len(list), nearestShown)], ", "))
	}
}

func (c *cli) describeVerb() *cobra.Command {
	return c.verb("describe TARGET", "Explain a connector, a method, a type or a snippet, with TypeScript types",
		shapeRecord, oneTarget,
		func(cmd *cobra.Command, args []string) (answer, error) { return c.describe(cmd.Context(), args[0]) })
}

func oneTarget(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one connector, connector.method or snippet: " + cmd.UseLine())
	}
	return nil
}

func (c *cli) describe(ctx context.Context, target string) (answer, error) {
	raw, err := c.ask(ctx, func(conn *connection) (json.RawMessage, error) { return conn.Describe(ctx, target) })
	if err != nil {
		return answer{}, err
	}
	var d described
	if err := json.Unmarshal(raw, &d); err != nil {
		return answer{}, err
	}
	a := answer{document: raw, text: func(p *page) { showDescribed(p, d) }}
	if strings.HasSuffix(d.Types, "not found.") && d.Description == "" {
		a.code = exitNotFound
	}
	return a, nil
}

func showDescribed(p *page, d described) {
	p.styled(bold, "%s", d.Path)
	p.styled(dim, " %s", d.Kind)
	if d.RequiresApproval {
		p.styled(warn, " needs approval")
	}
	p.line("")
	if d.Kind == "method" && d.Description != "" {
		p.line("%s", d.Description)
	}
	if d.Signature != "" {
		p.line("\n%s", d.Signature)
	}
	p.line("\n%s", d.Types)
}
