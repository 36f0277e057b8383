package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A search that finds nothing says which words nothing has, and what is nearest.
func TestNothingFoundShowsTheNearest(t *testing.T) {
	var out bytes.Buffer
	p := &page{to: &screen{Writer: &out}}
	showFound(p, found{Unmatched: []string{"zebra"},
		More: map[string][]string{"zoo": {"feed", "a", "b", "c", "d", "e"}, "shop": {"refund"}}})
	p.flush()
	require.Equal(t, "nothing found\nno method has: zebra\nshop has refund\nzoo has feed, a, b, c, d\n", out.String())
}
