package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/connectors/internal/redact"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// secrets hides what the operator configured, and the tokens got with it, from
// programs. It is safe for concurrent use.
type secrets struct {
	mu       sync.RWMutex
	known    map[string]string
	inErrors *redact.Redactor
	inData   *redact.Redactor // longer ones alone: ordinary words of an answer must stay
}

func newSecrets(opts Options) *secrets {
	s := &secrets{known: map[string]string{}}
	s.add(opts.Secrets...)
	for _, headers := range []map[string]string{opts.Headers, opts.DocumentHeaders} {
		for name, value := range headers {
			if web.Credential(name) {
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
			s.add(password, Credential{Username: u.User.Username(), Password: password}.basic())
		}
	}
	return s
}

// add takes more secrets, in all the forms that they are written in.
func (s *secrets) add(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		quoted := rawjson.Quote(text)
		escaped, _ := json.Marshal(text)
		for _, form := range []string{
			text, url.QueryEscape(text), url.PathEscape(text), web.PercentEncode(text, false),
			string(quoted[1 : len(quoted)-1]), string(escaped[1 : len(escaped)-1]),
		} {
			s.known[form] = form
		}
	}
	s.inErrors, s.inData = redact.New(s.known, redact.InErrors), redact.New(s.known, redact.InData)
}

// text takes secrets out of what is said of a call.
func (s *secrets) text(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.inErrors.Apply(text)
}

// data takes secrets out of what a server answered.
func (s *secrets) data(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.inData.Apply(text)
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
	if s.data(string(raw)) == string(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	var out []byte
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = rawjson.SkipString(raw, i)
			out = append(out, s.scalar(raw[i:end], rawjson.Text(raw[i:end]))...)
		case rawjson.IsNumber(raw[i:]):
			end = rawjson.SkipLiteral(raw, i)
			out = append(out, s.scalar(raw[i:end], string(raw[i:end]))...)
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

func (s *secrets) scalar(raw []byte, text string) []byte {
	if clean := s.data(text); clean != text {
		return rawjson.Quote(clean)
	}
	return bytes.Clone(raw)
}
