package wire

import (
	"bytes"
	"encoding/json"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// escape goes before a key that data has and that reads like a tag's; before one that has it already, too.
const escape = '~'

// FromJSON makes wire JSON of any valid JSON, such as what a server answered: all of it is data, so that integers which
// a JavaScript number cannot hold become bigints, and keys that read like those of tags are escaped.
func FromJSON(raw json.RawMessage) json.RawMessage { return TagBigInts(escapeKeys(raw)) }

// escapeKeys also finds keys that are spelled with escapes of JSON's own, since readers do not see the difference.
func escapeKeys(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte("__codemode_b")) && !bytes.Contains(raw, []byte(`\u00`)) {
		return raw
	}
	return eachKey(raw, func(out, literal []byte) []byte {
		key := literal[1 : len(literal)-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(rawjson.Text(literal))
		}
		if !readsLikeTag(key) {
			return nil
		}
		return append(append(append(out, '"', escape), key...), '"')
	})
}

// unescapeKeys undoes escapeKeys.
func unescapeKeys(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte{escape, '_', '_', 'c'}) {
		return raw
	}
	return eachKey(raw, func(out, literal []byte) []byte {
		if literal[1] != escape || !readsLikeTag(literal[1:len(literal)-1]) {
			return nil
		}
		return append(append(out, '"'), literal[2:]...)
	})
}

func readsLikeTag(key []byte) bool {
	key = bytes.TrimLeft(key, string(escape))
	return string(key) == bigintKey || string(key) == binaryKey
}

// eachKey replaces the keys, as literals, for which something else is appended.
func eachKey(raw []byte, replace func(out, literal []byte) []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			i++
			continue
		}
		from := i
		i = rawjson.SkipString(raw, i)
		if next := rawjson.SkipSpace(raw, i); next >= len(raw) || raw[next] != ':' {
			continue
		}
		if with := replace(append(out, raw[done:from]...), raw[from:i]); with != nil {
			out, done = with, i
		}
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}
