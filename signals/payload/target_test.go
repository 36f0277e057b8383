package payload

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
)

func TestTargetValues(t *testing.T) {
	for _, c := range []struct{ encoding, data, want, problem string }{
		{"json/plain", `{"a":1}`, `{"a":1}`, ""},
		{"json/plain", `12345678901234567890`, `{"__codemode_bigint_v1__":"12345678901234567890"}`, ""},
		{"json/plain", `{"__codemode_bigint_v1__":"1"}`, `{"~__codemode_bigint_v1__":"1"}`, ""},
		{"json/plain", `{"a":`, "", "is not valid JSON"},
		{"json/protobuf", `{"id":"1"}`, `{"id":"1"}`, ""},
		{"binary/null", "", "null", ""},
		{"binary/plain", "hi", `{"__codemode_binary_v1__":"Uint8Array","data":"aGk="}`, ""},
		{"binary/protobuf", "\x00", "", `has the encoding "binary/protobuf"`},
	} {
		value, problem := TargetValue("shop.get", converter.NewRawValue(&commonpb.Payload{Data: []byte(c.data),
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(c.encoding)}}))
		require.Equal(t, c.want, string(value), c)
		require.Equal(t, c.problem != "", problem != nil, c)
		if problem != nil {
			require.Contains(t, problem.Message, c.problem)
		}
	}
	value, problem := TargetValue("shop.get", converter.RawValue{})
	require.Nil(t, value, "nothing is undefined")
	require.Nil(t, problem)
}

func TestTargetArguments(t *testing.T) {
	for _, c := range []struct {
		args string
		key  bool
		want int
	}{{"", false, 0}, {"", true, 2}, {`{"a":{"__codemode_bigint_v1__":"7"}}`, false, 1}} {
		list, err := TargetArguments(signals.Target{KeyArgument: c.key}, json.RawMessage(c.args), "k")
		require.NoError(t, err)
		require.Len(t, list, c.want)
		if c.args != "" {
			require.Equal(t, `{"a":7}`, string(list[0].(converter.RawValue).Payload().GetData()))
		}
	}
}

func TestTargetErrors(t *testing.T) {
	dc := converter.GetDefaultDataConverter()
	application := func(kind string, details any) *failurepb.Failure {
		payloads, err := dc.ToPayloads(details)
		require.NoError(t, err)
		return &failurepb.Failure{Message: "m", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
			ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind, Details: payloads}}}
	}
	timeout := &failurepb.Failure{FailureInfo: &failurepb.Failure_TimeoutFailureInfo{
		TimeoutFailureInfo: &failurepb.TimeoutFailureInfo{TimeoutType: enumspb.TIMEOUT_TYPE_START_TO_CLOSE}},
		Cause: application("Before", 1)}
	inActivity := func(cause *failurepb.Failure) *failurepb.Failure {
		return &failurepb.Failure{Cause: cause, FailureInfo: &failurepb.Failure_ActivityFailureInfo{
			ActivityFailureInfo: &failurepb.ActivityFailureInfo{}}}
	}
	told := func(name, details string) *signals.CallError {
		e := &signals.CallError{Name: name, Message: "m"}
		if details != "" {
			e.Details = json.RawMessage(details)
		}
		return e
	}
	for name, c := range map[string]struct {
		failure *failurepb.Failure
		want    *signals.CallError
	}{
		"its own":             {application("Bad", 1), told("Bad", "1")},
		"around":              {inActivity(application("Bad", 1)), told("Bad", "1")},
		"an activity of it":   {inActivity(inActivity(application("Bad", nil))), told("Bad", "null")},
		"a name of ours":      {application(signals.RejectedError, 1), told("ApplicationError", "1")},
		"large details":       {application("Bad", strings.Repeat("x", 5000)), told("Bad", "")},
		"panic":               {application("PanicError", nil), nil},
		"timeout":             {timeout, nil},
		"timeout of activity": {inActivity(timeout), nil},
		"nothing":             {nil, nil},
	} {
		require.Equal(t, c.want, TargetError(c.failure, dc.FromPayloads), name)
	}
	unreadable := func(*commonpb.Payloads, ...any) error { return errors.New("no key") }
	require.Nil(t, TargetError(application("Bad", 1), unreadable).Details)
}
