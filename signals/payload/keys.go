package payload

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// KeyError says that a payload is encrypted and that this process lacks the key, or has another one of that name. A
// worker with the right keys reads it.
type KeyError struct {
	// Key is the id of the key; empty where this process has no keys at all.
	Key string
	// Differs says that this process has a key of that id, which does not open the payload.
	Differs bool
}

func (e *KeyError) Error() string {
	switch {
	case e.Differs:
		return fmt.Sprintf("a payload does not open with key %q: the key in %s is another one, or the payload was "+
			"changed", e.Key, KeysEnv)
	case e.Key == "":
		return "payloads are encrypted: set " + KeysEnv + " as the workers have it"
	}
	return fmt.Sprintf("a payload is encrypted with key %q: add that key to %s", e.Key, KeysEnv)
}

// WithContext is the converter itself.
func (c *Converter) WithContext(context.Context) converter.DataConverter { return c }

// WithWorkflowContext is the converter for workflow code, where it fails the workflow task for want of a key: an error
// would end the workflow, or drop a signal, for good. The server gives the task to a worker that has the key.
func (c *Converter) WithWorkflowContext(ctx workflow.Context) converter.DataConverter {
	return &inWorkflow{Converter: c, ctx: ctx}
}

// inWorkflow is what workflow code reads payloads with.
type inWorkflow struct {
	*Converter
	ctx workflow.Context
}

func (w *inWorkflow) FromPayload(p *commonpb.Payload, into any) error {
	return w.orPanic(w.Converter.FromPayload(p, into))
}

func (w *inWorkflow) FromPayloads(p *commonpb.Payloads, into ...any) error {
	return w.orPanic(w.Converter.FromPayloads(p, into...))
}

// orPanic panics for want of a key, which is how workflow code fails its task. A query is no part of any task: whoever
// asks is told.
func (w *inWorkflow) orPanic(err error) error {
	var missing *KeyError
	if errors.As(err, &missing) && executing(w.ctx) {
		panic(missing)
	}
	return err
}

// executing reports whether workflow code runs. The SDK lets nothing but workflow code make channels.
func executing(ctx workflow.Context) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	workflow.NewChannel(ctx)
	return true
}

// KeyID is the id of the key that a payload is encrypted with; empty where it is not.
func KeyID(p *commonpb.Payload) string {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != encodingEncrypted {
		return ""
	}
	return string(p.Metadata[metadataKeyID])
}
