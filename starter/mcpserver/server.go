package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/version"
	"github.com/temporal-codemode/codemode/signals"
)

// Surface is what tools a server offers.
type Surface string

// The surfaces.
const (
	Codemode Surface = "codemode"
	UTCP     Surface = "utcp"
	Direct   Surface = "direct"
)

// Surfaces are all of them.
var Surfaces = []Surface{Codemode, UTCP, Direct}

// Elicit says whether approvals are asked for at clients. What a client answers is its answer: software may give it
// without any person.
type Elicit string

// The choices. The zero value asks.
const (
	ElicitAsk   Elicit = "ask"
	ElicitNever Elicit = "never"
)

// Runtime runs programs: a codemode.Client, or a local.Runner.
type Runtime interface {
	Execute(ctx context.Context, code string, o codemode.ExecuteOptions) (signals.Outcome, error)
	Tool(ctx context.Context, o codemode.ToolOptions) (signals.Tool, error)
	Method(ctx context.Context, connector, method string) (*signals.Method, error)
	Methods(ctx context.Context) ([]signals.Method, error)
	Ask(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error)
}

// Durable is a Runtime whose executions outlive the call that started them, so that they can be waited for and decided.
type Durable interface {
	Runtime
	Wait(ctx context.Context, id string, after int) (signals.Outcome, error)
	Decide(ctx context.Context, id string, m signals.Message) (signals.Verdict, error)
	Pending(ctx context.Context, id string) ([]signals.PendingAction, error)
	Standing(ctx context.Context, id string) (codemode.Standing, error)
	Progress(ctx context.Context, id string) (codemode.Progress, error)
	RequestCancel(ctx context.Context, id string, by signals.Cancellation) (bool, error)
	Cancel(ctx context.Context, id string, by signals.Cancellation) (bool, error)
}

// Options of a server. Only Runtime is required.
type Options struct {
	Runtime Runtime
	// Surface is what tools there are; empty is Codemode.
	Surface Surface
	// Tool changes the description of the codemode tool.
	Tool codemode.ToolOptions
	// Tokens is the budget of what a model is given as text; 0 is 6,000.
	Tokens int
	// Wait is how long a tool call waits for an execution before it answers that this is still running, so that clients
	// with a limit of their own learn its id; 0 is 55 s. Waiting for a person does not count.
	Wait time.Duration
	// AnswerChars is how many characters (code points) an answer of the surface UTCP may have, since RLM cuts off what
	// is longer; 0 is 11,500.
	AnswerChars int
	// CallLimit bounds the time that a program of the surface UTCP asks for; 0 is 27 s. The answer comes a second
	// later at most, and RLM waits for 30.
	CallLimit time.Duration
	// Elicit says whether people are asked at their clients.
	Elicit Elicit
	// By is who starts executions, and decides when a person answers at the client, where that came without a token.
	By string
	// HowToDecide tells a model, for an execution, how a person decides; empty says that the approval inbox does.
	HowToDecide func(executionID string) string
	// Console is the page of an execution in the console. Clients that open addresses for people are sent there with
	// what cannot be decided at the client; nil sends nobody.
	Console func(executionID string) string
	// Secret seals what clients carry between a question and its answer: doors that share it take each other's answers.
	// Empty is one of this process alone.
	Secret []byte
}

func (o Options) withDefaults() Options {
	o.Surface = cmp.Or(o.Surface, Codemode)
	o.Tokens = cmp.Or(o.Tokens, 6000)
	o.Wait = cmp.Or(o.Wait, 55*time.Second)
	o.AnswerChars = cmp.Or(o.AnswerChars, 11_500)
	o.CallLimit = cmp.Or(o.CallLimit, 27*time.Second)
	if o.HowToDecide == nil {
		o.HowToDecide = func(string) string { return "in the approval inbox" }
	}
	return o
}

// door is a server with what its tools need.
type door struct {
	Options
	mcp  *mcp.Server
	seal sealer
	// starts are counted for callers with a quota.
	starts starts
	// givesTasks says that executions outlive calls here, and that clients of the surface may know what tasks are.
	givesTasks bool
}

// Server is an MCP server, and what the doors do beside the library.
type Server struct {
	*mcp.Server
	tasks *door // nil gives no tasks
}

// Plain is a server that gives no tasks.
func Plain(s *mcp.Server) *Server { return &Server{Server: s} }

// New makes a server of the surface. It asks the runtime for its methods if the surface is Direct.
func New(ctx context.Context, o Options) (*Server, error) {
	d := &door{Options: o.withDefaults()}
	var err error
	if d.seal, err = newSealer(d.Secret); err != nil {
		return nil, err
	}
	name, can := "codemode", &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if d.Surface == UTCP {
		name = "CodeMode-MCP"
	}
	_, lasts := d.Runtime.(Durable)
	d.givesTasks = lasts && d.Surface != UTCP
	if d.givesTasks {
		can.AddExtension(tasksExtension, nil)
	}
	d.mcp = mcp.NewServer(&mcp.Implementation{Name: name, Version: version.Number},
		&mcp.ServerOptions{Capabilities: can, PageSize: math.MaxInt32 - 1}) // pages go by size, see paging
	d.mcp.AddReceivingMiddleware(paging)
	d.mcp.AddSendingMiddleware(keepingAnswers)
	switch d.Surface {
	case Codemode:
		d.mcp.AddReceivingMiddleware(d.describing)
		d.mcp.AddTool(d.codemodeTool(), d.runProgram)
	case UTCP:
		d.addUTCP()
	case Direct:
		err = d.addMethods(ctx)
	default:
		err = fmt.Errorf("there is no surface %q; there are %v", d.Surface, Surfaces)
	}
	if err != nil || !d.givesTasks {
		return Plain(d.mcp), err
	}
	return &Server{d.mcp, d}, d.addTasks()
}
