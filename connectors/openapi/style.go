package openapi

import (
	"strings"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// styledValue is a value on its way into a URL, a header or a form: a text, a
// list or a list with names. What lies deeper is kept as JSON.
type styledValue struct {
	text  string
	list  bool
	items []styledItem
	// named tells a list with names from one without.
	named bool
}

type styledItem struct {
	name string
	raw  []byte
}

// styled reads compact plain JSON. Nulls in lists are left out, as undefined
// values are.
func styled(raw []byte) styledValue {
	v := styledValue{list: rawjson.IsArray(raw) || rawjson.IsObject(raw), named: rawjson.IsObject(raw)}
	if !v.list {
		v.text = scalarText(raw)
		return v
	}
	for name, item := range rawjson.Members(raw) {
		if !rawjson.IsNull(item) {
			v.items = append(v.items, styledItem{name, item})
		}
	}
	for item := range rawjson.Elements(raw) {
		if !rawjson.IsNull(item) {
			v.items = append(v.items, styledItem{raw: item})
		}
	}
	return v
}

// scalarText keeps the digits of a number as they came. Null is empty.
func scalarText(raw []byte) string {
	switch {
	case rawjson.IsText(raw):
		return rawjson.Text(raw)
	case rawjson.IsNull(raw):
		return ""
	}
	return string(raw)
}

// texts are the items one by one; names are joined to their values by
// assignment, or stand before them when it is empty.
func (v styledValue) texts(encode func(string) string, assignment string) []string {
	if !v.list {
		return []string{encode(v.text)}
	}
	var texts []string
	for _, item := range v.items {
		text := encode(scalarText(item.raw))
		switch {
		case !v.named:
			texts = append(texts, text)
		case assignment != "":
			texts = append(texts, encode(item.name)+assignment+text)
		default:
			texts = append(texts, encode(item.name), text)
		}
	}
	return texts
}

// assignment is how an exploded object writes its members.
func assignment(explode bool) string {
	if explode {
		return "="
	}
	return ""
}

// inPath writes the value as a part of a path.
func (p *apiParameter) inPath(raw []byte) string {
	v := styled(raw)
	texts := v.texts(p.encodePath, assignment(p.explode))
	switch {
	case p.separator != "":
		return strings.Join(texts, web.PercentEncode(p.separator, true))
	case p.style == styleMatrix:
		return p.matrix(v, texts)
	case p.style == styleLabel && p.explode:
		return "." + strings.Join(texts, ".")
	case p.style == styleLabel:
		return "." + strings.Join(texts, ",")
	}
	return strings.Join(texts, ",")
}

func (p *apiParameter) matrix(v styledValue, texts []string) string {
	name := web.PercentEncode(p.name, false)
	switch {
	case p.explode && v.named:
		return ";" + strings.Join(texts, ";")
	case p.explode && v.list:
		return ";" + name + "=" + strings.Join(texts, ";"+name+"=")
	}
	return ";" + name + "=" + strings.Join(texts, ",")
}

func (p *apiParameter) encodePath(text string) string {
	encoded := web.PercentEncode(text, p.allowReserved)
	if p.segments {
		encoded = strings.ReplaceAll(encoded, "%2F", "/")
	}
	return encoded
}

// inHeader writes the value as it is: headers have no escapes.
func (p *apiParameter) inHeader(raw []byte) string {
	separator := p.separator
	if separator == "" {
		separator = ","
	}
	plain := func(text string) string { return text }
	return strings.Join(styled(raw).texts(plain, assignment(p.explode)), separator)
}

// field is how the parameter would be written as a member of a form.
func (p *apiParameter) field() *formField {
	return &formField{style: p.style, explode: p.explode, separator: p.separator, allowReserved: p.allowReserved,
		styled: true}
}

// pairs writes a value as the members of a query, a form or a cookie.
func (f *formField) pairs(name string, raw []byte) []web.Pair {
	key, v := web.PercentEncode(name, false), styled(raw)
	encode := func(text string) string { return web.PercentEncode(text, f.allowReserved) }
	switch {
	case !v.list:
		return []web.Pair{{Name: key, Value: encode(v.text)}}
	case f.style == styleDeep:
		return deepPairs(key, raw, encode)
	case len(v.items) == 0:
		return nil
	case !f.explode:
		return []web.Pair{{Name: key, Value: strings.Join(v.texts(encode, ""), f.delimiter())}}
	}
	var list []web.Pair
	for _, item := range v.items {
		pair := web.Pair{Name: key, Value: encode(scalarText(item.raw))}
		if v.named {
			pair.Name = web.PercentEncode(item.name, false)
		}
		list = append(list, pair)
	}
	return list
}

func (f *formField) delimiter() string {
	switch {
	case f.separator == ",", f.separator == "" && f.style == styleForm:
		return ","
	case f.separator != "":
		return web.PercentEncode(f.separator, false)
	case f.style == styleSpace:
		return "%20"
	case f.style == stylePipe:
		return "%7C"
	}
	return ","
}

// deepPairs writes name[member][0]. Lists are numbered, since that is what keeps
// the members of objects in them together.
func deepPairs(key string, raw []byte, encode func(string) string) (list []web.Pair) {
	if !rawjson.IsObject(raw) && !rawjson.IsArray(raw) {
		return []web.Pair{{Name: key, Value: encode(scalarText(raw))}}
	}
	for name, item := range rawjson.Members(raw) {
		list = append(list, deepPairs(key+"%5B"+web.PercentEncode(name, false)+"%5D", item, encode)...)
	}
	index := 0
	for item := range rawjson.Elements(raw) {
		list = append(list, deepPairs(key+"%5B"+decimal(index)+"%5D", item, encode)...)
		index++
	}
	return list
}
