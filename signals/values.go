package signals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits on one durable value. Programs see the first, in UTF-16 units of JSON; the second keeps a value inside one
// Temporal payload.
const (
	MaxValueUnits = 1_000_000
	MaxValueBytes = 1_900_000
)

// PassResultBytes is what a pass result may hold in all, unless it holds a single value.
const PassResultBytes = 1_500_000

// InlineValueBytes is the size up to which a settled value travels to the next pass beside the reference to its event.
const InlineValueBytes = 4096

// MaxErrorBytes is how much of a failed call's message the program gets, from whichever record of it.
const MaxErrorBytes = 2048

// MaxNameBytes bounds the names of errors that calls fail with.
const MaxNameBytes = 256

// Marshal encodes v as JSON without escaping <, > and &, so that encoded bytes are close to the value's own.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Units counts the UTF-16 code units of a UTF-8 text: the length that a program sees.
func Units[T string | []byte | json.RawMessage](text T) int {
	n := 0
	for _, r := range string(text) {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// CheckSize returns the message for a value too large to record, or "" if it fits. what names it, as in
// "The result of store.big".
func CheckSize[T string | []byte | json.RawMessage](what string, text T) string {
	return CheckSizeWithin(what, text, MaxValueBytes)
}

// CheckSizeWithin is CheckSize with the bytes that the data converter has room for.
func CheckSizeWithin[T string | []byte | json.RawMessage](what string, text T, maxBytes int) string {
	if len(text) > MaxValueUnits { // fewer bytes than units is impossible
		if units := Units(text); units > MaxValueUnits {
			return TooLarge(what, units, MaxValueUnits)
		}
	}
	if len(text) > maxBytes {
		return TooLarge(what, len(text), maxBytes)
	}
	return ""
}

// Canonical rewrites JSON with sorted object keys and no white space, so that equal values have equal texts. An absent
// value stays absent.
func Canonical(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return Marshal(v)
}

// Digest is the short name of a call's arguments that approvals are bound to: 16 hexadecimal digits of the SHA-256 of
// their canonical JSON; "none" for a call without argument.
func Digest(args json.RawMessage) string {
	text, err := Canonical(args)
	if err != nil {
		text = args
	}
	if len(text) == 0 {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SameArgs reports whether two argument values are equal as JSON; absent differs from every value.
func SameArgs(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, errX := Canonical(a)
	y, errY := Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// IdempotencyKey names one effect: the call, and the arguments it was dispatched with. A reset may reuse a seq for
// other arguments, hence the digest.
func IdempotencyKey(executionID string, seq int, connector, method string, args json.RawMessage) string {
	canonical, _ := Canonical(args)
	sum := sha256.Sum256([]byte(connector + "." + method + "\n" + string(canonical)))
	return fmt.Sprintf("%s:%d:%s", executionID, seq, hex.EncodeToString(sum[:6]))
}

// Cut shortens text to at most limit bytes at a rune boundary, with an ellipsis where something was dropped.
func Cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Summary is a short line about a call's arguments for lists and the Web UI: values of keys that look like secrets are
// masked, the rest is cut to limit bytes.
func Summary(args json.RawMessage, limit int) string {
	if len(args) == 0 {
		return ""
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return ""
	}
	text, err := Marshal(mask(v))
	if err != nil {
		return ""
	}
	return Cut(string(text), limit)
}

// Mask replaces the values under keys that look like secrets, for people to read the rest. JSON that has none comes
// back as it is.
func Mask(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	text, err := Marshal(mask(v))
	if err != nil || !bytes.Contains(text, []byte(Masked)) {
		return raw
	}
	return text
}

// Masked stands where Mask hides a value.
const Masked = "•••"

func mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore each value is replaced under its own key, in whatever order
		for k, item := range v {
			if looksSecret(k) {
				v[k] = Masked
			} else {
				v[k] = mask(item)
			}
		}
	case []any:
		for i, item := range v {
			v[i] = mask(item)
		}
	}
	return v
}

func looksSecret(key string) bool {
	key = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	for _, word := range []string{"password", "passwd", "secret", "token", "apikey", "authorization", "credential",
		"privatekey", "cookie"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}
