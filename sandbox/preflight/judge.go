package preflight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Catalogue is what a program can call, as data.
type Catalogue interface {
	// Names are those of the connectors.
	Names() []string
	// Known says that the methods of a connector can be told now.
	Known(connector string) bool
	// Method finds a method; its error is what a call of it would fail with.
	Method(connector, method string) (*Method, error)
	// Methods names the methods of a connector that programs may know of.
	Methods(connector string) []string
}

// Method is one of them.
type Method struct {
	Class    signals.Class
	Assumed  bool // nobody told the class
	Approval bool // a person may have to approve
	// Input and Output are JSON Schemas, empty for anything; Definitions is where their references lead.
	Input       func() json.RawMessage
	Output      json.RawMessage
	Definitions func() json.RawMessage
	// Validate checks arguments, in the words with which a call would be refused.
	Validate  func(args json.RawMessage) error
	Signature func() string
	Mode      signals.PreflightMode // for mistakes about this method, if not that of the runtime
}

// Report is what a survey comes to.
type Report struct {
	signals.Preflight
	// Stop is why the program is not to be run; nil if it may.
	Stop *sandbox.Failure
}

type judge struct {
	*Survey
	catalogue Catalogue
	mode      signals.PreflightMode
	report    Report
	methods   []*Method // of the uses; nil of those that are unknown
	types     map[int]shape
	seen      map[string]bool
}

// Judge compares what a program's text says with what there is.
func (s *Survey) Judge(c Catalogue, mode signals.PreflightMode) Report {
	j := &judge{Survey: s, catalogue: c, mode: cmp.Or(mode, signals.PreflightStop),
		methods: make([]*Method, len(s.Uses)), types: map[int]shape{},
		seen: map[string]bool{}}
	if mode == signals.PreflightOff || s.Failure != nil {
		return j.report
	}
	for i := range s.Uses {
		j.use(i)
	}
	for _, f := range s.Reads {
		j.read(f)
	}
	for _, n := range s.Notes {
		j.noted(n)
	}
	j.count()
	hints := j.report.Hints
	slices.SortStableFunc(hints, func(a, b signals.Hint) int {
		return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
	})
	j.report.Hints = hints[:min(len(hints), signals.MaxHints)]
	return j.report
}

// modeOf is what follows from mistakes about a method.
func (j *judge) modeOf(m *Method) signals.PreflightMode {
	if m != nil && m.Mode != "" {
		return m.Mode
	}
	return j.mode
}

// hint reports a mistake. thrown is what the program would end with, where it would for certain.
func (j *judge) hint(h signals.Hint, m *Method, thrown string) {
	mode := j.modeOf(m)
	key := fmt.Sprint(h.Kind, h.Position.Line, h.Position.Column, h.Message)
	if mode == signals.PreflightOff || j.seen[key] {
		return
	}
	j.seen[key] = true
	h.Certain = thrown != ""
	if h.Message = signals.Cut(h.Message, maxMessage); m != nil && m.Signature != nil && h.Kind != signals.HintAwait &&
		h.Kind != signals.HintWrites {
		h.Signature = signals.Cut(m.Signature(), maxSignature)
	}
	j.report.Hints = append(j.report.Hints, h)
	switch {
	case j.report.Stop != nil:
	case thrown != "" && mode != signals.PreflightHint && (mode == signals.PreflightDeny || j.worthwhile()):
		j.report.Stop = &sandbox.Failure{Kind: sandbox.Thrown, Message: thrown, Position: h.Position}
	case mode == signals.PreflightDeny:
		j.report.Stop = &sandbox.Failure{Kind: sandbox.Thrown, Position: h.Position,
			Message: h.Message + " (the program was not run: preflight is deny)"}
	}
}

// worthwhile reports whether stopping the program keeps anything from being made: one whose only call is the mistake
// fails of it by itself, and so that what it prints before is not lost.
func (j *judge) worthwhile() bool {
	calls := 0
	for _, u := range j.Uses {
		if !u.Reference {
			calls++
		}
	}
	return calls > 1 || j.Partial
}

// Bytes of what a hint says.
const (
	maxMessage   = 500
	maxSignature = 400
)

func (j *judge) use(i int) {
	u := &j.Uses[i]
	switch {
	case u.Name == sandbox.PlatformConnector:
		j.platform(u)
	case !slices.Contains(j.catalogue.Names(), u.Name):
		j.unknownConnector(u)
	case !j.catalogue.Known(u.Name):
		j.Partial = true
	default:
		m, err := j.catalogue.Method(u.Name, u.Method)
		if err != nil {
			j.unknownMethod(u, err)
			return
		}
		j.methods[i] = m
		if !u.Reference {
			j.arguments(u, m)
		}
		if u.Loop == Open && m.Class != signals.Read && !m.Assumed {
			j.hint(signals.Hint{Kind: signals.HintWrites, Position: u.At,
				Message: fmt.Sprintf("%s.%s writes in a loop that nothing bounds: "+
					"count its rounds, or loop over a list", u.Name, u.Method)}, m, "")
		}
	}
}

// Platform names what a program can ask codemode itself.
var platform = words.Set("search describe run step sleep")

func (j *judge) platform(u *Use) {
	if platform[u.Method] {
		return
	}
	near := words.Nearest(u.Method, []string{"search", "describe", "run", "step", "sleep"})
	thrown := ""
	if u.Fatal {
		thrown = signals.ToolNotFound(u.Method, "")
	}
	j.hint(signals.Hint{Kind: signals.HintMethod, Position: u.At, Near: near,
		Message: fmt.Sprintf("codemode has no method %q: it has search, describe, run, step and sleep", u.Method)},
		nil, thrown)
}

func (j *judge) unknownConnector(u *Use) {
	names := j.catalogue.Names()
	message := fmt.Sprintf("%s is not defined", u.Name)
	thrown := ""
	if u.Always && !u.Guarded && !u.Reference {
		thrown = message + sandbox.OnlyGlobals(names)
	}
	near := words.Nearest(u.Name, append(slices.Clone(names), sandbox.PlatformConnector))
	j.hint(signals.Hint{Kind: signals.HintConnector, Position: u.At, Near: near,
		Message: message + suggestion(near)}, nil, thrown)
}

func (j *judge) unknownMethod(u *Use, err error) {
	thrown := ""
	if u.Fatal {
		thrown = err.Error()
	}
	near := words.Nearest(u.Method, j.catalogue.Methods(u.Name))
	instead := suggestion(near)
	if instead == "" {
		instead = ": find it with codemode.search"
	}
	h := signals.Hint{Kind: signals.HintMethod, Position: u.At, Near: near,
		Message: fmt.Sprintf("%s has no method %q%s", u.Name, u.Method, instead)}
	if len(near) > 0 {
		if m, err := j.catalogue.Method(u.Name, near[0]); err == nil && m.Signature != nil {
			h.Signature = signals.Cut(m.Signature(), maxSignature)
		}
	}
	j.hint(h, nil, thrown)
}

func suggestion(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return ". Did you mean " + strings.Join(near, " or ") + "?"
}

func (j *judge) noted(n Note) {
	if n.Kind == Endless {
		j.hint(signals.Hint{Kind: signals.HintEndless, Position: n.At,
			Message: "this loop never ends: nothing in it breaks, returns or changes its condition"}, nil, "")
		return
	}
	u, m := j.Uses[n.Use-1], j.methods[n.Use-1]
	if n.Into > 0 && j.methods[n.Into-1] == nil {
		return // what that does with a promise cannot be told
	}
	if m == nil && (u.Name != sandbox.PlatformConnector || !platform[u.Method]) {
		return // what it returns cannot be told
	}
	path := u.Name + "." + u.Method
	message := map[NoteKind]string{
		Dropped: "nothing awaits this call of %s: write await before it, or its result and its errors are lost",
		Taken:   "%s gives a promise, and this uses it without await",
		Listed:  "these are promises of %s, not results: write await Promise.all(…) around the list",
	}[n.Kind]
	j.hint(signals.Hint{Kind: signals.HintAwait, Position: n.At, Message: fmt.Sprintf(message, path)}, m, "")
}

// count tells what the program is about to do.
func (j *judge) count() {
	p := &signals.Program{Methods: []signals.ProgramMethod{}, Partial: j.Partial}
	at := map[string]int{}
	for i, m := range j.methods {
		if m == nil {
			continue
		}
		u := j.Uses[i]
		if m.Class != signals.Read {
			p.Writes++
			if u.Loop != Once {
				p.WritesInLoops++
			}
		}
		if m.Approval {
			p.Approvals++
		}
		k, seen := at[u.Name+"."+u.Method]
		if !seen {
			if len(p.Methods) == signals.MaxProgramMethods {
				p.Partial = true
				continue
			}
			k = len(p.Methods)
			at[u.Name+"."+u.Method] = k
			p.Methods = append(p.Methods, signals.ProgramMethod{Connector: u.Name, Method: u.Method, Class: m.Class,
				Approval: m.Approval})
		}
		entry := &p.Methods[k]
		entry.Places++
		if u.Always && !u.Reference {
			entry.AtLeast++
		}
		entry.Loops = entry.Loops || u.Loop != Once
	}
	j.report.Program = p
}
