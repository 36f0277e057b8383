package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// searchSet is a catalogue, and queries with what they should find in it.
type searchSet struct {
	// Connectors are what those say of themselves, by name.
	Connectors map[string]string
	Catalog    []struct {
		Path, Description string
		InputSchema       json.RawMessage
	}
	Queries []searchQuery
}

type searchQuery struct {
	// Q is a query, or several whose finds count together.
	Q oneOrMore
	// Gold is what is to be found; of several in one place each is as good.
	Gold []oneOrMore
}

// oneOrMore is a text, or a list of them.
type oneOrMore []string

func (l *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

// searchScores are shares of what was wanted.
type searchScores struct {
	Recall1  float64 `json:"recall@1"`
	Recall5  float64 `json:"recall@5"`
	Recall10 float64 `json:"recall@10"`
	MRR      float64 `json:"mrr"`
	// Shown is the share of what was wanted that one answer of at most 1,500 tokens to each query names.
	Shown float64 `json:"recallShown"`
	// Looks is how often a program has to look until it can call all that is wanted: once when the first answers have
	// all signatures, twice when they have all names, three times when it must search with other words.
	Looks   float64 `json:"looks"`
	Tokens  float64 `json:"tokens"` // of an answer
	Queries int     `json:"queries"`
}

// searchAnswer is what one query gives.
type searchAnswer struct {
	ranked        []string
	signed, named []string
	tokens        int
}

// ownSet is the set that comes with the project: 233 queries over the operations of GitHub and Stripe.
const ownSet = "connectors/catalogue/testdata/search.json"

// benchSearch measures how well search finds what a set of queries wants.
func benchSearch(_ context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench search", flag.ContinueOnError)
	file := flags.String("set", ownSet, "the `file` with catalogue and queries")
	asJSON := flags.Bool("json", false, "print one JSON document instead of a table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	raw, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	var set searchSet
	if err := json.Unmarshal(raw, &set); err != nil {
		return fmt.Errorf("%s: %w", *file, err)
	}
	ours, err := set.ours()
	if err != nil {
		return fmt.Errorf("%s: %w", *file, err)
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(set.score(ours))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "%d queries, %d methods\trecall@1\trecall@5\trecall@10\tMRR\tshown\tlooks\ttokens\t\n",
		len(set.Queries), len(set.Catalog))
	for _, row := range []struct {
		name   string
		search func(string) searchAnswer
	}{{"codemode.search", ours}, {"plain BM25", set.plain().answer}} {
		s := set.score(row.search)
		_, _ = fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.0f\t\n", row.name, s.Recall1, s.Recall5,
			s.Recall10, s.MRR, s.Shown, s.Looks, s.Tokens)
	}
	return w.Flush()
}

// score asks every query.
func (s *searchSet) score(search func(string) searchAnswer) searchScores {
	scores := searchScores{Queries: len(s.Queries)}
	for _, q := range s.Queries {
		answers := make([]searchAnswer, len(q.Q))
		for i, text := range q.Q {
			answers[i] = search(text)
			scores.Tokens += float64(answers[i].tokens) / float64(len(q.Q)) / float64(len(s.Queries))
		}
		scores.add(q, answers, 1/float64(len(s.Queries)))
	}
	return scores
}

// add counts one task.
func (scores *searchScores) add(q searchQuery, answers []searchAnswer, weight float64) {
	var ranked, signed, named [][]string
	for _, a := range answers {
		ranked, signed, named = append(ranked, a.ranked), append(signed, a.signed), append(named, a.named)
	}
	first, looks := 0, 1.0
	for _, wanted := range q.Gold {
		rank := bestRank(ranked, wanted)
		if rank > 0 && (first == 0 || rank < first) {
			first = rank
		}
		share := weight / float64(len(q.Gold))
		for k, sum := range map[int]*float64{1: &scores.Recall1, 5: &scores.Recall5, 10: &scores.Recall10} {
			if rank > 0 && rank <= k {
				*sum += share
			}
		}
		switch {
		case bestRank(signed, wanted) > 0:
			scores.Shown += share
		case bestRank(named, wanted) > 0:
			scores.Shown += share
			looks = max(looks, 2)
		default:
			looks = 3
		}
	}
	if first > 0 {
		scores.MRR += weight / float64(first)
	}
	scores.Looks += weight * looks
}

// bestRank counts from 1; 0 is not found.
func bestRank(lists [][]string, wanted []string) (best int) {
	for _, list := range lists {
		at := slices.IndexFunc(list, func(path string) bool { return slices.Contains(wanted, path) }) + 1
		if at > 0 && (best == 0 || at < best) {
			best = at
		}
	}
	return best
}

// ours searches as programs do.
func (s *searchSet) ours() (func(query string) searchAnswer, error) {
	methods, names := map[string][]connectors.Method{}, []string{}
	spaces, owners := map[string]string{}, map[string]string{} // ours by those of the set, and back
	paths, about := map[string]string{}, map[string]string{}   // those of the set, by ours
	for _, entry := range s.Catalog {
		given, name, ok := strings.Cut(entry.Path, ".")
		if !ok {
			given, name = "tools", entry.Path
		}
		space, known := spaces[given]
		if !known {
			space = callable(given, func(space string) bool { return owners[space] != "" })
			spaces[given], owners[space], names = space, given, append(names, space)
			about[space] = s.Connectors[given]
		}
		for name == "then" || name == "toJSON" || paths[space+"."+name] != "" {
			name += "_"
		}
		paths[space+"."+name] = entry.Path
		methods[space] = append(methods[space],
			connectors.Method{Name: name, Description: entry.Description, InputSchema: entry.InputSchema,
				Execute: notCalled})
	}
	var list []connectors.Connector
	for _, name := range names {
		list = append(list, shown{name, about[name], methods[name]})
	}
	set, err := connectors.NewSet(context.Background(), list, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := set.Err(name); err != nil {
			return nil, err
		}
	}
	c := catalogue.New(set)
	return func(query string) (a searchAnswer) {
		for _, r := range c.Search(query, catalogue.SearchOptions{Limit: catalogue.MaxResults}).Results {
			a.ranked = append(a.ranked, paths[r.Path])
		}
		out := c.Search(query, catalogue.SearchOptions{})
		for _, r := range out.Results {
			a.signed = append(a.signed, paths[r.Path])
		}
		for space, list := range out.More {
			for _, name := range list {
				a.named = append(a.named, paths[space+"."+name])
			}
		}
		text, _ := json.Marshal(out)
		a.tokens = tokens.Count(string(text))
		return a
	}, nil
}

// callable is a name that programs can use, and that no other has taken.
func callable(name string, taken func(string) bool) string {
	name = connectors.SanitizeToolName(name)
	for {
		_, err := connectors.NewSet(context.Background(), []connectors.Connector{connectors.New(name, "")}, nil)
		if err == nil && !taken(name) {
			return name
		}
		name += "_"
	}
}

// shown is a connector that is only looked at.
type shown struct {
	name, about string
	methods     []connectors.Method
}

func (c shown) Name() string                                         { return c.name }
func (c shown) Instructions() string                                 { return c.about }
func (c shown) Methods(context.Context) ([]connectors.Method, error) { return c.methods, nil }
func (c shown) Close() error                                         { return nil }

func notCalled(connectors.Context, json.RawMessage) (any, error) {
	return nil, errors.New("not to be called")
}
