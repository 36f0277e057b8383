package search

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func item(connector, name, description string) Item {
	return Item{Connector: connector, Name: name, Path: connector + "." + name, Description: description}
}

// names are the methods found, the best first, weak ones too.
func names(query string, ix *Index) (list []string) {
	hits, _ := Find(query, []*Index{ix}, "")
	for _, h := range hits {
		list = append(list, h.Name)
	}
	return list
}

// Each row is one rule of ranking: a query and what comes first.
func TestRules(t *testing.T) {
	about := map[string]string{"bank": "Everything about savings.", "sky": "Meteorology service."}
	noted := item("bank", "configure", "Configure it.")
	noted.Parameters = json.RawMessage(`{"type":"object","properties":{"x":{"description":"the overdraft wanted"}}}`)
	ix := New([]Item{
		item("bank", "open", "Open it."), noted,
		item("sky", "open", "Open it."),
		item("sky", "daily", "Forecast of a day."),
		item("text", "translate_text", "Translate a text."),
		item("text", "bulletin", "Provide information."),
		item("text", "recommender", "Recommends reading."),
		item("shop", "refund", "Gives the buyer the money back."),
		item("shop", "list_orders", "List orders."),
		item("shop", "list_items", "List items."),
		item("shop", "list_items_24", "List items."),
		item("shop", "wetter_abfragen", "Fragt das Wetter in Städten ab."),
	}, about)
	for _, row := range []struct{ rule, query, first string }{
		{"a sentence finds what has one of its words",
			"Hello, could you please help me to get this letter of Grandma translated into Danish?", "translate_text"},
		{"words that ask for help tell little",
			"please provide me with the information what the forecast says about Rome", "daily"},
		{"descriptions of parameters count", "overdraft", "configure"},
		{"synonyms", "weather for the trip", "daily"},
		{"an exact name", "list_items", "list_items"},
		{"numbers in a sentence tell little", "have those customers bought 24 lamps in that street", "refund"},
		{"other languages' words and endings", "Wetter in einer Stadt", "wetter_abfragen"},
		{"an ending makes a word of its family", "recommendations for books", "recommender"},
	} {
		list := names(row.query, ix)
		require.NotEmpty(t, list, row.rule)
		assert.Equal(t, row.first, list[0], row.rule)
	}
}

func TestTheConnectorCounts(t *testing.T) {
	alike := []Item{item("a", "open", "Open it."), item("b", "open", "Open it.")}
	first := func(query string, ix *Index) string {
		hits, _ := Find(query, []*Index{ix}, "")
		require.NotEmpty(t, hits)
		return hits[0].Connector
	}
	assert.Equal(t, "a", first("open my savings account", New(alike, nil)))
	assert.Equal(t, "b", first("open my savings account",
		New(alike, map[string]string{"b": "Everything about savings."})), "what it says of itself")
	siblings := New(append(alike, item("b", "total", "Total of savings."), item("c", "x", "")), nil)
	hits, _ := Find("open my savings account", []*Index{siblings}, "")
	at := func(path string) int { return slices.IndexFunc(hits, func(h Hit) bool { return h.Path == path }) }
	assert.Less(t, at("b.open"), at("a.open"), "its siblings")
}

// One answer has methods for each part of a task, though all those for the first part fit better.
func TestSpreadOverATask(t *testing.T) {
	var items []Item
	for _, n := range []string{"film", "film_cast", "film_crew", "film_genre", "film_year", "film_poster", "film_award",
		"film_critic", "film_trailer", "film_studio", "film_budget", "film_rating"} {
		items = append(items, item("c", n, "Great film by a famous director."))
	}
	items = append(items, item("c", "mail", "Mail something."))
	list := names("which great film by a famous director won prizes, and then mail my brother", New(items, nil))
	assert.Contains(t, list[:6], "mail")
}

func TestUnmatchedAndAlike(t *testing.T) {
	ix := New([]Item{item("c", "repository", "A repository."), item("c", "weather", "The weather."),
		item("c", "inspect", "Inspect it.")}, nil)
	all := []*Index{ix}
	assert.Equal(t, []string{"zebra"}, Unmatched("please find the weather zebra", all))
	assert.Empty(t, Unmatched("weathr", all), "a slip")
	assert.Empty(t, Unmatched("inspector weather", all), "a word of the same family")
	assert.Empty(t, Unmatched("", all))
	hits, total := Find("ripositori", all, "")
	require.NotEmpty(t, hits, "what is spelled most alike")
	assert.Equal(t, []any{"repository", true, 0}, []any{hits[0].Name, hits[0].Weak, total})
	hits, _ = Find("qqqq", all, "")
	assert.Empty(t, hits)
}

func TestShortQueriesWantAllWords(t *testing.T) {
	ix := New([]Item{item("c", "open_door", "Open a door."), item("c", "open_window", "Open a window."),
		item("c", "lock_door", "Lock a door.")}, nil)
	hits, total := Find("open door", []*Index{ix}, "")
	require.Len(t, hits, 3)
	assert.Equal(t, 1, total)
	assert.Equal(t, []bool{false, true, true}, []bool{hits[0].Weak, hits[1].Weak, hits[2].Weak})
}
