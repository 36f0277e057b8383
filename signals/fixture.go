package signals

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Fixture is a record without its secrets, for tests: values under keys that look like secrets are masked, and so are
// they wherever else they stand, in the program too, and what reads like a token of a known form.
func Fixture(r Record) (Record, error) {
	text, err := Marshal(r)
	if err != nil {
		return Record{}, err
	}
	masked := MaskValues(text)
	var fixture Record
	return fixture, json.Unmarshal(masked, &fixture)
}

// knownTokens are forms of secrets that say of themselves what they are.
var knownTokens = regexp.MustCompile(`(?:sk|pk|rk|whsec)_[A-Za-z0-9_]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|` +
	`github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|` +
	`eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|[Bb]earer\s+[\w.~+/=-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*`)

// shortestSecret is in bytes: shorter values are too common to be masked where no key says what they are.
const shortestSecret = 6

// MaskValues is Mask for what leaves the records: each masked text is masked everywhere.
func MaskValues(raw json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw
	}
	secrets := secretsIn(v, false, nil)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // what holds another goes first
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, Masked)
	}
	hide := strings.NewReplacer(pairs...)
	text, err := Marshal(replaceTexts(mask(v), func(s string) string {
		return knownTokens.ReplaceAllString(hide.Replace(s), Masked)
	}))
	if err != nil {
		return raw
	}
	return text
}

// secretsIn lists the texts under keys that look like secrets.
func secretsIn(v any, secret bool, found []string) []string {
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore the secrets are sorted after this
		for key, item := range v {
			found = secretsIn(item, secret || looksSecret(key), found)
		}
	case []any:
		for _, item := range v {
			found = secretsIn(item, secret, found)
		}
	case string:
		if secret && len(v) >= shortestSecret {
			found = append(found, v)
		}
	}
	return found
}

func replaceTexts(v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		all := make(map[string]any, len(v))
		//workflowcheck:ignore each value is replaced under its own key, in whatever order
		for key, item := range v {
			all[replace(key)] = replaceTexts(item, replace)
		}
		return all
	case []any:
		for i, item := range v {
			v[i] = replaceTexts(item, replace)
		}
	case string:
		return replace(v)
	}
	return v
}
