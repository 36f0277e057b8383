package types

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// leastPerMethod is fewer tokens than a method's declarations ever take.
const leastPerMethod = 20

// Declarations gives up beyond a number of tokens; 0 is no limit.
func (s *Connector) Declarations(limit int) (string, bool) {
	if limit > 0 && len(s.Methods)*leastPerMethod > limit {
		return "", false
	}
	constant := s.constant()
	left := limit - tokens.Count(constant)
	if limit > 0 && left <= 0 {
		return "", false
	}
	if len(s.Methods) == 0 {
		return constant, true
	}
	sheet := s.sheet()
	for _, m := range s.Methods {
		s.declare(sheet, m)
	}
	text, ok := sheet.text(view{all: true, limit: max(left, 0)})
	return text + "\n\n" + constant, ok
}

// constant is the connector as a program sees it.
func (s *Connector) constant() string {
	var b strings.Builder
	b.WriteString("declare const " + s.Name + ": {")
	for _, m := range s.Methods {
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
