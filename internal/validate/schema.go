// Package validate checks JSON values by JSON Schemas, and words what is wrong so that a model can act on it.
//
// Its rule: schemas are written by strangers, so no reference leads out of one, and what cannot be checked is let
// through.
package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const schemaURL = "mem:///arguments.json"

// drafts are tried in turn for schemas that do not name theirs: much of what is
// served as the newest is written in an older form.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// Compile gives nil for a schema that accepts everything.
func Compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	if rawjson.HasHugeNumber(raw) {
		return nil, errors.New("a number in it is out of range")
	}
	var first error
	for _, draft := range drafts {
		schema, err := compileAs(draft, doc)
		if err == nil {
			return schema, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func compileAs(draft *jsonschema.Draft, doc any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(lenientRegexp)
	for _, name := range knownFormats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// noLoader keeps schemas, which strangers write, away from files and the network.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references outside the schema are not followed")
}

// knownFormats are left to the method itself: its idea of an address or a time
// may be wider than the library's.
var knownFormats = []string{
	"date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri",
	"iri-reference", "json-pointer", "period", "relative-json-pointer", "semver", "time", "uri",
	"uri-reference", "uri-template", "uuid",
}

// lenientRegexp accepts every string where a pattern uses what only JavaScript
// has, such as lookahead: refusing the whole schema would check nothing at all.
func lenientRegexp(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return anyString(pattern), nil
	}
	return re, nil
}

type anyString string

func (anyString) MatchString(string) bool { return true }
func (p anyString) String() string        { return string(p) }

// Problems lists what is wrong with plain JSON, in a stable order.
func Problems(schema *jsonschema.Schema, plain json.RawMessage) []string {
	if rawjson.HasHugeNumber(plain) {
		return []string{"a number is out of range"}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return []string{"arguments are not valid JSON"}
	}
	err = schema.Validate(doc)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return problemTexts(doc, problemsOf(invalid))
	}
	return []string{err.Error()}
}
