// A program that imports what workers are made of, and does not call child.Main.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

func main() {
	_, direct := child.New(child.Options{})
	_, layers := codemodeworker.SandboxLayers(child.Options{})
	fmt.Print(time.Local == time.UTC, errors.Is(direct, child.ErrNoMain), errors.Is(layers, child.ErrNoMain))
}
