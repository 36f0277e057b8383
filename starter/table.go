package main

import (
	"strings"
	"unicode/utf8"

	"github.com/temporal-codemode/codemode/signals"
)

// table adds rows in columns; the first row is the header.
func (p *page) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = signals.Visible(rows[i][j])
			widths[j] = max(widths[j], utf8.RuneCountInString(rows[i][j]))
		}
	}
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			b.WriteString(cell)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2))
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if i == 0 {
			p.styled(dim, "%s\n", text)
		} else {
			p.line("%s", text)
		}
	}
}

// short fits text into one cell; cut tells that something is missing.
func short(text string, limit int) (cell string, cut bool) {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text, false
	}
	return string([]rune(text)[:limit-1]) + "…", true
}
