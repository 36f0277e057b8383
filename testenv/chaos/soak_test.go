package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrowth(t *testing.T) {
	curve := func(values ...float64) (c []sample) {
		for _, v := range values {
			c = append(c, sample{Worker: v})
		}
		return c
	}
	worker := func(s sample) float64 { return s.Worker }
	require.InDelta(t, 1, growth(curve(50, 90, 100, 100, 120, 99, 100, 100), worker), 0.01, "warming up is no growth")
	require.InDelta(t, 2, growth(curve(50, 60, 100, 100, 150, 160, 200, 200), worker), 0.01)
	require.InDelta(t, 1, growth(curve(100), worker), 0.01)
}
