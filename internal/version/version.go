// Package version tells which build of this project runs.
//
// Its rule: one number, raised with the changelog; everything else comes from what the Go toolchain recorded.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Number is the version of this source tree, as CHANGELOG.md lists it.
const Number = "0.1.0"

// Text names the build of a command: its version, the commit where one is known, and what it was built for.
func Text(command string) string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = revision(info.Settings)
	}
	return fmt.Sprintf("%s %s%s, %s %s/%s", command, Number, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is the commit, shortened, and whether the tree was as it was committed.
func revision(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	commit := values["vcs.revision"]
	if commit == "" {
		return ""
	}
	text := " (" + commit[:min(len(commit), 12)]
	if values["vcs.modified"] == "true" {
		text += ", changed since"
	}
	return text + ")"
}
