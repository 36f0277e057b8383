package workflows

import (
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/signals"
)

// TestSearchAttributesOfWhatIsStartedWithout: by a parent workflow, or a client that knows nothing of ours.
func TestSearchAttributesOfWhatIsStartedWithout(t *testing.T) {
	runtime, labels := runtimeKey.ValueSet("default"), labelsKey.ValueSet([]string{"team=billing"})
	for name, test := range map[string]struct {
		pinned  signals.Pinned
		started []temporal.SearchAttributeUpdate
		version int
		want    []temporal.SearchAttributeUpdate
	}{
		"both": {signals.Pinned{SearchAttributes: true, LabelAttribute: true}, nil, attributed,
			[]temporal.SearchAttributeUpdate{runtime, labels}},
		"not those that the server lacks": {signals.Pinned{SearchAttributes: true}, nil, attributed,
			[]temporal.SearchAttributeUpdate{runtime}},
		"none that is known": {signals.Pinned{}, nil, attributed, nil},
		"those that the start lacks": {signals.Pinned{SearchAttributes: true, LabelAttribute: true},
			[]temporal.SearchAttributeUpdate{runtime}, attributed, []temporal.SearchAttributeUpdate{labels}},
		"as before":  {signals.Pinned{SearchAttributes: true, LabelAttribute: true}, nil, inOrder, nil},
		"all before": {signals.Pinned{SearchAttributes: true, LabelAttribute: true}, nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.passes = []func(signals.PassInput) signals.PassResult{ends(`1`)}
			r.input.Labels = map[string]string{"team": "billing"}
			r.pin = func(p *signals.Pinned) {
				p.SearchAttributes, p.LabelAttribute = test.pinned.SearchAttributes, test.pinned.LabelAttribute
				p.Version = test.version
			}
			if len(test.started) > 0 {
				require.NoError(t, r.env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(test.started...)))
			}
			var upserted []temporal.SearchAttributes
			r.env.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
				upserted = append(upserted, args.Get(0).(temporal.SearchAttributes))
			}).Maybe()
			require.Equal(t, signals.Completed, r.run().Status)
			if test.want == nil {
				require.Empty(t, upserted)
				return
			}
			require.Equal(t, []temporal.SearchAttributes{temporal.NewSearchAttributes(test.want...)}, upserted)
		})
	}
}
