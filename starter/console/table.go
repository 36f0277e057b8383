package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/signals"
)

// table shows calls of one method side by side: its columns are their arguments, what stands out comes first.
type table struct {
	Columns []column   // in which the calls differ
	Same    []argument // what all of them have alike
	Rows    []row
	Odd     int // rows that stand out
}

// column is one argument of all calls. The texts are those of its numbers; empty where not all values are numbers.
type column struct {
	Name               string
	Number             bool
	Total, Least, Most string
	path               string
}

// row is one call.
type row struct {
	card
	Cells []cell
	Odd   bool
}

// cell is one argument of one call.
type cell struct {
	value
	Hidden  bool
	Missing bool
	Why     string // it stands out; empty where it does not
	raw     string // compact JSON, to compare
	number  *big.Rat
}

// Rest counts the rows that do not stand out.
func (t *table) Rest() int { return len(t.Rows) - t.Odd }

// Sums says that there are numbers to add up.
func (t *table) Sums() bool {
	return slices.ContainsFunc(t.Columns, func(c column) bool { return c.Number })
}

// Number says that the value is one.
func (c cell) Number() bool { return c.number != nil }

// Sortable is what rows are sorted by.
func (c cell) Sortable() string {
	if c.number != nil {
		return c.number.FloatString(10)
	}
	return signals.Cut(c.Text, 200)
}

// Sizes of tables: objects within arguments become columns of their own down to a depth, and what has more columns is
// no table.
const (
	tableDepth   = 3
	tableColumns = 40
)

// newTable lays cards out side by side; false if they do not fit a table.
func newTable(cards []card) (*table, bool) {
	columns, rows := []column{}, []row{}
	index := map[string]int{}
	for _, c := range cards {
		cells := make([]cell, len(columns), len(columns)+4)
		for n := range cells {
			cells[n].Missing = true
		}
		leaves(signals.Mask(c.Current()), "", 0, func(path string, raw []byte) {
			n, known := index[path]
			if !known {
				n = len(columns)
				index[path] = n
				columns = append(columns, column{Name: nameOf(path), path: path})
			}
			for len(cells) <= n {
				cells = append(cells, cell{Missing: true})
			}
			cells[n] = newCell(raw)
		})
		rows = append(rows, row{card: c, Cells: cells})
	}
	if len(columns) > tableColumns || ambiguous(columns) {
		return nil, false
	}
	for n := range rows {
		for len(rows[n].Cells) < len(columns) {
			rows[n].Cells = append(rows[n].Cells, cell{Missing: true})
		}
	}
	t := &table{Rows: rows}
	t.arrange(columns)
	return t, true
}

// pathSeparator keeps a member with a dot in its name apart from a member of a member.
const pathSeparator = "\x00"

func nameOf(path string) string {
	return signals.Visible(cmp.Or(strings.ReplaceAll(path, pathSeparator, "."), "argument"))
}

// ambiguous says that two columns would look the same.
func ambiguous(columns []column) bool {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return len(unique(names)) < len(columns)
}

// leaves calls each with the values of an argument: members of objects, and what is no object or too deep.
func leaves(raw []byte, path string, depth int, each func(path string, raw []byte)) {
	raw = bytes.TrimSpace(raw)
	entries := []rawjson.Entry{}
	if rawjson.IsObject(raw) && depth < tableDepth {
		entries = rawjson.Entries(raw)
	}
	if len(entries) == 0 {
		if len(raw) > 0 {
			each(path, raw)
		}
		return
	}
	for _, e := range entries {
		leaves(e.Value, strings.TrimPrefix(path+pathSeparator+e.Key, pathSeparator), depth+1, each)
	}
}

func newCell(raw []byte) cell {
	c := cell{value: showText(inLine(raw)), raw: compact(raw)}
	c.Hidden = c.Text == signals.Masked
	if rawjson.IsNumber(raw) {
		c.number = exactly(string(raw))
	}
	return c
}

// inLine is a value as a text in one line: a string as its text, short lists as theirs.
func inLine(raw []byte) string {
	if text, ok := rawjson.String(raw); ok && text != "" {
		return text
	}
	var list []any
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return compact(raw)
	}
	var texts []string
	for _, v := range list {
		switch v.(type) {
		case map[string]any, []any:
			return compact(raw)
		}
		texts = append(texts, fmt.Sprint(v))
	}
	return strings.Join(texts, ", ")
}

// exactly reads a number as it is written. What is written so that it is huge is none that anybody adds up.
func exactly(text string) *big.Rat {
	if len(text) > 40 || strings.ContainsAny(text, "eE") {
		return nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return n
}

// arrange finds what is alike, adds up, and puts what stands out first.
func (t *table) arrange(columns []column) {
	var differ []int
	for n := range columns {
		if t.alike(n) {
			first := t.Rows[0].Cells[n]
			if t.addUp(&columns[n], n, nil); columns[n].Number {
				first.Text += fmt.Sprintf(" each, %s in all", columns[n].Total)
			}
			t.Same = append(t.Same, argument{Name: columns[n].Name, value: first.value, Hidden: first.Hidden})
			continue
		}
		t.addUp(&columns[n], n, t.units(columns, n))
		t.mark(n)
		differ = append(differ, n)
	}
	for n := range t.Rows {
		r := &t.Rows[n]
		var cells []cell
		for _, at := range differ {
			cells = append(cells, r.Cells[at])
			r.Odd = r.Odd || r.Cells[at].Why != ""
		}
		if r.Cells = cells; r.Odd {
			t.Odd++
		}
	}
	for _, n := range differ {
		t.Columns = append(t.Columns, columns[n])
	}
	slices.SortStableFunc(t.Rows, func(a, b row) int { return cmp.Or(oddFirst(a, b), cmp.Compare(a.Seq, b.Seq)) })
}

func oddFirst(a, b row) int {
	switch {
	case a.Odd == b.Odd:
		return 0
	case a.Odd:
		return -1
	}
	return 1
}

// alike says that a column has one value. What is hidden is not compared: it looks alike.
func (t *table) alike(n int) bool {
	first := t.Rows[0].Cells[n]
	return !slices.ContainsFunc(t.Rows, func(r row) bool {
		c := r.Cells[n]
		return c.raw != first.raw || c.Missing != first.Missing
	})
}

// units are the values that stand beside a number under the name of a unit, such as its currency; nil where all have
// the same or none.
func (t *table) units(columns []column, n int) []string {
	parent := columns[n].path[:strings.LastIndex(columns[n].path, pathSeparator)+1]
	for at, c := range columns {
		if name, ok := strings.CutPrefix(c.path, parent); !ok || name != "currency" && name != "unit" || t.alike(at) {
			continue
		}
		var units []string
		for _, r := range t.Rows {
			units = append(units, r.Cells[at].Text)
		}
		return units
	}
	return nil
}

// addUp tells total and extremes of a column of numbers, for each unit.
func (t *table) addUp(c *column, n int, units []string) {
	places, sums := 0, map[string]*big.Rat{}
	var order []string
	var least, most *big.Rat
	for at, r := range t.Rows {
		v := r.Cells[n].number
		if v == nil {
			return
		}
		unit := ""
		if units != nil {
			unit = units[at]
		}
		if sums[unit] == nil {
			sums[unit] = new(big.Rat)
			order = append(order, unit)
		}
		sums[unit].Add(sums[unit], v)
		_, fraction, _ := strings.Cut(r.Cells[n].raw, ".")
		places = max(places, len(fraction))
		if least == nil || v.Cmp(least) < 0 {
			least = v
		}
		if most == nil || v.Cmp(most) > 0 {
			most = v
		}
	}
	c.Number, c.Least, c.Most = true, grouped(least.FloatString(places)), grouped(most.FloatString(places))
	var totals []string
	for _, unit := range order {
		totals = append(totals, strings.TrimSpace(grouped(sums[unit].FloatString(places))+" "+unit))
	}
	c.Total = strings.Join(totals[:min(len(totals), 5)], ", ")
	if len(totals) > 5 {
		c.Total += fmt.Sprintf(" and %d more units", len(totals)-5)
	}
}

// grouped separates the thousands of a decimal number.
func grouped(text string) string {
	sign, rest := "", text
	if strings.HasPrefix(text, "-") {
		sign, rest = "-", text[1:]
	}
	whole, fraction, dotted := strings.Cut(rest, ".")
	for n := len(whole) - 3; n > 0; n -= 3 {
		whole = whole[:n] + "," + whole[n:]
	}
	if dotted {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}
