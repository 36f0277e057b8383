package engine

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a child sees no files
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// bytesArgument is the content of a Uint8Array.
func (e *Engine) bytesArgument(v goja.Value) []byte {
	b, ok := v.Export().([]byte)
	if !ok {
		panic(e.vm.NewTypeError("a Uint8Array is wanted"))
	}
	return b
}

func (e *Engine) buffer(b []byte) goja.Value { return e.vm.ToValue(e.vm.NewArrayBuffer(b)) }

// jsUTF8 encodes a text; lone surrogates become replacement characters.
func (e *Engine) jsUTF8(f goja.FunctionCall) goja.Value {
	return e.buffer([]byte(f.Argument(0).String()))
}

// jsDecodeText takes bytes, an encoding, and whether more bytes follow: then an unfinished character is left over.
func (e *Engine) jsDecodeText(f goja.FunctionCall) goja.Value {
	text, used, bad := decodeText(e.bytesArgument(f.Argument(0)), f.Argument(1).String(), f.Argument(2).ToBoolean())
	result := e.vm.NewObject()
	_ = result.Set("text", text)
	_ = result.Set("used", used)
	_ = result.Set("bad", bad)
	return result
}

func decodeText(b []byte, encoding string, stream bool) (text string, used int, bad bool) {
	switch encoding {
	case "utf-16le":
		return decodeUTF16(b, binary.LittleEndian, stream)
	case "utf-16be":
		return decodeUTF16(b, binary.BigEndian, stream)
	case "windows-1252":
		var s strings.Builder
		for _, c := range b {
			if c >= 0x80 && c < 0xa0 {
				s.WriteRune(windows1252[c-0x80])
			} else {
				s.WriteRune(rune(c))
			}
		}
		return s.String(), len(b), false
	}
	return decodeUTF8(b, stream)
}

var windows1252 = [32]rune{
	0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
	0x17E, 0x178,
}

func decodeUTF16(b []byte, order binary.ByteOrder, stream bool) (string, int, bool) {
	units := make([]uint16, 0, len(b)/2)
	used := len(b) &^ 1
	for i := 0; i < used; i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	if n := len(units); stream && n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xDC00 {
		units, used = units[:n-1], used-2
	}
	text := string(utf16.Decode(units))
	if stream || used == len(b) {
		return text, used, strings.ContainsRune(text, utf8.RuneError)
	}
	return text + "\uFFFD", len(b), true
}

// decodeUTF8 replaces each longest broken part of a character by one U+FFFD, as the encoding standard wants.
func decodeUTF8(b []byte, stream bool) (string, int, bool) {
	if utf8.Valid(b) {
		return string(b), len(b), false
	}
	var s strings.Builder
	bad, i := false, 0
	for i < len(b) {
		r, size := utf8.DecodeRune(b[i:])
		if r != utf8.RuneError || size > 1 {
			s.WriteRune(r)
			i += size
			continue
		}
		part := brokenPart(b[i:])
		if i+part == len(b) && stream && !utf8.FullRune(b[i:]) {
			return s.String(), i, bad
		}
		bad = true
		s.WriteRune(utf8.RuneError)
		i += part
	}
	return s.String(), i, bad
}

// brokenPart is the length of the longest start of b that could be the start of a character.
func brokenPart(b []byte) int {
	n := 1
	for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) {
		n++
	}
	if n > 1 && utf8.FullRune(b[:n]) {
		n--
	}
	return n
}

var hashes = map[string]func() hash.Hash{
	"SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// jsDigest takes the name of a hash and bytes.
func (e *Engine) jsDigest(f goja.FunctionCall) goja.Value {
	h := hashes[f.Argument(0).String()]()
	h.Write(e.bytesArgument(f.Argument(1)))
	return e.buffer(h.Sum(nil))
}

// jsHMAC takes the name of a hash, a secret and bytes.
func (e *Engine) jsHMAC(f goja.FunctionCall) goja.Value {
	h := hmac.New(hashes[f.Argument(0).String()], e.bytesArgument(f.Argument(1)))
	h.Write(e.bytesArgument(f.Argument(2)))
	return e.buffer(h.Sum(nil))
}

// jsCompare takes two texts, a locale, a sensitivity, and whether digits compare as numbers.
func (e *Engine) jsCompare(f goja.FunctionCall) goja.Value {
	key := collatorKey{f.Argument(2).String(), f.Argument(3).String(), f.Argument(4).ToBoolean()}
	c := e.js.collators[key]
	if c == nil {
		c = newCollator(key)
		e.js.collators[key] = c
	}
	return e.vm.ToValue(c.CompareString(f.Argument(0).String(), f.Argument(1).String()))
}

type collatorKey struct {
	locale, sensitivity string
	numeric             bool
}

func newCollator(key collatorKey) *collate.Collator {
	var options []collate.Option
	switch key.sensitivity {
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		options = append(options, collate.IgnoreCase)
	case "case":
		options = append(options, collate.IgnoreDiacritics)
	}
	if key.numeric {
		options = append(options, collate.Numeric)
	}
	return collate.New(language.Make(key.locale), options...)
}

// jsZone tells a time zone's offset in minutes at an epoch time, its abbreviation, and whether summer time is on; null
// for an unknown zone.
func (e *Engine) jsZone(f goja.FunctionCall) goja.Value {
	name := f.Argument(0).String()
	zone := e.js.zones[name]
	if zone == nil {
		var err error
		if zone, err = loadZone(name); err != nil {
			return goja.Null()
		}
		e.js.zones[name] = zone
	}
	at := time.UnixMilli(f.Argument(1).ToInteger()).In(zone)
	short, offset := at.Zone()
	return e.vm.ToValue(e.vm.NewArray(zone.String(), offset, short, at.IsDST()))
}

// loadZone finds a zone by its name in any case, or by its offset; never the host's own.
func loadZone(name string) (*time.Location, error) {
	switch strings.ToLower(name) {
	case "utc", "etc/utc", "gmt", "etc/gmt":
		return time.UTC, nil
	}
	if offset := zoneOffset.FindStringSubmatch(name); offset != nil {
		hours, _ := strconv.Atoi(offset[1])
		minutes, _ := strconv.Atoi(offset[1][:1] + "0" + offset[2])
		return time.FixedZone(name, hours*3600+minutes*60), nil
	}
	if !zoneName.MatchString(name) || strings.EqualFold(name, "local") {
		return nil, errNoZone
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone, nil
	}
	return time.LoadLocation(zoneTitle(name))
}

// zoneTitle writes a zone's name as the zone database does.
func zoneTitle(name string) string {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		words := strings.Split(part, "_")
		for j, w := range words {
			switch w {
			case "of", "es", "":
			case "us", "est", "mst", "hst", "gmt", "utc":
				words[j] = strings.ToUpper(w)
			default:
				words[j] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		parts[i] = strings.Join(words, "_")
	}
	return strings.Join(parts, "/")
}

var (
	zoneName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+/-]*$`)
	zoneOffset = regexp.MustCompile(`^([+-](?:[01]\d|2[0-3])):?([0-5]\d)?$`)
	errNoZone  = errors.New("no such time zone")
)
