package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// value is a JSON value to show: a string as its text, anything else indented.
type value struct {
	Text string
	// Fold is the beginning of a text that is long; empty for others.
	Fold string
	Size int // in characters
	// Cut says that the text is too long to be shown whole.
	Cut bool
}

// Sizes from which values are folded, and to which they are shown.
const (
	foldUnits = 400
	foldLines = 12
	showUnits = 100_000
)

func show(raw json.RawMessage) value {
	if len(raw) == 0 {
		return value{}
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || text == "" {
		text = indent(raw)
	}
	return showText(text)
}

func showText(text string) value {
	v := value{Text: signals.Visible(text), Size: len([]rune(text))}
	if v.Size > showUnits {
		v.Text, v.Cut = string([]rune(v.Text)[:showUnits]), true
	}
	if v.Size > foldUnits || strings.Count(text, "\n") > foldLines {
		v.Fold = signals.Cut(strings.Join(strings.Fields(v.Text[:min(len(v.Text), 1000)]), " "), 120)
	}
	return v
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// argument is one member of a call's argument.
type argument struct {
	Name string
	value
	// Hidden says that the name looks like that of a secret.
	Hidden bool
}

// arguments splits an object into its members, in their order; any other value is one without a name.
func arguments(raw json.RawMessage) []argument {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(signals.Mask(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return []argument{{value: show(raw)}}
	}
	list := []argument{}
	for d.More() {
		var member json.RawMessage
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&member)
		}
		if err != nil {
			return []argument{{value: show(raw)}}
		}
		v := show(member)
		list = append(list, argument{signals.Visible(fmt.Sprint(name)), v, v.Text == signals.Masked})
	}
	return list
}

// span tells a duration in one or two units.
func span(d time.Duration) string {
	switch d = d.Abs(); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}

// moment is a time for a page; scripts keep its words current.
type moment struct {
	Ms   int64
	ISO  string
	Text string
}

func at(ms int64) moment { return momentAt(ms, time.Now()) }

func momentAt(ms int64, now time.Time) moment {
	if ms == 0 {
		return moment{}
	}
	t := time.UnixMilli(ms)
	text := span(now.Sub(t)) + " ago"
	if t.After(now) {
		text = "in " + span(t.Sub(now))
	}
	return moment{ms, t.UTC().Format(time.RFC3339), text}
}
