package console

import (
	"net/http"

	"github.com/temporal-codemode/codemode/signals"
)

type snippetsView struct {
	Runtimes []runtimeSnippets
}

type runtimeSnippets struct {
	Runtime  string
	Snippets []signals.Snippet
	Error    string
}

func (c *Console) snippetsPage(v *visit) error {
	var view snippetsView
	for _, r := range c.Runtimes {
		list, err := r.Client.Snippets(v.context())
		entry := runtimeSnippets{Runtime: r.Name, Snippets: list}
		if err != nil {
			_, entry.Error = statusOf(err)
		}
		view.Runtimes = append(view.Runtimes, entry)
	}
	return c.show(v, http.StatusOK, "snippets", "Snippets", view)
}

type snippetView struct {
	signals.Snippet
	Runtime  string
	Versions []signals.SnippetVersion
	Lines    []codeLine
	Newest   bool
	Schema   value
}

func (c *Console) snippetPage(v *visit) error {
	r, err := c.runtime(v.r.PathValue("runtime"))
	if err != nil {
		return err
	}
	name := v.r.PathValue("name")
	version := number(v.r.URL.Query().Get("version"), 0, 1<<30)
	s, err := r.Client.Snippet(v.context(), name, version)
	if err != nil {
		return err
	}
	versions, err := r.Client.SnippetVersions(v.context(), name)
	if err != nil {
		return err
	}
	view := snippetView{Snippet: *s, Runtime: r.Name, Versions: versions, Schema: show(s.InputSchema)}
	view.Newest = len(versions) > 0 && versions[0].Version == s.Version
	view.Lines = newExecutionView(&signals.Record{Code: s.Code}, nil).Lines
	return c.show(v, http.StatusOK, "snippet", signals.Cut(name, 80), view)
}
