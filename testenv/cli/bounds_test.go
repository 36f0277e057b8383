package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// hostileServer makes the test binary an MCP server that means no good, of the kind it says.
const hostileServer = "CODEMODE_CLI_HOSTILE"

// serveHostile answers over standard input and output, by hand: no library would do so.
func serveHostile(kind string) {
	in := json.NewDecoder(os.Stdin)
	for page := 0; ; {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name, ProtocolVersion string }
		}
		if in.Decode(&request) != nil {
			return
		}
		if request.ID == nil {
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":`, request.ID)
		switch {
		case request.Method == "initialize":
			fmt.Printf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
				request.Params.ProtocolVersion)
		case request.Method == "tools/list" && kind == "pages":
			page++
			fmt.Printf(`{"tools":[{"name":"t%d","description":%q}],"nextCursor":"%d"}`, page,
				strings.Repeat("x", 1<<20), page)
		case request.Method == "tools/list":
			fmt.Print(hostileTools())
		case request.Params.Name == "ok":
			fmt.Print(`{"content":[{"type":"text","text":"fine"}]}`)
		case request.Params.Name == "endless":
			spill(1 << 50)
		default:
			fmt.Print(`{"content":[{"type":"text","text":"`)
			spill(300 << 20)
			fmt.Print(`"}]}`)
		}
		fmt.Println("}")
	}
}

func spill(n int) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for ; n > 0; n -= len(chunk) {
		if _, err := os.Stdout.Write(chunk); err != nil {
			os.Exit(1)
		}
	}
}

func hostileTools() string {
	var diamond []string
	for n := range 40 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n+1)
		diamond = append(diamond, fmt.Sprintf(`"d%d":{"allOf":[%s,%s]}`, n, next, next))
	}
	branch := `{"type":"object","properties":{"op":{"const":%q},"l":{"$ref":"#/$defs/node"}}}`
	const hints = `"annotations":{"readOnlyHint":true}`
	return `{"tools":[{"name":"ok",` + hints + `},{"name":"big",` + hints + `},{"name":"endless",` + hints + `},` +
		`{"name":"bomb",` + hints + `,"inputSchema":{"$ref":"#/$defs/d0","$defs":{` + strings.Join(diamond, ",") +
		`,"d40":{}}}},{"name":"tree",` + hints + `,"inputSchema":{"type":"object","properties":{"e":` +
		`{"$ref":"#/$defs/node"}},"$defs":{"node":{"oneOf":[` + fmt.Sprintf(branch, "add") + `,` +
		fmt.Sprintf(branch, "mul") + `,` + fmt.Sprintf(branch, "neg") + `,{"type":"number"}]}}}}]}`
}

// A worker that may take 4 GiB outlives servers that answer without measure, and each call ends with its own error
// while other executions go on.
func TestHostileServersEndNoWorker(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to limit the worker with")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "codemode.yaml")
	text := "runtime: bounds\nlimits: { passTimeout: 20s }\nconnectors:\n"
	for _, kind := range []string{"odd", "pages"} {
		text += fmt.Sprintf("  %s: { mcp: { command: %q, env: { %s: %s } } }\n", kind, self, hostileServer, kind)
	}
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	limited := command("worker", "--config", config)
	limited.Args = append([]string{shell, "-c", `ulimit -v 4194304; exec "$0" "$@"`, limited.Path}, limited.Args[1:]...)
	limited.Path = shell
	w, err := startCommand(limited)
	require.NoError(t, err)
	defer func() { _ = w.stop() }()

	run := func(code string) signals.Outcome {
		return decode[signals.Outcome](t, starter(t, code, "run", "-", "--json", "--runtime", "bounds"))
	}
	const tooLarge = "the answer is larger than 8388608 bytes: ask for less, by a filter or page by page"
	const tooCostly = "they take too long to check against the schema: pass less at once, or nest it less deeply"
	for code, want := range map[string]string{
		`return await odd.big({})`:     "odd.big: " + tooLarge,
		`return await odd.endless({})`: "odd.endless: " + tooLarge,
		`return await odd.bomb({})`:    "Invalid arguments for odd.bomb: " + tooCostly,
		`let e = 1; for (let i = 0; i < 40; i++) e = {op: 'neg', l: e}; return await odd.tree({e})`: "Invalid " +
			"arguments for odd.tree: " + tooCostly,
		`return await pages.t1({})`: `Connector "pages" is not available: tools/list: the pages take more than 8388608`,
	} {
		other := begin(t, command("starter", "run", "-", "--json", "--runtime", "bounds"), `return await odd.ok({})`)
		assert.Contains(t, run(code).Error, want, code)
		bystander := other()
		assert.Contains(t, bystander.stdout, `"fine"`, "an execution beside %s", code)
	}
	select {
	case <-w.ended:
		t.Fatalf("the worker ended: %s", w.stderr)
	default:
	}
	require.Equal(t, signals.Completed, run("return 1").Status)
}
