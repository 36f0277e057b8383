package engine_test

import (
	"os"
	"testing"

	"github.com/temporal-codemode/codemode/sandbox/child"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}
