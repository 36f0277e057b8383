package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzCompile: whatever the text, compiling it ends soon, with a program or with a reason.
func FuzzCompile(f *testing.F) {
	files, _ := filepath.Glob("../engine/testdata/programs/*.[jt]s")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		f.Add(string(text))
	}
	for _, text := range []string{
		"```js\nreturn 1\n```", "~~~\n~~~", "export default async () => 1", "export export", "import x from 'y'",
		"async () => {", "/[\\p{L}]/v", "/\\p{/u",
		"/(?<a>x)\\k<a>/du", "\ufeff1", "`${`${`", "<div/>", "enum A { B }", "@d class X {}", "for await (",
		"\x00", "a\u2028b", "#!x", "/*```", "yield", "let let = 1",
		"({b:[s='d']=[]}={})", "return /[--]/v", "\\u{110000}", "'\\ud800'",
		"export const x = 1; export default x; export {x}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		started := time.Now()
		p, failure := compile(text, nil, ProgramSource)
		if (p == nil) == (failure == nil) {
			t.Fatal("neither a program nor a reason")
		}
		if failure != nil && failure.Message == "" {
			t.Fatal("a failure without a message")
		}
		if failure != nil && failure.Position != nil &&
			(failure.Position.Line < 1 || failure.Position.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+
				strings.Count(text, "\u2028")+strings.Count(text, "\u2029")+2) {
			t.Fatalf("position %+v is outside of the text", *failure.Position)
		}
		if took := time.Since(started); took > 20*time.Second {
			t.Fatalf("took %v", took)
		}
	})
}
