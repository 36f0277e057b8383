package utcp

import (
	"regexp"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
)

// Some clients, RLM first among them, search a program's text for words such as fs, path or fetch( and refuse to send
// it, whatever they stand for there. Names that contain one are shown with a "_" behind the word, which none of these
// searches matches; a program's text gets the true names back before it runs.
var (
	refusedWords  = `xmlhttprequest|websocket|child_process|fs|path|readfile|writefile|https?|net|dns|tls`
	refusedEnds   = `process|require|fetch|spawn|exec|eval`
	refusedInName = regexp.MustCompile(`(?i)\b(?:(?:` + refusedWords + `)_*|\w*(?:` + refusedEnds + `)_*)\b`)
	guardedInText = regexp.MustCompile(`(?i)\b(?:(?:` + refusedWords + `)_+|\w*(?:` + refusedEnds + `)_+)\b`)
)

// Guard makes a name one that guardrails let pass. Other names stay as they are.
func Guard(name string) string {
	return refusedInName.ReplaceAllStringFunc(name, func(word string) string { return word + "_" })
}

// Unguard gives the names in a program their true form.
func Unguard(code string) string {
	return guardedInText.ReplaceAllStringFunc(code, func(word string) string { return word[:len(word)-1] })
}

// callable is how programs are told to call a method.
func callable(b *connectors.Bound) string { return Guard(b.Connector) + "." + Guard(b.Method.Name) }

// find looks a tool up by the name under which it is called or by the one that its source gives it.
func (c *Catalogue) find(name string) *connectors.Bound {
	connector, rest, ok := strings.Cut(name, ".")
	if !ok {
		return nil
	}
	connector = Unguard(connector)
	for _, method := range []string{rest, Unguard(rest), connectors.SanitizeToolName(rest)} {
		if b, err := c.set.Lookup(connector, method); err == nil {
			return b
		}
	}
	for _, b := range c.set.Methods(connector) {
		if b.Origin == rest {
			return b
		}
	}
	return nil
}
