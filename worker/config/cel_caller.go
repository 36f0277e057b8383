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

// callerHint tells the fields of caller to who may have mistaken one, in an expression that cannot be compiled.
func callerHint(env *cel.Env, text string, revert bool) string {
	parsed, issues := env.Parse(text)
	if revert || issues.Err() != nil || !mentions(parsed.NativeRep(), "caller") {
		return ""
	}
	return "; caller has startedBy, startedAs, onBehalfOf, conversation and labels"
}

func mentions(parsed *celast.AST, name string) bool {
	return len(celast.MatchDescendants(celast.NavigateAST(parsed), func(e celast.NavigableExpr) bool {
		return e.Kind() == celast.IdentKind && e.AsIdent() == name
	})) > 0
}

func usesCaller(checked *celast.AST) bool {
	return len(celast.MatchDescendants(celast.NavigateAST(checked), func(e celast.NavigableExpr) bool {
		return ofCaller(e)
	})) > 0
}

// ofCaller reports whether an expression is a field of caller: names looked up in that are not the arguments'.
func ofCaller(e celast.Expr) bool {
	return e.Kind() == celast.IdentKind && strings.HasPrefix(strings.TrimPrefix(e.AsIdent(), "."), callerPrefix)
}
