package signals

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a sender misspelt must not mean more than was meant.
func TestMessagesAreReadStrictly(t *testing.T) {
	for _, c := range []struct {
		into any
		text string
		want string
	}{
		{&Approve{}, `{"seq": 0}`, `approve has no field "seq": it has seqs, `},
		{&Approve{}, `{"Seqs": [0]}`, `approve has no field "Seqs"`},
		{&Approve{}, `{"seqs": []}`, "seqs is empty: name the calls"},
		{&Approve{}, `{"seqs": null}`, "seqs is null"},
		{&Approve{}, `{"seqs": [0], "args": null}`, "args is null: leave it out"},
		{&Approve{}, `[0]`, "approve takes an object"},
		{&Approve{}, `{"decisions": [{"approve": {"seq": 1}}]}`, `approve has no field "seq"`},
		{&Approve{}, `{"decisions": [{"aprove": {}}]}`, `decision has no field "aprove"`},
		{&Reject{}, `{"seqs": [0]}`, `reject has no field "seqs"`},
		{&Retry{}, `{"seqs": [0]}`, `retry has no field "seqs"`},
		{&Resolve{}, `{"seq": 0, "value": 1}`, `resolve has no field "value"`},
		{&RollbackMessage{}, `{"seq": 1}`, `rollback has no field "seq"`},
		{&Expire{}, `{"after": 1}`, `expire has no field "after"`},
		{&Approve{}, `{"by": "ada", "args": {"a": 1}, "seqs": [0]}`, ""},
		{&Approve{}, `{}`, ""},
		{&Reject{}, `{"seq": null, "reason": "no"}`, ""},
		{&Resolve{}, `{"seq": 0, "result": null}`, ""},
		{&RollbackMessage{}, `{"by": "ada"}`, ""},
	} {
		err := json.Unmarshal([]byte(c.text), c.into)
		if c.want == "" {
			require.NoError(t, err, c.text)
		} else {
			require.ErrorContains(t, err, c.want, c.text)
		}
	}
	var kept RollbackRecord
	require.NoError(t, json.Unmarshal([]byte(`{"by": "ada", "at": 1, "reverts": []}`), &kept), "a record is no message")
	require.Equal(t, "ada", kept.By)
	require.ErrorContains(t, Approve{By: "a\x01"}.Check(), "control characters")
}
