package catalogue

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

// growing has one method more each time it is listed.
type growing struct {
	catalogueOnly
	listed  *atomic.Int64
	changed *func()
}

func (c growing) OnChange(changed func()) { *c.changed = changed }
func (c growing) Methods(context.Context) ([]connectors.Method, error) {
	return c.methods[:c.listed.Add(1)], nil
}

func TestFollowerNoticesChanges(t *testing.T) {
	var changed func()
	c := growing{catalogueOnly{"c",
		[]connectors.Method{method("first", "", connectors.Read), method("second", "", connectors.Read)}},
		&atomic.Int64{}, &changed}
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{c}, nil)
	require.NoError(t, err)
	defer set.Close()
	f := Follow(set)
	before := f.Current()
	assert.Same(t, before, f.Current(), "made once for each version")
	assert.Empty(t, before.Search("second", SearchOptions{}).Results)

	changed()
	require.Eventually(t, func() bool {
		found := f.Current().Search("second", SearchOptions{}).Results
		return len(found) == 1 && found[0].Path == "c.second"
	}, 30*time.Second, time.Millisecond)
	assert.Contains(t, f.Current().Describe("c").Types, "second")
	assert.Empty(t, before.Search("second", SearchOptions{}).Results, "a catalogue does not change")
}
