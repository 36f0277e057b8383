package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// KeysEnv is the environment variable that workers, the command line and the front doors take their keys from.
const KeysEnv = "CODEMODE_ENCRYPTION_KEYS"

// Key is one key of AES-256-GCM. Its id goes into history beside what it encrypted.
type Key struct {
	ID     string
	Secret [32]byte
}

// ParseKeys reads keys as in "2026-11:<base64>,2026-05:<base64>". The first encrypts, all decrypt.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		id, secret, found := strings.Cut(item, ":")
		data, err := base64.StdEncoding.DecodeString(secret)
		if !found || id == "" || err != nil || len(data) != 32 {
			return nil, fmt.Errorf("%s: key %d is not ID:BASE64 of 32 bytes: make one with  openssl rand -base64 32",
				KeysEnv, len(keys)+1)
		}
		keys = append(keys, Key{ID: id, Secret: [32]byte(data)})
	}
	return keys, nil
}

const (
	encodingEncrypted = "binary/encrypted"
	metadataKeyID     = "encryption-key-id"
)

// encryption is a codec in the form of Temporal's own samples.
type encryption struct {
	newest string
	sealed map[string]cipher.AEAD
	only   bool // what is not encrypted is refused
}

func newEncryption(keys []Key) (*encryption, error) {
	e := &encryption{newest: keys[0].ID, sealed: map[string]cipher.AEAD{}}
	for _, key := range keys {
		if e.sealed[key.ID] != nil {
			return nil, fmt.Errorf("%s: two keys have the id %q", KeysEnv, key.ID)
		}
		block, err := aes.NewCipher(key.Secret[:])
		if err != nil {
			return nil, err
		}
		if e.sealed[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// errClear refuses what came in clear: somebody without the keys sent it, or it is of before they were required.
var errClear = errors.New("a payload came in clear, and encryption is required here: give " + KeysEnv +
	" to the client that sent it, as the workers have it")

func (e *encryption) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		return &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingEncrypted),
				metadataKeyID: []byte(e.newest)},
			Data: e.sealed[e.newest].Seal(nil, nil, plain, []byte(e.newest)),
		}, nil
	})
}

func (e *encryption) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		if string(p.Metadata[converter.MetadataEncoding]) != encodingEncrypted {
			if e.only {
				return nil, errClear
			}
			return p, nil
		}
		id := string(p.Metadata[metadataKeyID])
		sealed := e.sealed[id]
		if sealed == nil {
			return nil, &KeyError{Key: id}
		}
		plain, err := sealed.Open(nil, nil, p.Data, []byte(id))
		if err != nil {
			return nil, &KeyError{Key: id, Differs: true}
		}
		opened := &commonpb.Payload{}
		return opened, proto.Unmarshal(plain, opened)
	})
}

// locked stands for encryption where there are no keys: it says what is missing.
type locked struct{}

func (locked) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) { return payloads, nil }

func (locked) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	for _, p := range payloads {
		if string(p.Metadata[converter.MetadataEncoding]) == encodingEncrypted {
			return nil, &KeyError{}
		}
	}
	return payloads, nil
}

func each(payloads []*commonpb.Payload, do func(*commonpb.Payload) (*commonpb.Payload, error)) ([]*commonpb.Payload,
	error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		var err error
		if out[i], err = do(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}
