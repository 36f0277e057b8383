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
}

// details are tried from the fullest on until a text fits.
var details = []detail{
	{6, true, true}, {6, false, true}, {3, false, true}, {2, false, false}, {1, false, false},
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
	return text
}

func writeIn(d detail, b *connectors.Bound, from *types.Connector) (string, bool) {
	name, space := Guard(b.Method.Name), Guard(b.Connector)
	form := types.Nested{Depth: d.depth, Bare: !d.comments, Key: Guard}
	takes, complete := from.NestedInput(b, name+"Input", form)
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
