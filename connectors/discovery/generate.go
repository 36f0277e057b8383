package discovery

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// GenerateTypes writes a connector's methods as TypeScript: all their types,
// and a constant of the connector's name with the methods in it.
func GenerateTypes(set *connectors.Set, connector string) string {
	return New(set).Types(connector)
}

// Types writes all of a connector as TypeScript, however long it gets. Only
// declared types are shown by name; the rest stands in its place, as the
// reference prints it. An unknown connector gives "".
func (c *Catalogue) Types(connector string) string {
	s, ok := c.spaces[connector]
	if !ok {
		return ""
	}
	text, _ := s.declarations(0)
	return text
}

// leastPerMethod is fewer tokens than a method's declarations ever take.
const leastPerMethod = 20

// declarations gives up beyond a number of tokens; 0 is no limit.
func (s *space) declarations(limit int) (string, bool) {
	if limit > 0 && len(s.methods)*leastPerMethod > limit {
		return "", false
	}
	constant := s.constant()
	left := limit - tokens.Count(constant)
	if limit > 0 && left <= 0 {
		return "", false
	}
	if len(s.methods) == 0 {
		return constant, true
	}
	sheet := s.sheet()
	for _, m := range s.methods {
		s.declare(sheet, m)
	}
	text, ok := sheet.text(view{all: true, limit: max(left, 0)})
	return text + "\n\n" + constant, ok
}

// constant is the connector as a program sees it.
func (s *space) constant() string {
	var b strings.Builder
	b.WriteString("declare const " + s.name + ": {")
	for _, m := range s.methods {
		b.WriteString("\n\t/**")
		for _, line := range methodDocs(m) {
			b.WriteString("\n\t * " + line)
		}
		base := s.names().methods[m.Method.Name]
		fmt.Fprintf(&b, "\n\t */\n\t%s: (input: %sInput) => Promise<%sOutput>;\n", quoteName(m.Method.Name), base, base)
	}
	b.WriteString("}")
	return b.String()
}

// methodDocs are the lines of a method's comment.
func methodDocs(m *connectors.Bound) []string {
	first := strings.TrimSpace(m.Description)
	if first == "" {
		first = m.Method.Name
	}
	lines := []string{commentText(first)}
	if !json.Valid(m.InputSchema) {
		return lines
	}
	for _, p := range rawjson.Entries(newSchema(m.InputSchema).get("properties")) {
		if d := newSchema(p.Value).text("description"); d != "" {
			lines = append(lines, commentText("@param input."+p.Key+" - "+d))
		}
	}
	return lines
}
