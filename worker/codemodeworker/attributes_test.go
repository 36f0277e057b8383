package codemodeworker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode/signals"
)

// attributeServer has search attributes, and takes more.
type attributeServer struct {
	client.Client
	operatorservice.OperatorServiceClient
	has   map[string]enums.IndexedValueType
	added []map[string]enums.IndexedValueType
}

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
	two := attributes{signals.AttributeRuntime: keyword, signals.AttributeStatus: keyword}
	require.NoError(t, register(t.Context(), s, "default", two))
	require.NoError(t, register(t.Context(), s, "default", attributes{signals.AttributeLabels: list}))
	require.Equal(t, []attributes{{signals.AttributeStatus: keyword}, {signals.AttributeLabels: list}}, s.added)
	s.has[signals.AttributeLabels] = list
	require.NoError(t, register(t.Context(), s, "default", attributes{signals.AttributeLabels: list}))
	require.Len(t, s.added, 2)
}
