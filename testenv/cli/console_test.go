package cli

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsoleRefusesToServeStrangers(t *testing.T) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.yaml")
	require.NoError(t, os.WriteFile(tokens, []byte("- {name: ada, role: approver, token: 0123456789abcdefghijklmnop}"),
		0o600))
	public := filepath.Join(dir, "public.yaml")
	require.NoError(t, os.WriteFile(public, []byte("- {name: ada, role: approver, token: 0123456789abcdefghijklmnop}"),
		0o644))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nobody signs in":    {[]string{"--addr", "0.0.0.0:0"}, "have to be authenticated"},
		"nothing encrypts":   {[]string{"--addr", "0.0.0.0:0", "--tokens", tokens}, "has to be encrypted"},
		"tokens for all":     {[]string{"--addr", "127.0.0.1:0", "--tokens", public}, "can be read by everybody"},
		"half a certificate": {[]string{"--addr", "127.0.0.1:0", "--tls-cert", tokens}, "belong together"},
		"OIDC for nobody":    {[]string{"--addr", "127.0.0.1:0", "--oidc-issuer", "http://127.0.0.1:1"}, "OIDC needs"},
		"unsigned webhooks": {[]string{"--addr", "127.0.0.1:0", "--webhook", "http://127.0.0.1:1"},
			"CODEMODE_WEBHOOK_SECRET"},
		"a runtime twice":     {[]string{"--addr", "127.0.0.1:0", "--runtime", "a,a"}, `"a" twice`},
		"no name of anything": {[]string{"--addr", "127.0.0.1:0", "--runtime", "a b"}, "Invalid codemode runtime name"},
	} {
		t.Run(name, func(t *testing.T) {
			r := starter(t, "", append([]string{"console"}, c.args...)...)
			require.Equal(t, 2, r.code, r.stderr)
			require.Contains(t, r.stderr, c.want)
			require.NotContains(t, r.stderr, "0123456789abcdefghijklmnop")
		})
	}
}

func TestConsoleServesUntilInterrupted(t *testing.T) {
	cmd := command("starter", "console", "--addr", "127.0.0.1:0", "--runtime", "default,other")
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(errs)
	url := ""
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "console ready url=")
	}
	require.NotEmpty(t, url)
	answer, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "/login", answer.Request.URL.Path, "without cookies the key leads to a page and no further")
	address, key, _ := strings.Cut(url, "/?key=")
	ask, err := http.NewRequest(http.MethodGet, address+"/api/v1/me", nil)
	require.NoError(t, err)
	ask.Header.Set("Authorization", "Bearer "+key)
	answer, err = http.DefaultClient.Do(ask)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"ada","role":"approver","authenticated":false,"runtimes":["default","other"]}`,
		string(body))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, errs)
	require.NoError(t, cmd.Wait())
}
