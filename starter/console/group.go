package console

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode"
)

// group is what is shown together: the calls of one execution and method that wait for approval, or one other call.
type group struct {
	Cards []card
	Table *table // nil where the calls are shown one by one
}

// Sizes of groups: fewer calls are easier to read one by one, and a page holds no more rows of one group.
const (
	fewestRows = 3
	mostRows   = 200
)

// groupsOf puts calls together, in the order of the first of each group.
func groupsOf(who Identity, items []codemode.InboxItem) []group {
	type kind struct{ runtime, execution, connector, method string }
	var groups []group
	index := map[kind]int{}
	for _, i := range items {
		c := newCard(i)
		c.Mine = slices.Contains(c.ApprovedBy, who.Name)
		k := kind{i.Runtime, i.ExecutionID, i.Connector, i.Method}
		at, known := index[k]
		if !c.fitsTable() || !known || len(groups[at].Cards) == mostRows {
			groups = append(groups, group{})
			if at = len(groups) - 1; c.fitsTable() {
				index[k] = at
			}
		}
		groups[at].Cards = append(groups[at].Cards, c)
	}
	return apart(groups)
}

// fitsTable says that a call can be judged beside others: it waits for one approval of arguments that are all shown.
func (c card) fitsTable() bool {
	return c.Asks() == "approval" && c.ApprovalsNeeded <= 1 && c.Refused == "" && c.Size == 0 && !c.Omitted
}

// apart takes groups apart that are too small.
func apart(groups []group) []group {
	var list []group
	for _, g := range groups {
		if len(g.Cards) >= fewestRows {
			list = append(list, g)
			continue
		}
		for _, c := range g.Cards {
			list = append(list, group{Cards: []card{c}})
		}
	}
	return list
}

// layOut makes the table of a group that has several calls.
func (g *group) layOut() {
	if len(g.Cards) < fewestRows {
		return
	}
	if made, fits := newTable(g.Cards); fits {
		g.Table = made
	}
}

// One is the first card, which stands for all in what they have alike.
func (g group) One() card { return g.Cards[0] }

// Name tells the group from the others of a page.
func (g group) Name() string {
	c := g.One()
	return fmt.Sprintf("%s/%s/%s.%s/%d", c.Runtime, c.ExecutionID, c.Connector, c.Method, c.Seq)
}

// Print changes with what the card shows.
func (c card) Print() string { return group{Cards: []card{c}}.Print() }

// Print changes with what the group shows.
func (g group) Print() string {
	h := fnv.New64a()
	for _, c := range g.Cards {
		fmt.Fprintln(h, c.Key, c.Refused, c.Reason, c.ApprovedBy, c.Mine)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// Newest is when the newest of its calls began to wait.
func (g group) Newest() int64 {
	var newest int64
	for _, c := range g.Cards {
		newest = max(newest, c.RequestedAt)
	}
	return newest
}
