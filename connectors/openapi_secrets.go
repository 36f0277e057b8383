package connectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
)

// secrets hides what the operator configured, and the tokens got with it, from
// programs. It is safe for concurrent use.
type secrets struct {
	mu     sync.RWMutex
	known  map[string]string
	redact func(text string) string
}

// openHeaders say what is accepted, and may be as common as "application/json".
var openHeaders = wordSet(`accept accept-charset accept-encoding accept-language cache-control content-type prefer user-agent`)

func newSecrets(opts OpenAPIOptions) *secrets {
	s := &secrets{known: map[string]string{}}
	s.add()
	for _, headers := range []map[string]string{opts.Headers, opts.DocumentHeaders} {
		for name, value := range headers {
			if !openHeaders[strings.ToLower(name)] && !strings.HasSuffix(strings.ToLower(name), "-version") {
				s.add(value)
				_, token, _ := strings.Cut(value, " ")
				s.add(token)
			}
		}
	}
	for _, credential := range opts.Credentials {
		s.add(credential.Token, credential.Password, credential.ClientSecret)
		if credential.Password != "" || credential.Token != "" {
			s.add(credential.basic())
		}
	}
	for _, text := range []string{opts.BaseURL, opts.Document} {
		if u, err := url.Parse(text); err == nil && u.User != nil {
			password, ok := u.User.Password()
			if !ok {
				s.add(u.User.Username()) // a token
			}
			s.add(password, OpenAPICredential{Username: u.User.Username(), Password: password}.basic())
		}
	}
	return s
}

// add takes more secrets, in all the forms that they are written in.
func (s *secrets) add(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		quoted := quoteJSON(text)
		escaped, _ := json.Marshal(text)
		for _, form := range []string{
			text, url.QueryEscape(text), url.PathEscape(text), percentEncode(text, false),
			string(quoted[1 : len(quoted)-1]), string(escaped[1 : len(escaped)-1]),
		} {
			s.known[form] = form
		}
	}
	s.redact = newRedactor(s.known).apply
}

func (s *secrets) text(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.redact(text)
}

// hide takes secrets out of an error's text; its type is kept when it has none.
func (s *secrets) hide(err error) error {
	if text := err.Error(); s.text(text) != text {
		return errors.New(s.text(text))
	}
	return err
}

// json takes secrets out of the strings and numbers of compact JSON.
func (s *secrets) json(raw []byte) []byte {
	if s.text(string(raw)) == string(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	var out []byte
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = skipString(raw, i)
			out = append(out, s.scalar(raw[i:end], jsonText(raw[i:end]))...)
		case isNumber(raw[i:]):
			end = skipLiteral(raw, i)
			out = append(out, s.scalar(raw[i:end], string(raw[i:end]))...)
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

func (s *secrets) scalar(raw []byte, text string) []byte {
	if clean := s.text(text); clean != text {
		return quoteJSON(clean)
	}
	return bytes.Clone(raw)
}
