package engine

import (
	"encoding/json"
	"unicode/utf8"
)

// maxLine cuts one console line, in bytes.
const maxLine = 16 * 1024

const linesDropped = "[codemode: earlier console output dropped — too large to record]"

// console keeps the lines that no earlier pass reported, the newest of them where they are too many.
type console struct {
	skip     int // lines that earlier passes reported
	count    int
	lines    []string
	bytes    int
	dropped  bool
	maxBytes int
	maxLines int
}

func (c *console) print(line string) {
	if c.count++; c.count <= c.skip {
		return
	}
	if len(line) > maxLine {
		cut := maxLine
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "…"
	}
	c.lines = append(c.lines, line)
	c.bytes += encodedSize(line)
	if c.bytes > c.maxBytes || len(c.lines) > c.maxLines {
		c.drop()
	}
}

// drop gives up the older half.
func (c *console) drop() {
	c.dropped = true
	half := len(c.lines) / 2
	if half == 0 {
		return
	}
	c.lines = append([]string(nil), c.lines[half:]...)
	c.bytes = 0
	for _, l := range c.lines {
		c.bytes += encodedSize(l)
	}
}

func (c *console) report() []string {
	if c.dropped {
		return append([]string{linesDropped}, c.lines...)
	}
	return c.lines
}

// encodedSize is what a text takes as a JSON string.
func encodedSize(text string) int {
	b, _ := json.Marshal(text)
	return len(b) + 1
}

// printed counts the lines since the program's start.
func (c *console) printed() int { return max(c.count, c.skip) }
