package web

import (
	"bytes"
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"
)

func IsTextual(contentType string, data []byte) bool {
	return utf8.Valid(data) && !bytes.ContainsRune(data, 0) && (contentType == "" || KindOf(contentType) < MediaBinary)
}

// Sniff goes by the body where the server does not say what it is.
func Sniff(data []byte) MediaKind {
	switch {
	case json.Valid(data):
		return MediaJSON
	case utf8.Valid(data) && !bytes.ContainsRune(data, 0):
		return MediaText
	}
	return MediaBinary
}

// DecodeText knows the two charsets that are still met.
func DecodeText(charset string, data []byte) string {
	if charset == "iso-8859-1" || charset == "latin1" {
		runes := make([]rune, len(data))
		for i, c := range data {
			runes[i] = rune(c)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\uFEFF"), "\uFFFD")
}

// MediaKind is how a body is written or read. The order is that of preference.
type MediaKind int

const (
	MediaJSON MediaKind = iota
	MediaForm
	MediaMultipart
	MediaText
	MediaBinary
)

// KindOf goes by the media type alone. Whatever is not known is bytes.
func KindOf(mediaType string) MediaKind {
	base := BaseType(mediaType)
	switch {
	case base == "*/*", base == "application/*", base == "application/json", base == "text/json",
		strings.HasSuffix(base, "+json"):
		return MediaJSON
	case base == "application/x-www-form-urlencoded":
		return MediaForm
	case base == "multipart/form-data":
		return MediaMultipart
	case strings.HasPrefix(base, "text/"), strings.HasSuffix(base, "+xml"), strings.HasSuffix(base, "+yaml"),
		strings.HasSuffix(base, "/xml"), strings.HasSuffix(base, "/yaml"), strings.HasSuffix(base, "/javascript"),
		strings.HasSuffix(base, "/graphql"), strings.Contains(base, "ndjson"), strings.Contains(base, "jsonl"):
		return MediaText
	}
	return MediaBinary
}

func BaseType(mediaType string) string {
	base, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(base))
}

func CharsetOf(mediaType string) string {
	_, parameters, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	return strings.ToLower(parameters["charset"])
}
