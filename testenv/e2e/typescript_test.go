package e2e

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals/payload"
	"github.com/temporal-codemode/codemode/testenv/npm"
)

// TestTypeScriptClients read and write what workers compress and encrypt, with the codec for Temporal's TypeScript SDK.
func TestTypeScriptClients(t *testing.T) {
	codec := "../../signals/payload/npm"
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(npm.Install(t, codec), "node_modules"),
		filepath.Join(dir, "node_modules")))
	for name, from := range map[string]string{"index.js": codec, "client.js": "testdata"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	key := payload.Key{ID: "test", Secret: [32]byte{1, 2, 3}}
	keys := key.ID + ":" + base64.StdEncoding.EncodeToString(key.Secret[:])
	for name, test := range map[string]struct {
		keys []payload.Key
		env  string
		size string // in letters of two bytes
	}{
		"compressed":            {nil, "", "100000"},
		"a megabyte and a half": {nil, "", "700000"},
		"encrypted":             {[]payload.Key{key}, keys, "100000"},
		"small and encrypted":   {[]payload.Key{key}, keys, "4000"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.withConverter(test.keys...)
			b.worker()
			script := exec.CommandContext(b.context(), "node", "client.js", b.address, b.runtime, test.env, test.size)
			script.Dir = dir
			out, err := script.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, "well\n", string(out))
			b.healthy("typescript")
		})
	}
}
