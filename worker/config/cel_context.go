package config

import (
	"strings"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"

	"github.com/temporal-codemode/codemode/signals"
)

// callerPrefix begins the variables that tell who started the execution. Each field is a variable of its own, so that
// one which does not exist is found when the configuration is read.
const callerPrefix = "caller."

func callerVariables() []cel.EnvOption {
	var options []cel.EnvOption
	for _, name := range []string{"startedBy", "startedAs", "onBehalfOf", "conversation"} {
		options = append(options, cel.Variable(callerPrefix+name, cel.StringType))
	}
	return append(options, cel.Variable(callerPrefix+"labels", cel.MapType(cel.StringType, cel.StringType)))
}

// callerValues are what the variables hold: what is not known is empty.
func callerValues(c signals.Caller) map[string]any {
	labels := c.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return map[string]any{
		callerPrefix + "startedBy": c.StartedBy, callerPrefix + "startedAs": c.StartedAs,
		callerPrefix + "onBehalfOf": c.OnBehalfOf, callerPrefix + "conversation": c.Conversation,
		callerPrefix + "labels": labels,
	}
}

// fieldsHint tells the fields of caller, or of program, to who may have mistaken one, in an expression that cannot
// be compiled.
func fieldsHint(env *cel.Env, text string, revert bool) string {
	parsed, issues := env.Parse(text)
	switch {
	case revert || issues.Err() != nil:
	case mentions(parsed.NativeRep(), "caller"):
		return "; caller has startedBy, startedAs, onBehalfOf, conversation and labels"
	case mentions(parsed.NativeRep(), "program"):
		return "; program has writes, writesInLoops, approvals, methods and partial"
	}
	return ""
}

func mentions(parsed *celast.AST, name string) bool {
	return len(celast.MatchDescendants(celast.NavigateAST(parsed), func(e celast.NavigableExpr) bool {
		return e.Kind() == celast.IdentKind && e.AsIdent() == name
	})) > 0
}

// uses reports whether an expression looks at fields of caller, or of program.
func uses(checked *celast.AST, prefix string) bool {
	return len(celast.MatchDescendants(celast.NavigateAST(checked), func(e celast.NavigableExpr) bool {
		return fieldOf(e, prefix)
	})) > 0
}

// ofContext reports whether an expression is a field of caller or program: names looked up in that are not the
// arguments'.
func ofContext(e celast.Expr) bool { return fieldOf(e, callerPrefix) || fieldOf(e, programPrefix) }

func fieldOf(e celast.Expr, prefix string) bool {
	return e.Kind() == celast.IdentKind && strings.HasPrefix(strings.TrimPrefix(e.AsIdent(), "."), prefix)
}

// programPrefix begins the variables that tell what the program's text shows.
const programPrefix = "program."

func programVariables() []cel.EnvOption {
	options := []cel.EnvOption{cel.Variable(programPrefix+"methods", cel.ListType(cel.StringType)),
		cel.Variable(programPrefix+"partial", cel.BoolType)}
	for _, name := range []string{"writes", "writesInLoops", "approvals"} {
		options = append(options, cel.Variable(programPrefix+name, cel.IntType))
	}
	return options
}

func programValues(p signals.Program) map[string]any {
	methods := []string{}
	for _, m := range p.Methods {
		methods = append(methods, m.Connector+"."+m.Method)
	}
	return map[string]any{
		programPrefix + "methods": methods, programPrefix + "partial": p.Partial, programPrefix + "writes": p.Writes,
		programPrefix + "writesInLoops": p.WritesInLoops, programPrefix + "approvals": p.Approvals,
	}
}
