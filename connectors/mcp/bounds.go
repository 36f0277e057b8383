package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
)

const (
	// defaultMaxAnswer is what OpenAPI's answers may take, too.
	defaultMaxAnswer = 8 << 20
	// maxRefusal bounds answers that HTTP says are none: their whole text becomes an error.
	maxRefusal = 64 << 10
	// mostSkipped is how many times the limit a message may take before it counts as one that never ends. Up to there
	// it is skipped, so that a connection that everybody shares is not lost by one answer.
	mostSkipped = 64
)

// tooLargeError is what a request gets whose answer was not kept.
type tooLargeError struct{ limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes: ask for less, by a filter or page by page", e.limit)
}

// answerTooLarge is a code that JSON-RPC leaves to implementations.
const answerTooLarge = -32099

func (c *connector) maxAnswer() int64 {
	if c.opts.MaxResponseBytes > 0 {
		return c.opts.MaxResponseBytes
	}
	return defaultMaxAnswer
}

// framing says where a message ends.
type framing int

const (
	lines  framing = iota // each line is a message
	events                // an empty line ends one, as in an event stream
	whole                 // there is one message
)

// bounded reads messages and passes them on as they come, so that nothing but their reader keeps them. It ends with the
// first message over the limit; where many requests share the stream it goes on: the rest of the message is skipped,
// and an error stands instead of it. What was passed on of such a message is no JSON, which readers leave out.
type bounded struct {
	r       io.Reader
	limit   int64
	framing framing
	shared  bool
	told    func() // of the message that ended the stream

	chunk []byte
	out   bytes.Buffer
	err   error
	size  int64 // of the message so far
	text  bool  // the line so far has more than its end
	cut   bool  // the message is over the limit
	scan  idScanner
}

const chunkBytes = 32 << 10

func (b *bounded) Read(p []byte) (int, error) {
	if b.chunk == nil {
		b.chunk = make([]byte, chunkBytes)
	}
	for b.out.Len() == 0 {
		if b.err != nil {
			return 0, b.err
		}
		n, err := b.r.Read(b.chunk)
		b.feed(b.chunk[:n])
		if b.err == nil {
			b.err = err
		}
	}
	return b.out.Read(p)
}

func (b *bounded) feed(chunk []byte) {
	for len(chunk) > 0 && b.err == nil {
		part := chunk
		if end := bytes.IndexByte(chunk, '\n'); end >= 0 && b.framing != whole {
			part = chunk[:end+1]
		}
		chunk = chunk[len(part):]
		b.pass(part)
	}
}

// pass takes a line, or a part of one.
func (b *bounded) pass(part []byte) {
	bare := bytes.TrimRight(part, "\r\n")
	b.text = b.text || len(bare) > 0
	b.size += int64(len(part))
	b.scan.write(bare)
	switch {
	case b.size <= b.limit:
		b.out.Write(part)
	case !b.shared || b.size > mostSkipped*b.limit:
		b.answer()
		b.err = &tooLargeError{b.limit}
		b.told()
		return
	case !b.cut:
		b.cut = true
		b.out.WriteString("\n\n") // an empty line is nothing to those who read lines
	}
	if part[len(part)-1] != '\n' { // the line goes on
		return
	}
	if b.framing == lines || !b.text {
		b.end()
	}
	b.text = false
}

// end ends a message.
func (b *bounded) end() {
	b.answer()
	b.size, b.cut, b.scan = 0, false, idScanner{}
}

// answer says to whom a message was the answer that there is none.
func (b *bounded) answer() {
	if b.cut && b.scan.id != nil && !b.scan.method {
		b.out.Write(b.instead())
	}
}

func (b *bounded) instead() []byte {
	text, _ := json.Marshal((&tooLargeError{b.limit}).Error())
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, b.scan.id, answerTooLarge, text)
	if b.framing == events {
		return []byte("data: " + answer + "\n\n")
	}
	return []byte(answer + "\n")
}

// idScanner finds the id of a JSON-RPC message without keeping the message. Servers write it before the result, or
// after.
type idScanner struct {
	id     []byte // as JSON
	method bool   // the message is no answer

	depth    int
	inString bool
	escaped  bool
	value    bool   // after a colon, in the message itself
	key      string // the member that the value is of
	word     []byte // the beginning of a text or value in the message itself
}

// maxID is longer than any id that is sent from here.
const maxID = 64

func (s *idScanner) write(text []byte) {
	for _, c := range text {
		if s.inString {
			s.inText(c)
			continue
		}
		switch c {
		case '"':
			s.inString = true
			s.word = s.word[:0]
			s.note(c)
		case '{', '[':
			s.depth++
		case '}', ']':
			s.ended()
			s.depth--
		case ',':
			s.ended()
		case ':':
			if s.depth == 1 {
				s.key, s.value, s.word = string(s.word), true, s.word[:0]
				s.method = s.method || s.key == `"method"`
			}
		case ' ', '\t':
		default:
			s.note(c)
		}
	}
}

func (s *idScanner) inText(c byte) {
	s.note(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
	}
}

func (s *idScanner) note(c byte) {
	if s.depth == 1 && len(s.word) <= maxID {
		s.word = append(s.word, c)
	}
}

// ended ends a member of the message.
func (s *idScanner) ended() {
	if s.depth != 1 {
		return
	}
	if s.value && s.key == `"id"` && len(s.word) <= maxID && json.Valid(s.word) {
		s.id = bytes.Clone(s.word)
	}
	s.value, s.word = false, s.word[:0]
}

// boundedWeb bounds what a server answers over HTTP, after decompression.
type boundedWeb struct {
	next  http.RoundTripper
	limit int64
	// shared says that all answers come in one event stream.
	shared bool
}

func (w *boundedWeb) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	if err != nil || response.Body == nil {
		return response, err
	}
	body := &boundedBody{Closer: response.Body}
	if response.StatusCode > 299 {
		body.Reader = io.LimitReader(response.Body, maxRefusal)
		response.Body = body
		return response, nil
	}
	bound := &bounded{r: response.Body, limit: w.limit, framing: whole, told: noteOf(request.Context()).tell}
	if media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); media == "text/event-stream" {
		bound.framing, bound.shared = events, w.shared
	}
	body.Reader = bound
	response.Body = body
	return response, nil
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// answerNote is left with a request's context, since transports do not pass on why they could not read an answer.
type answerNote struct{ tooLarge atomic.Bool }

type noteKey struct{}

func withNote(ctx context.Context) (context.Context, *answerNote) {
	note := &answerNote{}
	return context.WithValue(ctx, noteKey{}, note), note
}

func noteOf(ctx context.Context) *answerNote {
	if note, ok := ctx.Value(noteKey{}).(*answerNote); ok {
		return note
	}
	return &answerNote{}
}

func (n *answerNote) tell() { n.tooLarge.Store(true) }
