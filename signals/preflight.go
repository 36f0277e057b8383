package signals

// PreflightMode is what follows from mistakes that are found before a program runs.
type PreflightMode string

// The modes. The zero value, PreflightStop, stops a program before its first call if it would certainly have failed.
const (
	PreflightStop PreflightMode = ""
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
