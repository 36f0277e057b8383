package config

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// configText is a scalar after its variables were filled in.
type configText struct {
	value    string
	expanded bool // value differs from the file and may be secret
}

// text reads a value that must be text.
func (r *reader) text(key string, n *yaml.Node) (configText, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.fail(n, "%s must be text, but is %s", key, r.hint(n))
		return configText{}, false
	}
	return r.expand(n)
}

func (r *reader) hint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value + "; put it in quotes"
	}
	return shown(n)
}

// scalar reads a value of which only the text matters, such as an argument or a port.
func (r *reader) scalar(key string, n *yaml.Node) (configText, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(n, "%s must be text, but is %s", key, shown(n))
		return configText{}, false
	}
	return r.expand(n)
}

var variable = regexp.MustCompile(`\$\$\{|\$\{([^}]*)(\}?)`)
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand fills in ${VARIABLES}; $${ is a literal ${.
func (r *reader) expand(n *yaml.Node) (configText, bool) {
	before := len(r.mistakes)
	value := variable.ReplaceAllStringFunc(n.Value, func(match string) string {
		found := variable.FindStringSubmatch(match)
		switch name := found[1]; {
		case match == "$${":
			return "${"
		case found[2] == "":
			r.fail(n, "%q has a ${ without a closing }; write $${ for a literal ${", n.Value)
		case !variableName.MatchString(name):
			r.fail(n, "%q is not an environment variable; write $${ for a literal ${", match)
		default:
			if value, ok := r.lookup(name); ok {
				r.expanded = append(r.expanded, value)
				return value
			}
			r.fail(n, "environment variable %s is not set", name)
		}
		return ""
	})
	return configText{value, value != n.Value}, len(r.mistakes) == before
}

// reject reports a value; what is wrong with it is told only if that cannot show what a variable stands for.
func (r *reader) reject(n *yaml.Node, t configText, format string, args ...any) {
	if t.expanded {
		r.fail(n, "%s is not valid after its environment variables were filled in", shown(n))
		return
	}
	r.fail(n, format, args...)
}

// bool reads true or false.
func (r *reader) bool(key string, n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!bool" || n.Tag == "!!str") {
		t, ok := r.expand(n)
		if !ok {
			return false
		}
		if value, err := strconv.ParseBool(t.value); err == nil && (n.Tag == "!!bool" || t.expanded) {
			return value
		}
	}
	r.fail(n, "%s must be true or false, but is %s", key, shown(n))
	return false
}

// choice reads one of a few words.
func choice[T any](r *reader, key string, n *yaml.Node, words map[string]T) T {
	var none T
	t, ok := r.text(key, n)
	if !ok {
		return none
	}
	value, ok := words[t.value]
	if !ok {
		r.fail(n, "%s must be %s, but is %s", key, wordList(words), shown(n))
	}
	return value
}

// count reads a whole number from 1 on: 0 would stand for the default.
func (r *reader) count(key string, n *yaml.Node) int {
	t, ok := r.quantity(key, n, "a whole number from 1 on")
	if !ok {
		return 0
	}
	value, err := strconv.ParseInt(strings.ReplaceAll(t.value, "_", ""), 10, 32)
	if err != nil || value < 1 {
		r.fail(n, "%s must be a whole number from 1 on, but is %s", key, shown(n))
	}
	return int(value)
}

// rate reads a number above 0.
func (r *reader) rate(key string, n *yaml.Node) float64 {
	t, ok := r.quantity(key, n, "a number above 0")
	if !ok {
		return 0
	}
	value, err := strconv.ParseFloat(t.value, 64)
	if err != nil || !(value > 0 && value <= math.MaxInt32) {
		r.fail(n, "%s must be a number above 0, but is %s", key, shown(n))
	}
	return value
}

const durationForm = "a duration such as 90s, 15m, 24h or 7d"

func (r *reader) duration(key string, n *yaml.Node) time.Duration {
	t, ok := r.quantity(key, n, durationForm)
	if !ok {
		return 0
	}
	value, err := parseDuration(t.value)
	if err != nil || value < time.Millisecond {
		r.fail(n, "%s must be %s, but is %s", key, durationForm, shown(n))
	}
	return value
}

// parseDuration knows days as well, since limits of executions are often so long.
func parseDuration(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseFloat(days, 64)
	if err == nil && (n < 0 || n > 36500 || math.IsNaN(n)) {
		err = strconv.ErrRange
	}
	return time.Duration(n * 24 * float64(time.Hour)), err
}

const sizeForm = "a size such as 512KiB, 256MiB or 1GiB"

func (r *reader) size(key string, n *yaml.Node) int64 {
	t, ok := r.quantity(key, n, sizeForm)
	if !ok {
		return 0
	}
	value, err := parseSize(t.value)
	if err != nil {
		r.fail(n, "%s must be %s, but is %s", key, sizeForm, shown(n))
	}
	return value
}

var (
	sizeText  = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)$`)
	sizeUnits = map[string]float64{"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 1e3,
		"mb": 1e6, "gb": 1e9}
)

func parseSize(text string) (int64, error) {
	parts := sizeText.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is no size", text)
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	unit, ok := sizeUnits[strings.ToLower(parts[2])]
	if size := n * unit; err == nil && ok && size >= 1 && size < 1<<50 {
		return int64(size), nil
	}
	return 0, fmt.Errorf("%q is no size", text)
}

func (r *reader) quantity(key string, n *yaml.Node, form string) (configText, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(n, "%s must be %s, but is %s", key, form, shown(n))
		return configText{}, false
	}
	return r.expand(n)
}

// path makes what looks like a path relative to the configuration, so that it works from any directory. A bare name is
// left to PATH.
func (r *reader) path(text string) string {
	if strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		return filepath.Join(r.dir, text)
	}
	return text
}
