// Package redact takes secrets out of texts that programs, models and logs may see.
//
// Its rule: what is shown is cut only after the secrets are out of it, since a part of one would not be recognized.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// The lengths from which a value counts as a secret. Hiding shorter ones would garble texts and protect nothing: errors
// can bear more of that than data.
const (
	InErrors = 4
	InData   = 6
)

// Redactor hides secrets.
type Redactor struct{ replace *strings.Replacer }

// New makes a redactor of values that are at least so long.
func New(env map[string]string, least int) *Redactor {
	var secrets []string
	for _, value := range env {
		secrets = append(secrets, value)
		secrets = append(secrets, strings.Split(value, "\n")...)
	}
	// At each place the first match wins, so the longest comes first.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, secret := range slices.Compact(secrets) {
		if len(strings.TrimSpace(secret)) >= least {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	return &Redactor{replace: strings.NewReplacer(pairs...)}
}

func (r *Redactor) Apply(text string) string { return r.replace.Replace(text) }
