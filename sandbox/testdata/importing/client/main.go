// A program that imports the client, and what that did to its time zone.
package main

import (
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode"
)

func main() {
	_ = codemode.Client{}
	fmt.Print(time.Local == time.UTC)
}
