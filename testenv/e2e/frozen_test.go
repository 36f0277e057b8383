package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// markersReadWith is the version of the SDK whose local-activity markers were looked at.
const markersReadWith = "v1.50.0"

// TestMarkersAreAsTheyWereRead: the passes of most executions stand in history as markers of the SDK's, which no event
// describes. Should it write them in another way, what an execution did could not be read any more.
func TestMarkersAreAsTheyWereRead(t *testing.T) {
	advice := "internal/history reads the markers of local activities, last checked with SDK " + markersReadWith +
		": compare the SDK's recording of markers, keep reading what older versions wrote, then change markersReadWith"
	module, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	require.Regexp(t, `go\.temporal\.io/sdk `+regexp.QuoteMeta(markersReadWith)+`\s`, string(module), advice)

	b := setUp(t)
	b.worker()
	o := b.run(`return await lab.read({name: 'a'})`)
	b.completed(`"a"`, o)
	found := 0
	for _, e := range b.events(o.ExecutionID) {
		m := e.GetMarkerRecordedEventAttributes()
		if m == nil {
			continue
		}
		require.Equal(t, "LocalActivity", m.MarkerName, advice)
		var data struct{ ActivityType string }
		dc := converter.GetDefaultDataConverter()
		require.NoError(t, dc.FromPayloads(m.Details["data"], &data), advice)
		require.Equal(t, signals.PassActivity, data.ActivityType, advice)
		var result signals.PassResult
		require.NoError(t, dc.FromPayloads(m.Details["result"], &result), advice)
		require.Len(t, result.Entries, 1, advice)
		found++
	}
	if local, _ := b.passes(o.ExecutionID); local > 0 { // a busy machine takes its time
		require.Positive(t, found, advice)
	}
}

// observer is a connector that is told of passes and ends.
type observer struct {
	connectors.Connector
	mu   sync.Mutex
	told []string
}

func (o *observer) tell(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, what)
}

func (o *observer) PassEnd(_ context.Context, _, status string) error {
	o.tell("pass " + status)
	return nil
}

func (o *observer) Dispose(_ context.Context, _, status string) error {
	o.tell("end " + status)
	return nil
}

func TestHooks(t *testing.T) {
	b := setUp(t)
	o := &observer{Connector: connectors.New("observer", "")}
	b.options.Connectors = append(b.options.Connectors, o)
	b.worker()
	paused := b.run(`await lab.write({name: 'w'}); return await lab.ask({name: 'a'})`)
	require.Equal(t, signals.Paused, paused.Status)
	b.completed(`"a"`, b.approve(paused.ExecutionID, signals.Approve{}))
	require.Equal(t, []string{"pass paused", "pass completed", "end completed"}, o.told)
}

// Servers without standalone activities are asked by a workflow.
func TestCatalogueByAWorkflow(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := "codemode/" + b.runtime + "/catalogue/1"
	run, err := shared.client.ExecuteWorkflow(b.context(),
		client.StartWorkflowOptions{ID: id, TaskQueue: signals.TaskQueue(b.runtime)}, signals.CatalogueWorkflow,
		signals.CatalogueInput{Kind: signals.CatalogueMethod, Runtime: b.runtime, Target: "lab.ask"})
	require.NoError(t, err)
	var answer json.RawMessage
	require.NoError(t, run.Get(b.context(), &answer))
	require.Contains(t, string(answer), `"requiresApproval":true`)
	b.healthyWorkflow(id, "-catalogue")
}

// Lists by label are the server's work where labels are indexed.
func TestLabelsAreIndexed(t *testing.T) {
	b := setUp(t)
	b.options.IndexLabels = true
	w := b.worker()
	require.NoError(t, w.LabelsError)
	var err error
	b.client, err = codemode.NewClient(shared.client, codemode.ClientOptions{Runtime: b.runtime, IndexLabels: true})
	require.NoError(t, err)
	known := func(query string) int {
		page, err := shared.client.ListWorkflow(b.context(),
			&workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			return -1 // the server does not know the attribute yet
		}
		return len(page.Executions)
	}
	of := fmt.Sprintf(`%s = "%s" AND %s = "team=billing"`, signals.AttributeRuntime, b.runtime, signals.AttributeLabels)
	b.eventually("the server knows the attribute", func() bool { return known(of) == 0 })
	for _, team := range []string{"billing", "sales"} {
		_, err := b.client.Execute(b.context(), `return 1`, codemode.ExecuteOptions{ID: "of-" + team,
			Caller: signals.Caller{Labels: map[string]string{"team": team}}})
		require.NoError(t, err)
	}
	b.eventually("the server finds it by its label", func() bool { return known(of) == 1 })
	records, err := b.client.Executions(b.context(),
		codemode.ListOptions{Labels: map[string]string{"team": "billing"}})
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "of-billing", records[0].ID)
}
