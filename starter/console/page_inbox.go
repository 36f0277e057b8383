package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// inboxView is what the inbox shows: one page of what waits and matches.
type inboxView struct {
	Groups                        []group
	Calls                         int // on this page
	Known                         bool
	Problems                      []problem
	Total, Matching, First, Last  int
	Filter                        filter
	Runtimes, Connectors, Methods []string
	Previous, Next                string
	Version                       int64
}

// card is a pending call in the inbox.
type card struct {
	codemode.InboxItem
	Key  string
	Args []argument
	More int  // arguments that are not shown
	Size int  // of the arguments, where they are too large to be listed
	Mine bool // whoever looks has approved it already: somebody else has to
	// Asking says that the call stands in a question, where it is shown whole and not chosen.
	Asking bool
}

// filter narrows the inbox.
type filter struct {
	Runtime, Connector, Method, Text string
	Page                             int
}

// perPage is how many groups a page holds, and cardArguments how many arguments a card.
const (
	perPage       = 50
	cardArguments = 12
)

func filterOf(q url.Values) filter {
	return filter{q.Get("runtime"), q.Get("connector"), q.Get("method"), strings.TrimSpace(q.Get("q")),
		number(q.Get("page"), 0, 1_000_000)}
}

func (f filter) matches(i codemode.InboxItem) bool {
	return (f.Runtime == "" || f.Runtime == i.Runtime) && (f.Connector == "" || f.Connector == i.Connector) &&
		(f.Method == "" || f.Method == i.Connector+"."+i.Method) && (f.Text == "" || f.mentions(i))
}

func (f filter) mentions(i codemode.InboxItem) bool {
	text := strings.ToLower(i.Purpose + " " + i.ExecutionID + " " + i.Connector + "." + i.Method +
		" " + string(signals.Mask(i.Current())))
	return strings.Contains(text, strings.ToLower(f.Text))
}

func (f filter) link(page int) string {
	q := url.Values{}
	for name, value := range map[string]string{"runtime": f.Runtime, "connector": f.Connector, "method": f.Method,
		"q": f.Text} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if page > 0 {
		q.Set("page", strconv.Itoa(page))
	}
	return "/?" + q.Encode()
}

func (c *Console) inboxPage(v *visit) error {
	return c.show(v, http.StatusOK, "inbox", "Inbox", c.inboxView(v.who, filterOf(v.r.URL.Query())))
}

// inboxList is the part of the inbox that scripts fetch after a change.
func (c *Console) inboxList(v *visit) error {
	return c.render(v, http.StatusOK, "inbox", "list", "Inbox", c.inboxView(v.who, filterOf(v.r.URL.Query())))
}

func (c *Console) inboxView(who Identity, f filter) inboxView {
	now := c.inbox.snapshot(c.names())
	view := inboxView{Known: now.Known, Problems: now.Problems, Total: len(now.Items), Filter: f, Version: now.Version,
		Runtimes: c.names()}
	matching := []codemode.InboxItem{}
	for _, i := range now.Items {
		view.Connectors, view.Methods = append(view.Connectors, i.Connector),
			append(view.Methods, i.Connector+"."+i.Method)
		if f.matches(i) {
			matching = append(matching, i)
		}
	}
	view.Connectors, view.Methods = unique(view.Connectors), unique(view.Methods)
	// What expires first comes first; calls of one execution stay together in their order.
	slices.SortStableFunc(matching, func(a, b codemode.InboxItem) int {
		return cmp.Or(cmp.Compare(a.ExpiresAt, b.ExpiresAt), cmp.Compare(a.ExecutionID, b.ExecutionID),
			cmp.Compare(a.Seq, b.Seq))
	})
	view.Matching = len(matching)
	groups := groupsOf(who, matching)
	start := min(f.Page*perPage, max(0, (len(groups)-1)/perPage*perPage))
	view.Groups = groups[start:min(len(groups), start+perPage)]
	for n, g := range groups {
		if n < start {
			view.First += len(g.Cards)
		} else if n < start+len(view.Groups) {
			view.Calls += len(g.Cards)
			view.Groups[n-start].layOut()
		}
	}
	view.Last = view.First + view.Calls
	view.First++
	if start > 0 {
		view.Previous = f.link(start/perPage - 1)
	}
	if start+len(view.Groups) < len(groups) {
		view.Next = f.link(start/perPage + 1)
	}
	return view
}

// Asks tells what kind of decision a call waits for: an approval, a result, or what to do about an unknown outcome.
func (c card) Asks() string {
	switch {
	case c.Reason != "":
		return "unknown"
	case c.Resolution == signals.ByClient:
		return "result"
	}
	return "approval"
}

// Partial says that the card does not show all the arguments: then it does not offer to approve them.
func (c card) Partial() bool {
	return c.Size > 0 || c.More > 0 || c.Omitted || slices.ContainsFunc(c.Args, func(a argument) bool { return a.Cut })
}

// maxCard is the size of arguments up to which a card lists them.
const maxCard = 64 * 1024

func newCard(i codemode.InboxItem) card {
	c := card{InboxItem: i, Key: keyOf(i).String()}
	args := i.Current()
	if len(args) > maxCard {
		c.Size = len(args)
		return c
	}
	c.Args = arguments(args)
	if len(c.Args) > cardArguments {
		c.More = len(c.Args) - cardArguments
		c.Args = c.Args[:cardArguments]
	}
	return c
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
