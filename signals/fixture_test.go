package signals

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFixtureHoldsNoSecret(t *testing.T) {
	record := Record{
		ID: "exec_1", Code: `await api.login({ password: "hunter22" }); // Bearer abcdefghijk.lmn`, Status: Completed,
		Result: json.RawMessage(`"used hunter22 and sk_live_51HqJ2kLzV"`), Logs: []string{"hunter22!"},
		Log: []Call{{Connector: "api", Method: "login", Args: json.RawMessage(`{"password":"hunter22","user":"ada"}`),
			Result: json.RawMessage(`{"token":{"value":"t-0123456789"},"n":12345678901234567890}`)}, {
			Args: json.RawMessage(`{"header":"x t-0123456789"}`), Error: "401 for ghp_0123456789abcdefABCDEF"}},
	}
	fixture, err := Fixture(record)
	require.NoError(t, err)
	text, err := Marshal(fixture)
	require.NoError(t, err)
	for _, secret := range []string{"hunter22", "sk_live", "t-0123456789", "ghp_", "abcdefghijk"} {
		require.NotContains(t, string(text), secret)
	}
	require.Contains(t, string(text), `"user":"ada"`)
	require.Contains(t, string(text), "12345678901234567890", "no digit is lost")
	require.Equal(t, "exec_1", fixture.ID)
	require.Contains(t, record.Code, "hunter22", "the record stays as it is")
}
