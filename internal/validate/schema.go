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

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const schemaURL = "mem:///arguments.json"

// drafts are tried in turn for schemas that do not name theirs: much of what is
// served as the newest is written in an older form.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// Compile gives nil for a schema that accepts everything.
func Compile(raw json.RawMessage) (*Compiled, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	switch size := rawjson.Measure(raw); {
	case rawjson.HasHugeNumber(raw), size.Digits > maxDigits:
		return nil, errors.New("a number in it is out of range")
	case size.Elements > maxSchemaElements, size.Depth > maxDepth:
		return nil, errTooLarge
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	var first error
	for _, draft := range drafts {
		schema, err := compileAs(draft, doc)
		if err == nil {
			return schema, nil
		}
		if errors.Is(err, errTooLarge) {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func compileAs(draft *jsonschema.Draft, doc any) (*Compiled, error) {
	compiled := &Compiled{meter: &meter{}}
	patterns := &patterns{meter: compiled.meter}
	var met census
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patterns.compile)
	for _, name := range knownFormats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	met.of(c)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	var err error
	if compiled.schema, err = c.Compile(schemaURL); err != nil {
		return nil, err
	}
	compiled.meter.meterAll(append(met.named, compiled.schema))
	return compiled, nil
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

// Problems lists what is wrong with plain JSON, in a stable order.
func Problems(schema *Compiled, plain json.RawMessage) []string {
	if problem := Shape(plain); problem != "" {
		return []string{problem}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return []string{"arguments are not valid JSON"}
	}
	err, checked := schema.check(doc, plain)
	var invalid *jsonschema.ValidationError
	switch {
	case !checked:
		return []string{problemTooCostly}
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return problemTexts(doc, problemsOf(invalid))
	}
	return []string{err.Error()}
}
