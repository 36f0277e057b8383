package signals

import (
	"fmt"
	"strings"
)

// PreflightMode is what follows from mistakes that are found before a program runs.
type PreflightMode string

// The modes. Without one it is PreflightStop.
const (
	PreflightStop PreflightMode = "stop" // a program that would certainly fail is stopped before its first call
	PreflightDeny PreflightMode = "deny" // every mistake stops it
	PreflightHint PreflightMode = "hint" // none does
	PreflightOff  PreflightMode = "off"  // nothing is looked for
)

// Preflight is what was found before the program ran.
type Preflight struct {
	Hints []Hint `json:"hints,omitempty"`
	// Program is nil where the text was not looked at.
	Program *Program `json:"program,omitempty"`
}

// Checked is the answer of a catalogue that was asked about a program.
type Checked struct {
	Preflight
	// Error is why the program would not be run: it cannot be compiled, or preflight stops it.
	Error    string    `json:"error,omitempty"`
	Position *Position `json:"position,omitempty"`
}

// The kinds of hints.
const (
	HintConnector = "unknown connector"
	HintMethod    = "unknown method"
	HintArgument  = "argument"
	HintField     = "unknown field"
	HintAwait     = "not awaited"
	HintWrites    = "writes without a bound"
	HintEndless   = "endless loop"
)

// Hint is a mistake that the text of a program shows.
type Hint struct {
	Kind     string    `json:"kind"`
	Message  string    `json:"message"`
	Position *Position `json:"position,omitempty"`
	// Near are names that may have been meant, the closest first.
	Near []string `json:"near,omitempty"`
	// Signature is how the method is called.
	Signature string `json:"signature,omitempty"`
	// Certain says that no run of the program gets past it.
	Certain bool `json:"certain,omitempty"`
}

// Program is what the text of a program shows of what it is about to do. The text is the program's own: it may do more
// than can be told, and less.
type Program struct {
	// Methods are those that it calls, by connector and name, and as many as fit.
	Methods []ProgramMethod `json:"methods"`
	// Writes counts the places that call what is no read, WritesInLoops those of them that may repeat, Approvals those
	// that a person may have to approve.
	Writes        int `json:"writes"`
	WritesInLoops int `json:"writesInLoops"`
	Approvals     int `json:"approvals"`
	// Partial says that it may call more than is counted here.
	Partial bool `json:"partial,omitempty"`
}

// ProgramMethod is a method that a program calls.
type ProgramMethod struct {
	Connector string `json:"connector"`
	Method    string `json:"method"`
	Class     Class  `json:"class"`
	// Approval says that a person may have to approve it.
	Approval bool `json:"approval,omitempty"`
	// Places is where in the text it is called, AtLeast how often in each run that gets to the program's end, Loops
	// whether it may repeat.
	Places  int  `json:"places"`
	AtLeast int  `json:"atLeast,omitempty"`
	Loops   bool `json:"loops,omitempty"`
}

// Bounds of what is kept with an execution.
const (
	MaxHints          = 10
	MaxProgramMethods = 40
)

// String is the hint on one line.
func (h Hint) String() string {
	text := h.Message
	if h.Position != nil {
		text = fmt.Sprintf("%d:%d %s", h.Position.Line, h.Position.Column, text)
	}
	if h.Signature != "" {
		text += " — " + h.Signature
	}
	return text
}

// String tells people what a program is about to do.
func (p Program) String() string {
	var names []string
	for _, m := range p.Methods {
		name := m.Connector + "." + m.Method
		if m.Places > 1 {
			name += fmt.Sprintf(" at %d places", m.Places)
		}
		if m.Loops {
			name += " in a loop"
		}
		if m.Class != Read {
			names = append(names, name)
		}
	}
	text := "only reads"
	if len(names) > 0 {
		text = "may write: " + strings.Join(names, ", ")
	}
	if p.Approvals > 0 {
		text += fmt.Sprintf("; %d of its calls may need approval", p.Approvals)
	}
	if p.Partial {
		text += "; it may do more than its text shows"
	}
	return text
}
