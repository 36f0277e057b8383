package main

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/signals"
)

// failedTasks counts the failed workflow tasks of an execution, without those that the server fails in a healthy run:
// because something arrived while the task was under way.
func failedTasks(ctx context.Context, c client.Client, runtime, id string) (int, error) {
	failed := 0
	events := c.GetWorkflowHistory(ctx, signals.WorkflowID(runtime, id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return 0, err
		}
		task := e.GetWorkflowTaskFailedEventAttributes()
		if task != nil && task.Cause != enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
			failed++
		}
	}
	return failed, nil
}

// lastEvents tells how an execution's history ends, for the report of one that is stuck.
func lastEvents(ctx context.Context, c client.Client, runtime, id string) string {
	const most = 30
	var lines []string
	events := c.GetWorkflowHistory(ctx, signals.WorkflowID(runtime, id), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err.Error()
		}
		lines = append(lines, fmt.Sprintf("%s %d %s", e.EventTime.AsTime().Local().Format("15:04:05.0"), e.EventId, e.EventType))
	}
	return strings.Join(lines[max(0, len(lines)-most):], ", ")
}
