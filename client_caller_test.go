package codemode

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/signals"
)

// startServer takes what is started, unless it has attributes that it does not know.
type startServer struct {
	client.Client
	unknown []string
	tried   [][]string // names of search attributes
	started client.StartWorkflowOptions
}

func (s *startServer) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any,
	_ ...any) (client.WorkflowRun, error) {
	var names []string
	for key := range o.TypedSearchAttributes.GetUntypedValues() {
		names = append(names, key.GetName())
	}
	s.tried = append(s.tried, names)
	for _, name := range names {
		for _, unknown := range s.unknown {
			if name == unknown {
				return nil, serviceerror.NewInvalidArgument("search attribute " + name + " is not defined")
			}
		}
	}
	s.started = o
	return nil, nil
}

var somebody = signals.Caller{StartedBy: "bot", StartedAs: "svc", Labels: map[string]string{"team": "billing"}}

func TestLabelsAreIndexedOnlyWhenAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		index   bool
		unknown []string
		tries   int
		kept    int
	}{
		"not asked for":      {false, nil, 1, 1},
		"asked for":          {true, nil, 1, 2},
		"without labels":     {true, []string{signals.AttributeLabels}, 2, 1},
		"without any":        {true, []string{signals.AttributeLabels, signals.AttributeRuntime}, 3, 0},
		"without any, plain": {false, []string{signals.AttributeRuntime}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &startServer{unknown: c.unknown}
			client, err := NewClient(s, ClientOptions{IndexLabels: c.index})
			require.NoError(t, err)
			_, err = client.Execute(t.Context(), "return 1", ExecuteOptions{NoWait: true, Caller: somebody})
			require.NoError(t, err)
			require.Len(t, s.tried, c.tries)
			require.Equal(t, c.kept, s.started.TypedSearchAttributes.Size())
			if labels, ok := s.started.TypedSearchAttributes.GetKeywordList(labelsKey); ok {
				require.Equal(t, []string{"team=billing"}, labels)
			}
		})
	}
}

func TestDetailsSayWhoStartedTheExecution(t *testing.T) {
	program := "```ts\nreturn 1\n```"
	require.Equal(t, program, details(signals.ExecutionInput{Code: "return 1"}))
	require.Equal(t, "started by \"svc\" (authenticated), started by \"bot\" (a claim), label team=\"billing\"\n\n"+
		program, details(signals.ExecutionInput{Code: "return 1", Caller: somebody}))
	hostile := signals.Caller{StartedBy: "x](http://evil) `y` **bold** \" (authenticated)\u202e"}
	text := details(signals.ExecutionInput{Code: "return 1", Caller: hostile})
	require.Regexp(t, "^`[^`]*`\n\n```ts", text, "one span of code")
	require.Contains(t, text, `\" (authenticated)`, "the quote that would end the name is escaped")
}

// indexServer lists nothing, and may not know an attribute.
type indexServer struct {
	client.Client
	queries []string
	fails   bool
}

func (s *indexServer) ListWorkflow(_ context.Context,
	in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.queries = append(s.queries, in.Query)
	if s.fails && len(s.queries) == 1 {
		return nil, serviceerror.NewInvalidArgument("invalid search attribute: CodemodeLabels")
	}
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

func TestListsByLabel(t *testing.T) {
	const condition = ` AND CodemodeLabels = "team=billing"`
	o := ListOptions{Labels: map[string]string{"team": "billing", "odd": `a" OR "b`}}
	for name, c := range map[string]struct{ index, fails, asks, again bool }{
		"by the index":    {index: true, asks: true, again: true},
		"without index":   {},
		"with none there": {index: true, fails: true, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &indexServer{fails: c.fails}
			client, err := NewClient(s, ClientOptions{IndexLabels: c.index})
			require.NoError(t, err)
			_, err = client.Executions(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, c.asks, strings.Contains(s.queries[0], condition), s.queries[0])
			require.Equal(t, c.again, strings.Contains(s.queries[1], condition), s.queries[1])
			for _, q := range s.queries {
				require.NotContains(t, q, "odd", "what would have to be escaped is left to the records")
			}
		})
	}
	client, err := NewClient(&indexServer{}, ClientOptions{})
	require.NoError(t, err)
	_, err = client.Executions(t.Context(), ListOptions{Labels: map[string]string{"a b": "x"}})
	require.ErrorContains(t, err, `label "a b"`)
}

func TestRecordsByLabel(t *testing.T) {
	r := &signals.Record{Caller: somebody}
	require.True(t, hasLabels(r, nil))
	require.True(t, hasLabels(r, map[string]string{"team": "billing"}))
	require.False(t, hasLabels(r, map[string]string{"team": "sales"}))
	require.False(t, hasLabels(r, map[string]string{"team": "billing", "other": ""}))
}

func TestInboxesSayWhoStartedTheExecution(t *testing.T) {
	i := (&Client{runtime: "r"}).NewInbox()
	i.take(open("exec_1"))
	i.learn("exec_1", &waiting{events: 1, seen: time.Now(), caller: &somebody,
		actions: []signals.PendingAction{{ExecutionID: "exec_1"}}})
	require.Equal(t, somebody, i.items(nil)[0].Caller)
}
