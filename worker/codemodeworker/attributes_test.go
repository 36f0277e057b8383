package codemodeworker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode/activities"
	"github.com/temporal-codemode/codemode/signals"
)

// attributeServer has search attributes, and takes more.
type attributeServer struct {
	client.Client
	operatorservice.OperatorServiceClient
	has   map[string]enums.IndexedValueType
	added []map[string]enums.IndexedValueType
}

func (s *attributeServer) Namespace() string { return "default" }

func (s *attributeServer) OperatorService() operatorservice.OperatorServiceClient { return s }

func (s *attributeServer) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest,
	...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: s.has}, nil
}

func (s *attributeServer) AddSearchAttributes(_ context.Context, in *operatorservice.AddSearchAttributesRequest,
	_ ...grpc.CallOption) (*operatorservice.AddSearchAttributesResponse, error) {
	s.added = append(s.added, in.SearchAttributes)
	return &operatorservice.AddSearchAttributesResponse{}, nil
}

func TestOnlyMissingAttributesAreRegistered(t *testing.T) {
	const keyword, list = enums.INDEXED_VALUE_TYPE_KEYWORD, enums.INDEXED_VALUE_TYPE_KEYWORD_LIST
	type attributes = map[string]enums.IndexedValueType
	s := &attributeServer{has: attributes{signals.AttributeRuntime: keyword, "Other": list}}
	require.Equal(t, activities.Attributes{}, ensure(t.Context(), s, true).attributes(t.Context()),
		"nothing that is new is used at once")
	require.Equal(t, []attributes{{signals.AttributeStatus: keyword}, {signals.AttributeLabels: list}}, s.added)
	s.has[signals.AttributeLabels], s.has[signals.AttributeStatus] = list, keyword
	require.Equal(t, activities.Attributes{Status: true, Labels: true},
		ensure(t.Context(), s, true).attributes(t.Context()))
	require.Len(t, s.added, 2)
}
