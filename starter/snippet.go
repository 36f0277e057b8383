package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/signals"
)

func (c *cli) snippetVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use: "snippet", Short: "Save, list, show, restore and delete reviewed programs that others run by name",
		RunE: func(*cobra.Command, []string) error {
			return usagef("say what to do with snippets: save, list, show, restore, delete")
		},
	}
	cmd.AddCommand(c.snippetSave(), c.snippetList(), c.snippetShow(), c.snippetRestore(), c.snippetDelete())
	return cmd
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one snippet: " + cmd.UseLine())
	}
	return nil
}

func (c *cli) snippetSave() *cobra.Command {
	var s signals.SaveSnippet
	var schema string
	cmd := c.verb("save NAME", "Save the program of an execution under a name", shapeRecord, oneName,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if err := readSchema(schema, &s); err != nil {
				return answer{}, err
			}
			return c.saveSnippet(cmd.Context(), args[0], s)
		})
	cmd.Long = "Save the program of a completed execution. Programs find it by search and run it with " +
		"codemode.run(name, input).\nSaving under a name that exists makes a new version."
	cmd.Flags().StringVar(&s.From, "from", "", "the `ID` of the execution")
	cmd.Flags().StringVar(&s.Description, "description", "", "what it does and takes, in a `line`: search looks there")
	cmd.Flags().StringVar(&schema, "input-schema", "", "a `FILE` with the JSON Schema of its input")
	cmd.Flags().BoolVar(&s.Force, "force", false, "save it although the execution has not completed")
	cmd.Flags().StringVar(&s.By, "by", c.user, "`who` saves, for the record")
	return cmd
}

func readSchema(file string, s *signals.SaveSnippet) (err error) {
	if s.From == "" {
		return usagef("say which execution's program to save: --from ID")
	}
	if file == "" {
		return nil
	}
	if s.InputSchema, err = os.ReadFile(file); err != nil {
		return usagef("--input-schema: %w", err)
	}
	return nil
}

func (c *cli) saveSnippet(ctx context.Context, name string, s signals.SaveSnippet) (answer, error) {
	if err := signals.CheckSnippetName(name); err != nil {
		return answer{}, usageError{err}
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		saved, err := conn.SaveSnippet(ctx, name, s)
		if err != nil {
			return answer{}, err
		}
		return answer{document: saved, text: func(p *page) {
			p.styled(good, "saved %s, version %d\n", name, saved.Version)
			p.styled(dim, "in programs: await codemode.run(%s, input)\n", strconv.Quote(name))
		}}, nil
	})
}

func (c *cli) snippetList() *cobra.Command {
	return c.verb("list", "List the snippets", shapeList, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) {
			return c.with(cmd.Context(), func(conn *connection) (answer, error) {
				list, err := conn.Snippets(cmd.Context())
				if err != nil {
					return answer{}, err
				}
				return answer{document: list, text: func(p *page) { showSnippets(p, list) }}, nil
			})
		})
}

func showSnippets(p *page, list []signals.Snippet) {
	if len(list) == 0 {
		p.styled(dim, "no snippets\n")
	}
	for _, s := range list {
		p.styled(bold, "%s", s.Name)
		p.styled(dim, " version %d, %s", s.Version, time.UnixMilli(s.CreatedAt).Format(time.DateTime))
		p.line("")
		if s.Description != "" {
			p.line("  %s", signals.Cut(s.Description, 160))
		}
	}
}

func (c *cli) snippetShow() *cobra.Command {
	var version int
	cmd := c.verb("show NAME", "Show a snippet's source", shapeRecord, oneName,
		func(cmd *cobra.Command, args []string) (answer, error) {
			return c.with(cmd.Context(), func(conn *connection) (answer, error) {
				s, err := conn.Snippet(cmd.Context(), args[0], version)
				if err != nil {
					return answer{}, err
				}
				return snippetAnswer(s), nil
			})
		})
	cmd.Flags().IntVar(&version, "version", 0, "the version of this `number` instead of the newest")
	return cmd
}

func snippetAnswer(s *signals.Snippet) answer {
	return answer{document: s, text: func(p *page) {
		p.styled(bold, "%s", s.Name)
		p.styled(dim, " version %d, %s, connectors: %s\n", s.Version, time.UnixMilli(s.CreatedAt).Format(time.DateTime),
			strings.Join(s.Connectors, ", "))
		if s.Description != "" {
			p.line("%s", s.Description)
		}
		if len(s.InputSchema) > 0 {
			p.line("input: %s", s.InputSchema)
		}
		if s.Code != "" {
			p.line("\n%s", strings.TrimRight(s.Code, "\n"))
		}
	}}
}

func (c *cli) snippetRestore() *cobra.Command {
	var r signals.RestoreSnippet
	cmd := c.verb("restore NAME", "Make an older version of a snippet the newest again", shapeRecord, oneName,
		func(cmd *cobra.Command, args []string) (answer, error) {
			if r.Version < 1 {
				return answer{}, usagef("say which version: --version N")
			}
			return c.with(cmd.Context(), func(conn *connection) (answer, error) {
				s, err := conn.RestoreSnippet(cmd.Context(), args[0], r)
				if err != nil {
					return answer{}, err
				}
				return snippetAnswer(s), nil
			})
		})
	cmd.Flags().IntVar(&r.Version, "version", 0, "the `number` of the version")
	cmd.Flags().StringVar(&r.By, "by", c.user, "`who` restores, for the record")
	return cmd
}

func (c *cli) snippetDelete() *cobra.Command {
	return c.verb("delete NAME", "Delete a snippet with all its versions", shapeBool,
		oneName, func(cmd *cobra.Command, args []string) (answer, error) {
			return c.with(cmd.Context(), func(conn *connection) (answer, error) {
				return booleanAnswer(true, "deleted "+args[0], exitDone), conn.DeleteSnippet(cmd.Context(), args[0])
			})
		})
}
