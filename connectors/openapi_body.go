package connectors

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
)

func decimal(n int) string { return strconv.Itoa(n) }

// invalid is a problem with an argument that schemas do not show.
func invalidArgument(format string, args ...any) error {
	return &InvalidArgumentsError{Problems: []string{fmt.Sprintf(format, args...)}}
}

// encode writes a body, given as compact wire JSON.
func (m *apiMedia) encode(wire []byte) (body []byte, contentType string, err error) {
	switch m.kind {
	case mediaJSON:
		body, err = PlainJSON(wire)
		return body, m.mediaType, err
	case mediaForm:
		body, err = m.encodeForm(wire)
		return body, m.mediaType, err
	case mediaMultipart:
		return m.encodeMultipart(wire)
	}
	if data, ok := wireBytes(wire); ok {
		return data, m.mediaType, nil
	}
	if isText(wire) {
		return []byte(jsonText(wire)), m.mediaType, nil
	}
	if strings.Contains(m.mediaType, "yaml") {
		body, err = PlainJSON(wire) // which is YAML
		return body, m.mediaType, err
	}
	return nil, "", invalidArgument("body: expected a string or bytes, since it is sent as %s", m.mediaType)
}

// wireBytes are the bytes that a binary tag stands for.
func wireBytes(wire []byte) ([]byte, bool) {
	if !isObject(wire) {
		return nil, false
	}
	plain, end := readTag(wire, 0)
	if end != len(wire) || !isText(plain) {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(jsonText(plain))
	return data, err == nil
}

// plainForm is a form's value without wire tags, and only an object is one.
func plainForm(wire []byte) ([]byte, error) {
	plain, err := PlainJSON(wire)
	if err != nil || !isObject(plain) {
		return nil, invalidArgument("body: expected object, since it is sent as a form")
	}
	return plain, nil
}

func (m *apiMedia) encodeForm(wire []byte) ([]byte, error) {
	plain, err := plainForm(wire)
	if err != nil {
		return nil, err
	}
	var list []queryPair
	for name, value := range jsonMembers(plain) {
		list = append(list, m.field(name).formPairs(name, value)...)
	}
	return []byte(joinPairs(list, "&")), nil
}

var plainField = &formField{style: styleForm, explode: true}

func (m *apiMedia) field(name string) *formField {
	if f := m.fields[name]; f != nil {
		return f
	}
	return plainField
}

// formPairs writes objects as JSON unless the document chose a style for them.
func (f *formField) formPairs(name string, raw []byte) []queryPair {
	if isObject(raw) && (!f.styled || kindOf(f.contentType) == mediaJSON) {
		raw = quoteJSON(string(raw))
	}
	return f.pairs(name, raw)
}

// encodeMultipart makes a part of each member, and of each element of a list.
func (m *apiMedia) encodeMultipart(wire []byte) ([]byte, string, error) {
	if _, err := plainForm(wire); err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range jsonMembers(wire) {
		if err := m.writeParts(w, name, value); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func (m *apiMedia) writeParts(w *multipart.Writer, name string, wire []byte) error {
	f := m.field(name)
	switch {
	case isNull(wire):
		return nil
	case !isArray(wire):
		return f.writePart(w, name, wire)
	case f.styled && !f.explode:
		plain, err := PlainJSON(wire)
		if err != nil {
			return err
		}
		plainText := func(text string) string { return text }
		joined := strings.Join(styled(plain).texts(plainText, ""), f.plainDelimiter())
		return f.writePart(w, name, quoteJSON(joined))
	}
	for item := range jsonElements(wire) {
		if err := f.writePart(w, name, item); err != nil {
			return err
		}
	}
	return nil
}

func (f *formField) plainDelimiter() string {
	switch {
	case f.separator != "":
		return f.separator
	case f.style == styleSpace:
		return " "
	case f.style == stylePipe:
		return "|"
	}
	return ","
}

func (f *formField) writePart(w *multipart.Writer, name string, wire []byte) error {
	data, contentType, file, err := f.part(wire)
	if err != nil {
		return err
	}
	header := textproto.MIMEHeader{}
	disposition := fmt.Sprintf(`form-data; name="%s"`, escapeQuotes(name))
	if file {
		disposition += fmt.Sprintf(`; filename="%s"`, escapeQuotes(name))
	}
	header.Set("Content-Disposition", disposition)
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	part, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	return err
}

// part is the content of a part; bytes make it a file.
func (f *formField) part(wire []byte) (data []byte, contentType string, file bool, err error) {
	chosen := firstConcrete(f.contentType)
	if data, ok := wireBytes(wire); ok {
		if chosen == "" {
			chosen = "application/octet-stream"
		}
		return data, chosen, true, nil
	}
	plain, err := PlainJSON(wire)
	if err != nil {
		return nil, "", false, err
	}
	if isObject(plain) || isArray(plain) {
		if chosen == "" {
			chosen = "application/json"
		}
		return plain, chosen, false, nil
	}
	return []byte(scalarText(plain)), chosen, false, nil
}

// firstConcrete takes one from a list of types, which ranges cannot be.
func firstConcrete(types string) string {
	for t := range strings.SplitSeq(types, ",") {
		if t = strings.TrimSpace(t); t != "" && !strings.Contains(t, "*") && validHeader("x", t) {
			return t
		}
	}
	return ""
}

var quoteEscapes = strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")

func escapeQuotes(text string) string { return quoteEscapes.Replace(text) }
