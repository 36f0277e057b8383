// Package redact takes secrets out of texts that programs, models and logs may see.
//
// Its rule: what is shown is cut only after the secrets are out of it, since a part of one would not be recognized.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// minSecret is the length from which an environment value counts as a secret;
// hiding shorter ones would garble errors and protect nothing.
const minSecret = 4

// Redactor hides the values of a configured environment.
type Redactor struct{ replace *strings.Replacer }

func New(env map[string]string) *Redactor {
	var secrets []string
	for _, value := range env {
		secrets = append(secrets, value)
		secrets = append(secrets, strings.Split(value, "\n")...)
	}
	// At each place the first match wins, so the longest comes first.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, secret := range slices.Compact(secrets) {
		if len(strings.TrimSpace(secret)) >= minSecret {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	return &Redactor{replace: strings.NewReplacer(pairs...)}
}

func (r *Redactor) Apply(text string) string { return r.replace.Replace(text) }
