package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
)

// Bounds of a survey: a larger program, or one that takes longer, is passed over.
const (
	mostCode = 64 << 10
	patience = time.Second
)

// Result is a survey as an executor's sandbox hands it back: the value of a pass that ran nothing.
func Result(pass sandbox.Pass) (result sandbox.Result) {
	defer func() {
		if thrown := recover(); thrown != nil { // a survey must not be what ends a sandbox
			result = crashed(fmt.Sprint(thrown))
		}
	}()
	tree, failure := compile.Parse(pass.Code, pass.Modules)
	if failure != nil {
		return sandbox.Result{End: sandbox.Failed, Failure: failure}
	}
	text, err := json.Marshal(Read(tree))
	if err != nil {
		return crashed(err.Error())
	}
	return sandbox.Result{End: sandbox.Completed, Value: text}
}

func crashed(why string) sandbox.Result {
	return sandbox.Result{End: sandbox.Failed, Failure: &sandbox.Failure{Kind: sandbox.Crashed, Message: why}}
}

// Through has an executor that knows [sandbox.Pass.Survey] make a survey. It gives none of a program that is too large.
func Through(ctx context.Context, x sandbox.Executor, pass sandbox.Pass) (*Survey, error) {
	if len(pass.Code) > mostCode || pass.Synchronous {
		return nil, nil
	}
	limits := sandbox.Limits{Timeout: patience}
	r, err := x.Run(ctx, sandbox.Pass{Survey: true, Code: pass.Code, Modules: pass.Modules,
		Connectors: pass.Connectors, Limits: limits}, nobody{})
	switch {
	case err != nil:
		return nil, err
	case r.Failure != nil:
		return &Survey{Failure: r.Failure, Partial: true}, nil
	case r.End != sandbox.Completed:
		return nil, nil
	}
	s := &Survey{}
	if json.Unmarshal(r.Value, s) != nil || !s.sound() {
		return nil, nil
	}
	return s, nil
}

// sound checks what a sandbox says, which a program before this one may have taken over.
func (s *Survey) sound() bool {
	if len(s.Uses) > mostUses+1 || len(s.Reads) > mostReads+1 || len(s.Values) > mostNodes {
		return false
	}
	for _, u := range s.Uses {
		if u.At == nil || len(u.Name) > sandbox.MaxName || len(u.Method) > sandbox.MaxName {
			return false
		}
	}
	for i, v := range s.Values {
		if v.Kind == ResultOf && (v.Of < 1 || v.Of > len(s.Uses)) || v.Kind != ResultOf && (v.Of < 1 || v.Of > i) {
			return false
		}
	}
	for _, f := range s.Reads {
		if f.At == nil || f.Of < 1 || f.Of > len(s.Values) {
			return false
		}
	}
	for _, n := range s.Notes {
		most := len(s.Uses)
		if n.At == nil || n.Kind != Endless && (n.Use < 1 || n.Use > most) || n.Into < 0 || n.Into > most {
			return false
		}
	}
	return true
}

// nobody answers no calls: a survey makes none.
type nobody struct{}

func (nobody) Admit(sandbox.Call) sandbox.Admission { return sandbox.Admission{} }

func (nobody) Call(context.Context, sandbox.Call) sandbox.Settlement { return sandbox.Settlement{} }
