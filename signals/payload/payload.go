// Package payload encodes the contract's types for Temporal. It is apart from package signals so that the contract
// itself needs the standard library only.
package payload

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
)

// Raw encodes v as plain JSON without the HTML escapes of the default converter, which make a value up to six times its
// size: with Raw a payload takes the bytes that were measured. The client's codec, if any, still applies.
func Raw(v any) (converter.RawValue, error) {
	data, err := signals.Marshal(v)
	if err != nil {
		return converter.RawValue{}, err
	}
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: data,
	}), nil
}

// MustRaw is Raw for the contract's own types, which always encode.
func MustRaw(v any) converter.RawValue {
	raw, err := Raw(v)
	if err != nil {
		panic(err)
	}
	return raw
}
