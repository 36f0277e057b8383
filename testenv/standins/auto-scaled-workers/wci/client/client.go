// Package client answers the Temporal server's questions about workers on cloud providers: there are none, and none can
// be set up. Worker versioning works as usual.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"

	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
)

// Module provides the client to the server.
var Module = fx.Provide(func() Client { return none{} })

// Client is what the server asks of the component.
type Client interface {
	DescribeWorkerControllerInstance(
		context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
	) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)
	UpdateWorkerControllerInstance(
		ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion,
		conflictToken []byte, identity string,
		upsert map[string]iface.ScalingGroupSpecUpdate, remove []string,
	) (*iface.UpdateWorkerControllerInstanceResponse, error)
	ValidateWorkerControllerInstanceSpec(
		ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion,
		identity string, upsert map[string]iface.ScalingGroupSpecUpdate, remove []string,
	) error
	DeleteWorkerControllerInstance(
		ctx context.Context, ns *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string,
	) error
}

type none struct{}

func refusal() error {
	return serviceerror.NewInvalidArgument("this development server does not start workers on cloud providers: leave the compute configuration out")
}

func (none) DescribeWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("no worker controller instance")
}

func (none) UpdateWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, []byte, string,
	map[string]iface.ScalingGroupSpecUpdate, []string,
) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, refusal()
}

func (none) ValidateWorkerControllerInstanceSpec(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string,
	map[string]iface.ScalingGroupSpecUpdate, []string,
) error {
	return refusal()
}

// DeleteWorkerControllerInstance succeeds, since a deleted worker version deletes its instance, should it have one.
func (none) DeleteWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string,
) error {
	return nil
}
