package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func poller(buildID string, ago time.Duration) *taskqueuepb.PollerInfo {
	p := &taskqueuepb.PollerInfo{LastAccessTime: timestamppb.New(time.Now().Add(-ago))}
	if buildID != "" {
		p.DeploymentOptions = &deploymentpb.WorkerDeploymentOptions{DeploymentName: "shop", BuildId: buildID,
			WorkerVersioningMode: enums.WORKER_VERSIONING_MODE_VERSIONED}
	}
	return p
}

func TestWhoRunsNewExecutions(t *testing.T) {
	version := func(id string) *deploymentpb.WorkerDeploymentVersion {
		if id == "" {
			return nil
		}
		return &deploymentpb.WorkerDeploymentVersion{DeploymentName: "shop", BuildId: id}
	}
	type pollers = []*taskqueuepb.PollerInfo
	for name, test := range map[string]struct {
		pollers          pollers
		current, ramping string
		ok               bool
		says             string
	}{
		"nobody":              {nil, "", "", false, "polled by nobody"},
		"gone":                {pollers{poller("", 2*time.Minute)}, "", "", false, "polled by nobody"},
		"unversioned":         {pollers{poller("", 0)}, "", "", true, "is polled"},
		"current":             {pollers{poller("b1", 0)}, "b1", "", true, "is polled"},
		"none current":        {pollers{poller("b1", 0)}, "", "", false, "which is not the current version"},
		"another current":     {pollers{poller("b2", 0)}, "b1", "", false, "not polled by the current version"},
		"the current is gone": {pollers{poller("b2", 0), poller("b1", time.Hour)}, "b1", "", false, "not polled"},
		"ramping":             {pollers{poller("b1", 0)}, "", "b1", true, "is polled"},
		"both kinds":          {pollers{poller("b1", 0), poller("", 0)}, "", "", true, "is polled"},
		"unversioned beside":  {pollers{poller("", 0)}, "b1", "", false, "not polled by the current version, build b1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := stateOf(test.pollers, &taskqueuepb.TaskQueueVersioningInfo{
				CurrentDeploymentVersion: version(test.current), RampingDeploymentVersion: version(test.ramping),
			}).check("default")
			require.Equal(t, test.ok, got.OK)
			require.Contains(t, got.Detail, test.says)
			require.Equal(t, test.ok, got.Fix == "")
		})
	}
}
