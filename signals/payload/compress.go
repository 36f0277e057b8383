package payload

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// compressFrom is the size from which payloads are compressed. Smaller ones stay readable everywhere.
const compressFrom = 128 * 1024

// fits is what a compressed payload may take before it is tried as UTF-16: below the server's 2 MiB.
const fits = 1_900_000

const (
	encodingZlib  = "binary/zlib" // as the SDK's own codec writes it
	encodingUTF16 = "binary/codemode-utf16"
)

// maxOpened bounds what a compressed payload may unfold to.
const maxOpened = 64 << 20

// compression is a codec that keeps large payloads below Temporal's limits. A million UTF-16 units take two million
// bytes as UTF-16, whatever the script; as UTF-8 they may take three.
type compression struct{}

func (compression) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		if proto.Size(p) < compressFrom {
			return p, nil
		}
		whole, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("compress a payload: %w", err)
		}
		best := &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encodingZlib)},
			Data: deflate(whole)}
		if len(best.Data) > fits && utf8.Valid(p.Data) {
			if text := asUTF16(p); len(text.Data) < len(best.Data) {
				best = text
			}
		}
		if len(best.Data) >= len(whole) {
			return p, nil
		}
		return best, nil
	})
}

// asUTF16 keeps the metadata, with the encoding in it under another name.
func asUTF16(p *commonpb.Payload) *commonpb.Payload {
	units := utf16.Encode([]rune(string(p.Data)))
	text := make([]byte, 0, 2*len(units))
	for _, u := range units {
		text = binary.LittleEndian.AppendUint16(text, u)
	}
	out := &commonpb.Payload{Metadata: map[string][]byte{}, Data: deflate(text)}
	for key, value := range p.Metadata {
		out.Metadata[key] = value
	}
	out.Metadata[metadataInner] = p.Metadata[converter.MetadataEncoding]
	out.Metadata[converter.MetadataEncoding] = []byte(encodingUTF16)
	return out
}

const metadataInner = "inner-encoding"

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func (compression) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, func(p *commonpb.Payload) (*commonpb.Payload, error) {
		encoding := string(p.Metadata[converter.MetadataEncoding])
		if encoding != encodingZlib && encoding != encodingUTF16 {
			return p, nil
		}
		data, err := inflate(p.Data)
		if err != nil {
			return nil, fmt.Errorf("open a compressed payload: %w", err)
		}
		if encoding == encodingUTF16 {
			return fromUTF16(p, data), nil
		}
		opened := &commonpb.Payload{}
		return opened, proto.Unmarshal(data, opened)
	})
}

func inflate(data []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	opened, err := io.ReadAll(io.LimitReader(r, maxOpened+1))
	if err == nil && len(opened) > maxOpened {
		err = fmt.Errorf("it is larger than %d bytes", maxOpened)
	}
	return opened, err
}

func fromUTF16(p *commonpb.Payload, data []byte) *commonpb.Payload {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	out := &commonpb.Payload{Metadata: map[string][]byte{}, Data: []byte(string(utf16.Decode(units)))}
	for key, value := range p.Metadata {
		out.Metadata[key] = value
	}
	out.Metadata[converter.MetadataEncoding] = p.Metadata[metadataInner]
	delete(out.Metadata, metadataInner)
	return out
}
