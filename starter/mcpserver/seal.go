package mcpserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/temporal-codemode/codemode/signals"
)

// asked is what a client carries from a question to its answer, sealed. The answer counts for these calls of this
// execution, from this caller, on this request, and for a while.
type asked struct {
	Execution string      `json:"execution"`
	Calls     []askedCall `json:"calls"`
	Left      []string    `json:"left,omitempty"` // keys that the person has left undecided before
	Principal string      `json:"principal"`
	Request   string      `json:"request"`
	Expires   int64       `json:"expires"`
}

// askedCall is a call as it was shown.
type askedCall struct {
	Key    string `json:"key"`
	Seq    int    `json:"seq"`
	Digest string `json:"digest"`
}

// questionTime is how long an answer to a question is taken. Who takes longer is asked anew, by the execution's id.
const questionTime = time.Hour

// sealer seals what clients carry. Whoever has the same secret can open it.
type sealer struct{ cipher.AEAD }

const sealInfo = "codemode mcp requestState 1"

func newSealer(secret []byte) (sealer, error) {
	if len(secret) == 0 {
		secret = []byte(rand.Text())
	}
	key, err := hkdf.Key(sha256.New, secret, nil, sealInfo, 32)
	if err != nil {
		return sealer{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func (s sealer) close(a asked) (string, error) {
	text, err := signals.Marshal(a)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.Seal(nil, nil, text, []byte(sealInfo))), nil
}

// errState refuses what no door with this secret has sealed, or for something else.
func errState(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: " + message}
}

// open opens what was sealed for a principal and a request.
func (s sealer) open(sealed, principal, request string, now time.Time) (a asked, err error) {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil {
		text, err = s.Open(nil, nil, text, []byte(sealInfo))
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	switch {
	case err != nil:
		return asked{}, errState("it was not made here, or was changed; nothing was decided. Doors take each other's " +
			"where they have the same secret. Ask for the outcome by executionId to be asked again")
	case a.Principal != principal:
		return asked{}, errState("it belongs to another caller; nothing was decided")
	case a.Request != request:
		return asked{}, errState("it belongs to another request: repeat the one that was answered with a question")
	case now.UnixMilli() > a.Expires:
		return asked{}, errState("the answer came too late, so nothing was decided. Ask for the outcome of " +
			a.Execution + " to be asked again")
	}
	return a, nil
}
