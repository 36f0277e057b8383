package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode/internal/invocation"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// build is a version of a worker deployment.
type build struct{ deployment, id string }

func (b build) String() string { return fmt.Sprintf("build %s of deployment %s", b.id, b.deployment) }

func buildOf(v *deploymentpb.WorkerDeploymentVersion) build {
	return build{v.GetDeploymentName(), v.GetBuildId()}
}

// queueState is what a task queue tells of its workers.
type queueState struct {
	polled      bool
	unversioned bool    // a worker without a version polls
	builds      []build // of those that have one
	current     build   // that new executions start on; zero is workers without a version
	ramping     build
}

// pollerGone is how long after its last poll a worker counts as gone: polls last up to a minute.
const pollerGone = 75 * time.Second

func stateOf(pollers []*taskqueuepb.PollerInfo, routing *taskqueuepb.TaskQueueVersioningInfo) queueState {
	s := queueState{current: buildOf(routing.GetCurrentDeploymentVersion()),
		ramping: buildOf(routing.GetRampingDeploymentVersion())}
	for _, p := range pollers {
		if time.Since(p.LastAccessTime.AsTime()) > pollerGone {
			continue
		}
		s.polled = true
		o := p.GetDeploymentOptions()
		if o.GetWorkerVersioningMode() != enums.WORKER_VERSIONING_MODE_VERSIONED {
			s.unversioned = true
		} else if b := (build{o.GetDeploymentName(), o.GetBuildId()}); !slices.Contains(s.builds, b) {
			s.builds = append(s.builds, b)
		}
	}
	return s
}

// newRuns reports whether new executions have a worker.
func (s queueState) newRuns() bool {
	if s.current == (build{}) {
		return s.unversioned || slices.Contains(s.builds, s.ramping)
	}
	return slices.Contains(s.builds, s.current)
}

// check says whether new executions run.
func (s queueState) check(runtime string) check {
	result := check{Check: "worker", Detail: "task queue " + signals.TaskQueue(runtime)}
	switch {
	case !s.polled:
		result.Detail += " is polled by nobody"
		result.Fix = "start a worker: " + invocation.Worker()
		if runtime != signals.DefaultRuntime {
			result.Fix += " (with runtime: " + runtime + ")"
		}
	case s.newRuns():
		result.OK = true
		result.Detail += " is polled"
	case s.current != (build{}):
		result.Detail += fmt.Sprintf(" is not polled by the current version, %s: nothing new runs", s.current)
		result.Fix = "start a worker of that build, or make another one current"
	default:
		first := s.builds[0]
		result.Detail += fmt.Sprintf(" is polled by %s, which is not the current version: nothing new runs", s.list())
		result.Fix = fmt.Sprintf("temporal worker deployment set-current-version --deployment-name %s --build-id %s",
			first.deployment, first.id)
	}
	return result
}

func (s queueState) list() string {
	var names []string
	for _, b := range s.builds {
		names = append(names, b.String())
	}
	return strings.Join(names, " and ")
}

func (c *connection) checkWorker(ctx context.Context, runtime string) (check, queueState) {
	d, err := c.temporal.DescribeTaskQueue(ctx, signals.TaskQueue(runtime), enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return check{Check: "worker", Fix: "look at the server's log",
			Detail: fmt.Sprintf("task queue %s cannot be described: %v", signals.TaskQueue(runtime), err)}, queueState{}
	}
	s := stateOf(d.Pollers, d.VersioningInfo)
	return s.check(runtime), s
}

// checkBuilds looks for open executions that are pinned to a build of which there is no worker. It says nothing where
// there are no versions.
func (c *connection) checkBuilds(ctx context.Context, runtime string, s queueState) []check {
	known, err := c.builds(ctx)
	if rpcerr.Unimplemented(err) || err == nil && len(known) == 0 {
		return nil
	}
	result := check{Check: "builds"}
	if err != nil {
		result.Detail = fmt.Sprintf("cannot be listed: %v", err)
		return []check{result}
	}
	for _, b := range known {
		if slices.Contains(s.builds, b) {
			continue
		}
		n, err := c.pinnedTo(ctx, runtime, b)
		switch {
		case err != nil:
			result.Detail = fmt.Sprintf("executions of %s cannot be counted: %v", b, err)
			return []check{result}
		case n > 0:
			result.Detail = joined(result.Detail,
				fmt.Sprintf("%d open executions wait for %s, which has no worker", n, b))
			result.Fix = joined(result.Fix, fmt.Sprintf("start a worker of it again until they have ended: "+
				"TEMPORAL_DEPLOYMENT_NAME=%s TEMPORAL_WORKER_BUILD_ID=%s %s", b.deployment, b.id, invocation.Worker()))
		}
	}
	if result.OK = result.Detail == ""; result.OK {
		if len(s.builds) == 0 {
			return nil
		}
		result.Detail = "every open execution has a worker of its build"
	}
	return []check{result}
}

func joined(text, more string) string {
	if text == "" {
		return more
	}
	return text + "; " + more
}

// builds lists the versions of all worker deployments.
func (c *connection) builds(ctx context.Context) (list []build, err error) {
	service, token := c.temporal.WorkflowService(), []byte(nil)
	for {
		page, err := service.ListWorkerDeployments(ctx, &workflowservice.ListWorkerDeploymentsRequest{
			Namespace: c.namespace(), PageSize: 100, NextPageToken: token})
		if err != nil {
			return nil, err
		}
		for _, deployment := range page.WorkerDeployments {
			d, err := service.DescribeWorkerDeployment(ctx, &workflowservice.DescribeWorkerDeploymentRequest{
				Namespace: c.namespace(), DeploymentName: deployment.Name})
			if err != nil {
				return nil, err
			}
			for _, v := range d.WorkerDeploymentInfo.GetVersionSummaries() {
				list = append(list, buildOf(v.DeploymentVersion))
			}
		}
		if token = page.NextPageToken; len(token) == 0 {
			return list, nil
		}
	}
}

// pinnedTo counts the open executions of a runtime that only a build goes on with.
func (c *connection) pinnedTo(ctx context.Context, runtime string, b build) (int64, error) {
	answer, err := c.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`%s AND TemporalWorkerDeploymentVersion = "%s:%s"`, openExecutions(runtime), b.deployment,
			b.id)})
	return answer.GetCount(), err
}

func openExecutions(runtime string) string {
	return fmt.Sprintf(`WorkflowType = "%s" AND ExecutionStatus = "Running" AND WorkflowId STARTS_WITH "%s"`,
		signals.ExecutionWorkflow, signals.WorkflowID(runtime, ""))
}
