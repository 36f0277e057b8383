package signals

import "encoding/json"

// CatalogueActivity answers clients, which know no connectors: its argument is a CatalogueInput, its result what a
// program gets from codemode.search or codemode.describe, or a Tool. CatalogueWorkflow runs it for servers without
// standalone activities.
const (
	CatalogueActivity = "codemode.Catalogue"
	CatalogueWorkflow = "codemode.Catalogue"
)

// Kinds of questions to the catalogue.
const (
	CatalogueSearch   = "search"
	CatalogueDescribe = "describe"
	CatalogueTool     = "tool"    // a Tool
	CatalogueMethod   = "method"  // a Method, null where there is none of the name Target
	CatalogueMethods  = "methods" // Methods
	CatalogueCheck    = "check"   // Checked
	// CatalogueValue asks whether the method Target takes Args, or may have given Result: "" or what is wrong.
	CatalogueValue = "value"
)

// Questions in UTCP's words, which programs of the synchronous mode ask, too.
const (
	CatalogueUTCPSearch     = "utcp.search"
	CatalogueUTCPList       = "utcp.list"
	CatalogueUTCPInfo       = "utcp.info"
	CatalogueUTCPKeys       = "utcp.keys"
	CatalogueUTCPInterface  = "utcp.interface"
	CatalogueUTCPInterfaces = "utcp.interfaces"
)

// CatalogueInput is a question to the catalogue. Which fields count depends on the kind.
type CatalogueInput struct {
	Kind      string `json:"kind,omitempty"`
	Runtime   string `json:"runtime,omitempty"`
	Query     string `json:"query,omitempty"`
	Connector string `json:"connector,omitempty"`
	Limit     int    `json:"limit,omitempty"`
	Target    string `json:"target,omitempty"`
	// Names are tools, Most is how many of them (nil: the default, 0: all), and Budget is the size of the answer in
	// characters, in UTCP's questions.
	Names  []string `json:"names,omitempty"`
	Most   *int     `json:"most,omitempty"`
	Budget int      `json:"budget,omitempty"`
	// From is how many methods earlier pages gave.
	From int `json:"from,omitempty"`
	// Code is the program to check.
	Code string `json:"code,omitempty"`
	// Description replaces the tool's text; Hints, by connector, go before the worker's own.
	Description string            `json:"description,omitempty"`
	Hints       map[string]string `json:"hints,omitempty"`
	// Args, or else Result, is what a person wrote, to be checked.
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// Method is what a client may know of a connector's method: enough to make a form for its arguments.
type Method struct {
	Connector        string `json:"connector"`
	Method           string `json:"method"`
	Description      string `json:"description,omitempty"`
	Class            Class  `json:"class"`
	RequiresApproval bool   `json:"requiresApproval,omitempty"` // of some calls at least
	Revertable       bool   `json:"revertable,omitempty"`
	// InputSchema is the JSON Schema that arguments are validated against; missing where there is none, or a huge one.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// Methods is one page of all methods. The next page starts From Next, if that is not 0.
type Methods struct {
	Methods []Method `json:"methods"`
	Next    int      `json:"next,omitempty"`
}

// ToolName is the name of the one tool that models are given.
const ToolName = "codemode"

// Tool is how a model is offered codemode: the name, description and JSON Schema of its one tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}
