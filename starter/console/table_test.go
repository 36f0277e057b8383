package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

func cardsOf(args ...string) []card {
	var cards []card
	for n, text := range args {
		cards = append(cards, newCard(codemode.InboxItem{Runtime: "default", PendingAction: signals.PendingAction{
			ExecutionID: "exec_0", Seq: n, Connector: "shop", Method: "refund", Args: json.RawMessage(text)}}))
	}
	return cards
}

func refunds(amounts ...string) []card {
	var args []string
	for n, amount := range amounts {
		args = append(args,
			fmt.Sprintf(`{"order":"A-%d","amount":{"amount":%s,"currency":"EUR"},"notify":false}`, n, amount))
	}
	return cardsOf(args...)
}

func TestTablesHaveArgumentsAsColumns(t *testing.T) {
	made, ok := newTable(refunds("1.5", "2", "1000.25", "3"))
	require.True(t, ok)
	var names []string
	for _, c := range made.Columns {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"order", "amount.amount"}, names)
	require.Equal(t, []string{"amount.currency: EUR", "notify: false"},
		[]string{made.Same[0].Name + ": " + made.Same[0].Text, made.Same[1].Name + ": " + made.Same[1].Text})
	c := made.Columns[1]
	require.Equal(t, []string{"1,006.75", "1.50", "1,000.25"}, []string{c.Total, c.Least, c.Most})
	require.False(t, made.Columns[0].Number)
}

// What stands out, by the amounts of otherwise like calls.
func TestWhatStandsOut(t *testing.T) {
	many := func(n int, text string) (list []string) {
		for range n {
			list = append(list, text)
		}
		return list
	}
	for name, c := range map[string]struct {
		args []string
		odd  []int
	}{
		"far above":         {append([]string{"1", "2", "3", "4", "5", "6", "2", "3"}, "9999"), []int{8}},
		"far below":         {append([]string{"100", "102", "103", "104", "105"}, "-9999"), []int{5}},
		"spread":            {[]string{"1", "20", "300", "400", "1000"}, nil},
		"few":               {[]string{"1", "1", "9999"}, nil},
		"alone among equal": {append(many(20, "5"), "7"), []int{20}},
		"text alone":        {append(many(20, `"EUR"`), `"USD"`), []int{20}},
		"each its own":      {strings.Split(`"a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k"`, " "), nil},
		"other type":        {append(many(20, "5"), `"5"`), []int{20}},
		"huge exponents":    {append(many(20, "5"), `1e999999999`), []int{20}},
	} {
		var args []string
		for _, a := range c.args {
			args = append(args, `{"x":`+a+`}`)
		}
		made, ok := newTable(cardsOf(args...))
		require.True(t, ok, name)
		var odd []int
		for _, r := range made.Rows[:made.Odd] {
			odd = append(odd, r.Seq)
			require.NotEmpty(t, r.Cells[0].Why, name)
		}
		require.Equal(t, c.odd, odd, name)
	}
	made, _ := newTable(append(cardsOf(many(12, `{"a":1}`)...), cardsOf(`{"a":1,"force":true}`)...))
	require.Equal(t, 1, made.Odd, "an argument that only one call has")
}

func TestTotalsKeepUnitsApart(t *testing.T) {
	made, _ := newTable(cardsOf(`{"n":0.1,"currency":"EUR"}`, `{"n":0.2,"currency":"EUR"}`, `{"n":5,"currency":"USD"}`))
	require.Equal(t, "0.3 EUR, 5.0 USD", made.Columns[0].Total)
	made, _ = newTable(cardsOf(`{"n":500,"to":1}`, `{"n":500,"to":2}`, `{"n":500,"to":3}`))
	require.Equal(t, "500 each, 1,500 in all", made.Same[0].Text)
}

// A name with a dot does not take the place of a member of a member: such calls are shown one by one.
func TestNoArgumentHidesAnother(t *testing.T) {
	_, ok := newTable(cardsOf(`{"a.b":1,"a":{"b":9999}}`, `{"a.b":1,"a":{"b":9999}}`))
	require.False(t, ok)
	made, ok := newTable(cardsOf(`{"a":1,"api_key":"one"}`, `{"a":1,"api_key":"two"}`))
	require.True(t, ok)
	require.True(t, made.Same[1].Hidden)
}
