package types

import (
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/schema"
	"github.com/temporal-codemode/codemode/internal/words"
)

// docs is what a schema says about a value beside its type.
type docs struct {
	description, format string
	// limits are tags such as "@default 30 @maximum 100"; mattering are those of
	// them that callers run into.
	limits, mattering string
	// kept are the lines at each detail, once asked for.
	kept [bare][]string
}

// detail is how much of the docs is printed.
type detail int

const (
	whole detail = iota
	short
	terse
	bare
)

// longest description at each detail, in bytes.
var longest = map[detail]int{short: 100, terse: 40}

func (d *docs) comment(level detail, indent string) string {
	if level == bare || d == nil {
		return ""
	}
	if d.kept[level] == nil {
		d.kept[level] = d.lines(level)
	}
	lines := d.kept[level]
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return indent + "/** " + lines[0] + " */\n"
	}
	return indent + "/**\n" + indent + " * " + strings.Join(lines, "\n"+indent+" * ") + "\n" + indent + " */\n"
}

func (d *docs) lines(level detail) []string {
	lines := []string{}
	description, limits := d.description, d.limits
	if most, cut := longest[level]; cut {
		description, limits = words.Abridge(words.Plain(description), most), d.mattering
	}
	for _, line := range []string{description, tag("@format ", d.format), limits} {
		if line != "" {
			lines = append(lines, commentText(line))
		}
	}
	if level != whole && len(lines) > 1 {
		return []string{strings.Join(lines, " ")}
	}
	return lines
}

func tag(name, value string) string {
	if value == "" {
		return ""
	}
	return name + value
}

var inComment = strings.NewReplacer("\r\n", " ", "\n", " ", "*/", `*\/`)

// commentText keeps a text inside the comment and on its line.
func commentText(s string) string { return inComment.Replace(s) }

// docs reads what a property's schema says. A reference to what has no
// declaration of its own is documented by what it leads to.
func (c *converter) docs(raw []byte) *docs {
	if c.read += len(raw); c.full() {
		return nil
	}
	s := schema.Read(raw)
	if ref := s.Ref(); ref != "" && !c.exact && !s.Has("description", "format") {
		if target, ok := c.doc.resolve(ref); ok && len(target) > 0 && (c.doc.name(target) == "" || c.small(target)) {
			if c.read += len(target); c.full() {
				return nil
			}
			s = schema.Read(target)
		}
	}
	d := docs{description: s.Text("description"), format: s.Text("format")}
	if !c.exact {
		d.limits, d.mattering = limits(s)
	}
	if d.description == "" && d.format == "" && d.limits == "" {
		return nil
	}
	return &d
}

// limitTags are the keywords shown, in this order.
var limitTags = []string{
	"default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "minItems",
	"maxItems",
	"readOnly", "deprecated", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "writeOnly",
}

// fewMatter is where those begin that are left out when space is short.
const fewMatter = 11

const longestLimit = 60

func limits(s schema.Schema) (all, mattering string) {
	var list, few []string
	for i, key := range limitTags {
		tag := limitTag(key, s)
		if tag == "" {
			continue
		}
		list = append(list, tag)
		if i < fewMatter {
			few = append(few, tag)
		}
	}
	return strings.Join(list, " "), strings.Join(few, " ")
}

func limitTag(key string, s schema.Schema) string {
	raw := s.Get(key)
	switch {
	case raw == nil, len(raw) > longestLimit, key == "uniqueItems" && s.Text("type") != "array":
		return ""
	case key == "default":
		return "@default " + compact(raw)
	case string(raw) == "false":
		return ""
	case string(raw) == "true":
		// Draft 4 says with true that the limit beside it is exclusive.
		if bound, draft4 := strings.CutPrefix(key, "exclusiveM"); draft4 {
			return "@" + key + " " + string(s.Get("m"+bound))
		}
		return "@" + key
	}
	if value, isText := rawjson.String(raw); isText {
		return "@" + key + " " + value
	}
	return "@" + key + " " + compact(raw)
}
