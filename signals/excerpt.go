package signals

import (
	"strings"
	"unicode"
)

// Excerpt is the line of a program at a position, and below it a caret; empty where there is no such line. Of a long
// line it has what is around the caret.
func Excerpt(code string, at *Position) string {
	if at == nil {
		return ""
	}
	lines := strings.Split(strings.TrimPrefix(code, "\ufeff"), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	line := []rune(strings.Map(plain, strings.TrimRight(lines[at.Line-1], "\r \t")))
	column := min(runeAt(line, at.Column-1), len(line))
	line, column = around(line, column)
	for column > 0 && line[0] == ' ' {
		line, column = line[1:], column-1
	}
	if len(line) == 0 {
		return ""
	}
	return string(line) + "\n" + strings.Repeat(" ", column) + "^"
}

// runeAt is the place of a column, which counts UTF-16 units.
func runeAt(line []rune, units int) int {
	for i, r := range line {
		if units <= 0 {
			return i
		}
		if units--; r > 0xffff {
			units--
		}
	}
	return len(line)
}

// Of a line longer than excerptLine an excerpt has as much, excerptBefore of it before the caret.
const excerptLine, excerptBefore = 160, 80

func around(line []rune, column int) ([]rune, int) {
	if len(line) <= excerptLine {
		return line, column
	}
	from := max(0, min(column-excerptBefore, len(line)-excerptLine))
	to := min(len(line), from+excerptLine)
	part := append([]rune(nil), line[from:to]...)
	if from > 0 {
		part[0] = '…'
	}
	if to < len(line) {
		part[len(part)-1] = '…'
	}
	return part, min(column-from, len(part))
}

// plain keeps each character as wide as the column that it takes.
func plain(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsGraphic(r):
		return r
	}
	return '·'
}
