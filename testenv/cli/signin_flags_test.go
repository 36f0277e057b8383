package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignInFlagsAreChecked(t *testing.T) {
	const issuer = "--oidc-issuer=http://127.0.0.1:1"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"without HTTP":       {[]string{issuer}, "are for --http"},
		"without an address": {[]string{"--http", "127.0.0.1:0", issuer}, "needs --url"},
		"for nobody": {[]string{"--http", "127.0.0.1:0", "--url", "http://127.0.0.1:1", issuer},
			"who may run"},
		"nothing encrypts": {[]string{"--http", "0.0.0.0:0", "--url", "http://mcp.example.com", issuer},
			"encrypted"},
		"a quota of nobody":      {[]string{"--http", "127.0.0.1:0", "--quota", "*=1/1"}, "callers who are known"},
		"a quota without number": {quota("*=many"), "write who=n/m"},
		"a quota of half":        {quota("group:a=1"), "write who=n/m"},
		"a quota of no claim":    {quota("ada=1/1"), "write who=n/m"},
		"an issuer in the clear": {[]string{"--http", "127.0.0.1:0", "--url", "http://127.0.0.1:1", "--oidc-runners=*",
			"--oidc-issuer=http://login.example.com"}, "must be an https:// address"},
	} {
		t.Run(name, func(t *testing.T) {
			r := starter(t, "", append([]string{"mcp"}, c.args...)...)
			require.Equal(t, 2, r.code, r.stderr)
			require.Contains(t, r.stderr, c.want)
		})
	}
}

func quota(text string) []string {
	return []string{"--http", "127.0.0.1:0", "--url", "http://127.0.0.1:1", "--oidc-issuer=http://127.0.0.1:1",
		"--oidc-runners=*", "--quota", text}
}
