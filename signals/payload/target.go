package payload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/signals"
)

// TargetArguments are what a team's own activity or workflow is called with: the call's argument as plain JSON, and the
// idempotency key where it asks for that.
func TargetArguments(t signals.Target, args json.RawMessage, key string) ([]any, error) {
	plain, err := wire.Plain(args)
	if err != nil {
		return nil, err
	}
	if len(plain) == 0 && !t.KeyArgument {
		return nil, nil
	}
	if len(plain) == 0 {
		plain = json.RawMessage("{}")
	}
	list := []any{asJSON(plain)}
	if t.KeyArgument {
		list = append(list, key)
	}
	return list, nil
}

func asJSON(data []byte) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: data,
	})
}

// TargetValue is what a team's own activity or workflow answered, as wire JSON: nil for nothing. The error is for
// encodings that no program can read.
func TargetValue(path string, raw converter.RawValue) (json.RawMessage, *signals.CallError) {
	p := raw.Payload()
	if p == nil {
		return nil, nil
	}
	switch encoding := string(p.GetMetadata()[converter.MetadataEncoding]); encoding {
	case converter.MetadataEncodingNil:
		return json.RawMessage("null"), nil
	case converter.MetadataEncodingBinary:
		return wire.EncodeBytes(p.GetData()), nil
	case converter.MetadataEncodingJSON, converter.MetadataEncodingProtoJSON:
		if json.Valid(p.GetData()) {
			return wire.FromJSON(p.GetData()), nil
		}
		return nil, unreadable(path, "is not valid JSON")
	default:
		return nil, unreadable(path, fmt.Sprintf("has the encoding %q, which programs cannot read",
			signals.Cut(encoding, 50)))
	}
}

func unreadable(path, why string) *signals.CallError {
	return &signals.CallError{Message: fmt.Sprintf("%s took effect, but its result %s.", path, why)}
}

// panicError is the type under which the SDK reports that an activity or a workflow panicked.
const panicError = "PanicError"

// TargetError is the answer of a team's own activity or workflow that failed, as the program sees it. It is nil if that
// is none, such as a timeout or a panic: then nobody knows what it has done. A workflow's own answer may have any
// cause. Details are read by decode.
func TargetError(f *failurepb.Failure, decode func(*commonpb.Payloads, ...any) error) *signals.CallError {
	if f.GetActivityFailureInfo() != nil || f.GetChildWorkflowExecutionFailureInfo() != nil {
		f = f.GetCause()
	}
	if f == nil || f.GetTimeoutFailureInfo() != nil || f.GetCanceledFailureInfo() != nil ||
		f.GetTerminatedFailureInfo() != nil || f.GetServerFailureInfo() != nil {
		return nil
	}
	for f.GetApplicationFailureInfo() == nil && f.GetCause() != nil { // where an activity of the workflow failed
		f = f.GetCause()
	}
	info := f.GetApplicationFailureInfo()
	if info.GetType() == panicError {
		return nil
	}
	return &signals.CallError{
		Name:    ownName(info.GetType()),
		Message: signals.Cut(cmp.Or(f.GetMessage(), info.GetType(), "failed without a message"), signals.MaxErrorBytes),
		Details: details(info.GetDetails(), decode), NonRetryable: info.GetNonRetryable(),
	}
}

// ownName keeps types apart from the names that codemode itself gives errors.
func ownName(name string) string {
	if slices.Contains([]string{signals.OutcomeUnknown, signals.RejectedError}, name) {
		return "ApplicationError"
	}
	return signals.Cut(name, signals.MaxNameBytes)
}

// details are the first of a failure, if they are small and can be read.
func details(payloads *commonpb.Payloads, decode func(*commonpb.Payloads, ...any) error) json.RawMessage {
	if len(payloads.GetPayloads()) == 0 {
		return nil
	}
	var raw converter.RawValue
	if err := decode(payloads, &raw); err != nil {
		return nil
	}
	value, unreadable := TargetValue("", raw)
	if unreadable != nil || len(value) > signals.InlineValueBytes {
		return nil
	}
	return value
}
