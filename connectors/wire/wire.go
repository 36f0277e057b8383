package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const (
	binaryKey = "__codemode_binary_v1__"
	bigintKey = "__codemode_bigint_v1__"
	// maxSafeInteger is the largest integer that a JavaScript number tells from its neighbours.
	maxSafeInteger = "9007199254740991"
)

// Encode makes wire JSON from a method's result. Nil is JavaScript's
// undefined and gives nil; json.RawMessage is wire JSON already and is passed
// on; []byte becomes a Uint8Array; all else is JSON-encoded, with integers
// beyond ±(2^53-1) as bigints, since an id that loses digits is another id.
func Encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if len(v) == 0 {
			return nil, nil
		}
		if !json.Valid(v) {
			return nil, errors.New("the json.RawMessage returned is not valid JSON")
		}
		return v, nil
	case []byte:
		return EncodeBytes(v), nil
	}
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return nil, err
	}
	return TagBigInts(raw), nil
}

func EncodeBytes(data []byte) json.RawMessage {
	raw := []byte(`{"` + binaryKey + `":"Uint8Array","data":"`)
	raw = base64.StdEncoding.AppendEncode(raw, data)
	return append(raw, `"}`...)
}

// TagBigInts replaces the integers that a JavaScript number cannot hold by
// bigint tags and changes no other byte. raw must be valid JSON.
func TagBigInts(raw json.RawMessage) json.RawMessage {
	if !hasLongDigits(raw) {
		return raw
	}
	var out []byte
	done := 0
	rawjson.EachNumber(raw, func(from, to int) {
		if number := raw[from:to]; isUnsafeInteger(number) {
			out = append(out, raw[done:from]...)
			out = append(out, `{"`+bigintKey+`":"`...)
			out = append(out, number...)
			out = append(out, `"}`...)
			done = to
		}
	})
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

func hasLongDigits(raw []byte) bool {
	run := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			run = 0
			continue
		}
		if run++; run >= len(maxSafeInteger) {
			return true
		}
	}
	return false
}

func isUnsafeInteger(number []byte) bool {
	digits := bytes.TrimPrefix(number, []byte("-"))
	if !rawjson.IsDigits(digits) {
		return false
	}
	if len(digits) != len(maxSafeInteger) {
		return len(digits) > len(maxSafeInteger)
	}
	return string(digits) > maxSafeInteger
}

// Plain makes ordinary JSON from wire JSON: bigint tags become integers,
// binary tags base64 strings, and escaped keys what they were. Everything else
// keeps its bytes, and nil stays nil.
// Objects that only resemble a tag are left alone.
func Plain(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if !json.Valid(args) {
		return nil, errors.New("not valid JSON")
	}
	if !bytes.Contains(args, []byte(bigintKey)) && !bytes.Contains(args, []byte(binaryKey)) {
		return args, nil
	}
	return unescapeKeys(withoutTags(args)), nil
}

func withoutTags(args json.RawMessage) json.RawMessage {
	var out []byte
	done := 0
	for i := 0; i < len(args); {
		switch args[i] {
		case '"':
			i = rawjson.SkipString(args, i)
		case '{':
			plain, end := readTag(args, i)
			if end == 0 {
				i++
				continue
			}
			out = append(append(out, args[done:i]...), plain...)
			i, done = end, end
		default:
			i++
		}
	}
	return append(out, args[done:]...)
}

// readTag reads the tag that starts with the brace at i: what it stands for as
// plain JSON and the index behind it, 0 when there is none.
func readTag(raw []byte, i int) (plain []byte, end int) {
	first, firstValue, i := readStringMember(raw, i+1)
	switch {
	case i == 0:
		return nil, 0
	case string(first) == bigintKey:
		if end = skipByte(raw, i, '}'); end > 0 && isBigInt(firstValue) {
			return firstValue, end
		}
		return nil, 0
	case string(first) != binaryKey && string(first) != "data":
		return nil, 0
	}
	if i = skipByte(raw, i, ','); i == 0 {
		return nil, 0
	}
	second, secondValue, i := readStringMember(raw, i)
	if i == 0 {
		return nil, 0
	}
	if end = skipByte(raw, i, '}'); end == 0 {
		return nil, 0
	}
	if string(first) == "data" {
		first, firstValue, second, secondValue = second, secondValue, first, firstValue
	}
	if string(first) != binaryKey || string(second) != "data" || !isBinary(firstValue, secondValue) {
		return nil, 0
	}
	return append(append([]byte{'"'}, secondValue...), '"'), end
}

// readStringMember reads `"key": "value"` at i: the contents of both literals
// and the index behind them, 0 when there is something else.
func readStringMember(raw []byte, i int) (key, value []byte, end int) {
	if i = skipByte(raw, i, '"'); i == 0 {
		return nil, nil, 0
	}
	end = rawjson.SkipString(raw, i-1)
	key = raw[i : end-1]
	if i = skipByte(raw, end, ':'); i == 0 {
		return nil, nil, 0
	}
	if i = skipByte(raw, i, '"'); i == 0 {
		return nil, nil, 0
	}
	end = rawjson.SkipString(raw, i-1)
	return key, raw[i : end-1], end
}

// skipByte gives the index behind c when that comes next, white space aside, and else 0.
func skipByte(raw []byte, i int, c byte) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	if i < len(raw) && raw[i] == c {
		return i + 1
	}
	return 0
}

// isBigInt accepts what is a JSON number as well, so that nothing else gets in.
func isBigInt(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("-"))
	return rawjson.IsDigits(digits) && (len(digits) == 1 || digits[0] != '0')
}

func isBinary(kind, data []byte) bool {
	switch string(kind) {
	case "Uint8Array", "ArrayBuffer", "ArrayBufferView":
		_, err := base64.StdEncoding.Decode(make([]byte, base64.StdEncoding.DecodedLen(len(data))), data)
		return err == nil
	}
	return false
}

// Bytes are the bytes that a binary tag stands for.
func Bytes(wire []byte) ([]byte, bool) {
	if !rawjson.IsObject(wire) {
		return nil, false
	}
	plain, end := readTag(wire, 0)
	if end != len(wire) || !rawjson.IsText(plain) {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(rawjson.Text(plain))
	return data, err == nil
}
