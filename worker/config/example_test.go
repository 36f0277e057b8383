package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/temporal-codemode/codemode/worker/config"
)

func ExampleLoad() {
	dir, _ := os.MkdirTemp("", "codemode")
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "codemode.yaml")
	_ = os.WriteFile(file, []byte("runtime: billing\nlimits: { pausedTTL: 72h }\n"), 0o600)
	config, err := config.Load(file)
	fmt.Println(config.Runtime, config.Limits.PausedTTLMs/3_600_000, err)
	// Output: billing 72 <nil>
}
