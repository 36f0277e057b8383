package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLabelsOfTheCommandLine(t *testing.T) {
	var l labels
	require.NoError(t, l.Set("team=billing"))
	require.NoError(t, l.Set("note=a=b"))
	require.NoError(t, l.Set("empty="))
	require.Equal(t, labels{"team": "billing", "note": "a=b", "empty": ""}, l)
	require.Equal(t, "empty=,note=a=b,team=billing", l.String())
	for text, want := range map[string]string{"team": "name=value", "team=x": "given twice", "=x": "a name has",
		"a b=x": "a name has"} {
		require.ErrorContains(t, l.Set(text), want, text)
	}
}

func TestIndexLabelsOfTheEnvironment(t *testing.T) {
	for text, want := range map[string]bool{"": false, "true": true, "0": false} {
		t.Setenv(indexLabelsVariable, text)
		yes, err := indexLabels()
		require.NoError(t, err)
		require.Equal(t, want, yes)
	}
	t.Setenv(indexLabelsVariable, "yes please")
	_, err := indexLabels()
	require.ErrorContains(t, err, "true or false")
}
