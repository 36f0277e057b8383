package codemode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost:7233":                true,
		"127.0.0.1:7233":                true,
		"[::1]:7233":                    true,
		"temporal:7233":                 false,
		"10.0.0.1:7233":                 false,
		"ns.acct.tmprl.cloud:7233":      false,
		"dns:///temporal.internal:7233": false,
		"localhost":                     false,
	} {
		require.Equal(t, want, loopback(address), address)
	}
}
