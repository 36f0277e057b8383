package main

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/signals"
)

func eventsOf(ctx context.Context, c client.Client, runtime, id string) ([]*history.HistoryEvent, error) {
	var events []*history.HistoryEvent
	all := c.GetWorkflowHistory(ctx, signals.WorkflowID(runtime, id), "",
		false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// failedTasks counts the failed workflow tasks of an execution, without those that the server fails in a healthy run:
// because something arrived while the task was under way.
func failedTasks(ctx context.Context, c client.Client, runtime, id string) (int, error) {
	events, err := eventsOf(ctx, c, runtime, id)
	failed := 0
	for _, e := range events {
		task := e.GetWorkflowTaskFailedEventAttributes()
		if task != nil && task.Cause != enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
			failed++
		}
	}
	return failed, err
}

// lastEvents tells how an execution's history ends, for the report of one that is stuck.
func lastEvents(ctx context.Context, c client.Client, runtime, id string) string {
	events, err := eventsOf(ctx, c, runtime, id)
	if err != nil {
		return err.Error()
	}
	const most = 30
	var lines []string
	for _, e := range events[max(0, len(events)-most):] {
		lines = append(lines,
			fmt.Sprintf("%s %d %s", e.EventTime.AsTime().Local().Format("15:04:05.0"), e.EventId, e.EventType))
	}
	if d, err := c.DescribeWorkflowExecution(ctx, signals.WorkflowID(runtime, id), ""); err == nil {
		for _, a := range d.PendingActivities {
			lines = append(lines, fmt.Sprintf("%s attempt %d: %s", a.ActivityId, a.Attempt, a.LastFailure.GetMessage()))
		}
	}
	return strings.Join(lines, ", ")
}
