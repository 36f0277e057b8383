package connectors

import (
	"strings"
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
	v := styledValue{list: isArray(raw) || isObject(raw), named: isObject(raw)}
	if !v.list {
		v.text = scalarText(raw)
		return v
	}
	for name, item := range jsonMembers(raw) {
		if !isNull(item) {
			v.items = append(v.items, styledItem{name, item})
		}
	}
	for item := range jsonElements(raw) {
		if !isNull(item) {
			v.items = append(v.items, styledItem{raw: item})
		}
	}
	return v
}

// scalarText keeps the digits of a number as they came. Null is empty.
func scalarText(raw []byte) string {
	switch {
	case isText(raw):
		return jsonText(raw)
	case isNull(raw):
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
		return strings.Join(texts, percentEncode(p.separator, true))
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
	name := percentEncode(p.name, false)
	switch {
	case p.explode && v.named:
		return ";" + strings.Join(texts, ";")
	case p.explode && v.list:
		return ";" + name + "=" + strings.Join(texts, ";"+name+"=")
	}
	return ";" + name + "=" + strings.Join(texts, ",")
}

func (p *apiParameter) encodePath(text string) string {
	encoded := percentEncode(text, p.allowReserved)
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
	return &formField{style: p.style, explode: p.explode, separator: p.separator, allowReserved: p.allowReserved, styled: true}
}

// pairs writes a value as the members of a query, a form or a cookie.
func (f *formField) pairs(name string, raw []byte) []queryPair {
	key, v := percentEncode(name, false), styled(raw)
	encode := func(text string) string { return percentEncode(text, f.allowReserved) }
	switch {
	case !v.list:
		return []queryPair{{key, encode(v.text)}}
	case f.style == styleDeep:
		return deepPairs(key, raw, encode)
	case len(v.items) == 0:
		return nil
	case !f.explode:
		return []queryPair{{key, strings.Join(v.texts(encode, ""), f.delimiter())}}
	}
	var list []queryPair
	for _, item := range v.items {
		pair := queryPair{key, encode(scalarText(item.raw))}
		if v.named {
			pair.name = percentEncode(item.name, false)
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
		return percentEncode(f.separator, false)
	case f.style == styleSpace:
		return "%20"
	case f.style == stylePipe:
		return "%7C"
	}
	return ","
}

// deepPairs writes name[member][0]. Lists are numbered, since that is what keeps
// the members of objects in them together.
func deepPairs(key string, raw []byte, encode func(string) string) (list []queryPair) {
	if !isObject(raw) && !isArray(raw) {
		return []queryPair{{key, encode(scalarText(raw))}}
	}
	for name, item := range jsonMembers(raw) {
		list = append(list, deepPairs(key+"%5B"+percentEncode(name, false)+"%5D", item, encode)...)
	}
	index := 0
	for item := range jsonElements(raw) {
		list = append(list, deepPairs(key+"%5B"+decimal(index)+"%5D", item, encode)...)
		index++
	}
	return list
}

const (
	unreservedMarks = "-_.~!*'()"
	reservedMarks   = ":/?@$,;="
	hexDigits       = "0123456789ABCDEF"
)

// percentEncode is encodeURIComponent. With reserved it leaves alone what has a
// meaning in URLs, but not what would end a member of the query or the query,
// and takes escapes for what they are.
func percentEncode(text string, reserved bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(unreservedMarks, c) >= 0,
			reserved && strings.IndexByte(reservedMarks, c) >= 0,
			reserved && c == '%' && isEscape(text[i:]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

func isEscape(text string) bool {
	return len(text) >= 3 && isHex(text[1]) && isHex(text[2])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
