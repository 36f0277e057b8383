package openapi

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

func decimal(n int) string { return strconv.Itoa(n) }

// encode writes a body, given as compact wire JSON.
func (m *apiMedia) encode(argument []byte) (body []byte, contentType string, err error) {
	switch m.kind {
	case web.MediaJSON:
		body, err = wire.Plain(argument)
		return body, m.mediaType, err
	case web.MediaForm:
		body, err = m.encodeForm(argument)
		return body, m.mediaType, err
	case web.MediaMultipart:
		return m.encodeMultipart(argument)
	}
	if data, ok := wire.Bytes(argument); ok {
		return data, m.mediaType, nil
	}
	if rawjson.IsText(argument) {
		return []byte(rawjson.Text(argument)), m.mediaType, nil
	}
	if strings.Contains(m.mediaType, "yaml") {
		body, err = wire.Plain(argument) // which is YAML
		return body, m.mediaType, err
	}
	return nil, "", connectors.InvalidArgumentf("body: expected a string or bytes, since it is sent as %s", m.mediaType)
}

// plainForm is a form's value without wire tags, and only an object is one.
func plainForm(argument []byte) ([]byte, error) {
	plain, err := wire.Plain(argument)
	if err != nil || !rawjson.IsObject(plain) {
		return nil, connectors.InvalidArgumentf("body: expected object, since it is sent as a form")
	}
	return plain, nil
}

func (m *apiMedia) encodeForm(argument []byte) ([]byte, error) {
	plain, err := plainForm(argument)
	if err != nil {
		return nil, err
	}
	var list []web.Pair
	for name, value := range rawjson.Members(plain) {
		list = append(list, m.field(name).formPairs(name, value)...)
	}
	return []byte(web.JoinPairs(list, "&")), nil
}

var plainField = &formField{style: styleForm, explode: true}

func (m *apiMedia) field(name string) *formField {
	if f := m.fields[name]; f != nil {
		return f
	}
	return plainField
}

// formPairs writes objects as JSON unless the document chose a style for them.
func (f *formField) formPairs(name string, raw []byte) []web.Pair {
	if rawjson.IsObject(raw) && (!f.styled || web.KindOf(f.contentType) == web.MediaJSON) {
		raw = rawjson.Quote(string(raw))
	}
	return f.pairs(name, raw)
}

// encodeMultipart makes a part of each member, and of each element of a list.
func (m *apiMedia) encodeMultipart(argument []byte) ([]byte, string, error) {
	if _, err := plainForm(argument); err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range rawjson.Members(argument) {
		if err := m.writeParts(w, name, value); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func (m *apiMedia) writeParts(w *multipart.Writer, name string, argument []byte) error {
	f := m.field(name)
	switch {
	case rawjson.IsNull(argument):
		return nil
	case !rawjson.IsArray(argument):
		return f.writePart(w, name, argument)
	case f.styled && !f.explode:
		plain, err := wire.Plain(argument)
		if err != nil {
			return err
		}
		plainText := func(text string) string { return text }
		joined := strings.Join(styled(plain).texts(plainText, ""), f.plainDelimiter())
		return f.writePart(w, name, rawjson.Quote(joined))
	}
	for item := range rawjson.Elements(argument) {
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

func (f *formField) writePart(w *multipart.Writer, name string, argument []byte) error {
	data, contentType, file, err := f.part(argument)
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
func (f *formField) part(argument []byte) (data []byte, contentType string, file bool, err error) {
	chosen := firstConcrete(f.contentType)
	if data, ok := wire.Bytes(argument); ok {
		if chosen == "" {
			chosen = "application/octet-stream"
		}
		return data, chosen, true, nil
	}
	plain, err := wire.Plain(argument)
	if err != nil {
		return nil, "", false, err
	}
	if rawjson.IsObject(plain) || rawjson.IsArray(plain) {
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
