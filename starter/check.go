package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/signals"
)

func (c *cli) checkVerb() *cobra.Command {
	cmd := c.verb("check FILE|-", "Look for mistakes in a program without running it", shapeRecord, oneFile,
		func(cmd *cobra.Command, args []string) (answer, error) { return c.check(cmd.Context(), args[0]) })
	cmd.Long = "Compare the program in FILE, or on standard input, with what the worker's connectors offer, and tell " +
		"what it is about to do. Nothing runs.\n" +
		"Exit code 1 means that the program would not be run."
	return cmd
}

func (c *cli) check(ctx context.Context, file string) (answer, error) {
	code, err := c.read(file)
	if err != nil {
		return answer{}, err
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return answer{}, err
	}
	defer conn.close()
	checked, err := conn.Check(ctx, code)
	if err != nil {
		return answer{}, err
	}
	a := answer{document: checked, text: func(p *page) { showChecked(p, checked, code) }}
	if checked.Error != "" {
		a.code = exitError
	}
	return a, nil
}

func showChecked(p *page, checked signals.Checked, code string) {
	p.failure(checked.Error, checked.Position, code)
	p.hints(beside(checked.Hints, checked.Error))
	switch {
	case checked.Program != nil:
		p.line("%s", checked.Program)
	case checked.Error == "":
		p.styled(dim, "nothing can be told of this program: it is too large, or preflight is off\n")
	}
}

// beside leaves out what the error says already.
func beside(list []signals.Hint, failure string) []signals.Hint {
	return slices.DeleteFunc(slices.Clone(list), func(h signals.Hint) bool {
		return strings.Contains(failure, h.Message)
	})
}

// hints lists mistakes.
func (p *page) hints(list []signals.Hint) {
	for _, h := range list {
		p.styled(warn, "%s: ", h.Kind)
		p.line("%s", h)
	}
}
