//go:build !linux || (!amd64 && !arm64)

package harden

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

func OwnBinary() (string, error) { return os.Executable() }

func Start(cmd *exec.Cmd, _ bool) error { return cmd.Start() }

// Apply has nothing to offer here: the child is a process of its own with an empty environment, and that is all.
func Apply(int64, bool) []Layer {
	var layers []Layer
	for _, name := range LayerNames {
		layers = append(layers, Layer{Name: name, Detail: "not on " + runtime.GOOS + "/" + runtime.GOARCH})
	}
	return layers
}

func ResidentBytes(int) int64 { return 0 }

func CPUTime(int) time.Duration { return 0 }

func ProcessCPU() time.Duration { return 0 }

func TryToEscape() Probe { return Probe{} }

// Private has nothing to offer here.
func Private() error { return nil }
