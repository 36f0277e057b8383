package utcp

import (
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
)

// detail says how much of its types an interface shows.
type detail struct {
	depth    int  // of objects in one another
	comments bool // what properties are for
	output   bool // of what type the result is
	untyped  bool // no types at all
}

// details are tried from the fullest on until a text fits.
var details = []detail{
	{depth: 6, comments: true, output: true}, {depth: 6, output: true}, {depth: 3, output: true},
	{depth: 2}, {depth: 1},
}

// maxInterface is the length beyond which an interface is written with less detail, in bytes: types that are written
// one inside another can take megabytes.
const maxInterface = 16_000

// write gives a tool's interface in UTCP's form, in the detail at that place of details or in less.
func write(b *connectors.Bound, from *types.Connector, at int) (text string) {
	for _, d := range details[at:] {
		var complete bool
		if text, complete = writeIn(d, b, from); complete && len(text) <= maxInterface {
			break
		}
	}
	if len(text) > maxInterface {
		text, _ = writeIn(detail{depth: 1, untyped: true}, b, from)
	}
	return text
}

func writeIn(d detail, b *connectors.Bound, from *types.Connector) (string, bool) {
	name, space := Guard(b.Method.Name), Guard(b.Connector)
	form := types.Nested{Depth: d.depth, Bare: !d.comments, Key: Guard}
	takes, complete := "  type "+name+"Input = any;\n", true
	if !d.untyped {
		takes, complete = from.NestedInput(b, name+"Input", form)
	}
	gives, allGiven := "  type "+name+"Output = any;\n", true
	if d.output {
		gives, allGiven = from.NestedOutput(b, name+"Output", form)
	}
	var text strings.Builder
	text.WriteString("\nnamespace " + space + " {\n" + takes + gives + "}\n\n/**\n")
	description := strings.TrimSpace(b.Description)
	if d.depth == 1 {
		description, _, _ = strings.Cut(description, "\n")
	}
	for line := range strings.Lines(comment(description)) {
		text.WriteString(" * " + strings.TrimRight(line, "\n") + "\n")
	}
	if len(b.Tags) > 0 {
		text.WriteString(" * Tags: " + comment(strings.Join(b.Tags, ", ")) + "\n")
	}
	if b.MayNeedApproval() {
		text.WriteString(" * Needs a person's approval: the program waits for it.\n")
	}
	text.WriteString(" * Access as: " + callable(b) + "(args)\n */\n")
	return text.String(), complete && allGiven
}

func comment(text string) string { return strings.ReplaceAll(text, "*/", "*\\/") }
