package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestTransformResult(t *testing.T) {
	completed := signals.Outcome{Status: signals.Completed, ExecutionID: "exec_1", Result: json.RawMessage("5")}
	cases := []struct {
		name    string
		outcome signals.Outcome
		shape   TransformResult
		want    string
		warns   bool
	}{
		{"none", completed, nil, "5", false},
		{"shaped", completed, wrap, `{"shaped":5}`, false},
		{"paused outcomes are left alone", signals.Outcome{Status: signals.Paused}, wrap, "", false},
		{"an error gives the raw value", completed, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("no")
		}, "5", true},
		{"a panic too", completed, func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("no") }, "5",
			true},
		{"and what is no JSON", completed, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage("{"), nil
		}, "5", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			client, err := NewClient(nil,
				ClientOptions{TransformResult: c.shape, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, err)
			require.Equal(t, c.want, string(client.transform(t.Context(), c.outcome).Result))
			require.Equal(t, c.warns, log.Len() > 0, log.String())
		})
	}
}

func wrap(_ context.Context, result json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(map[string]json.RawMessage{"shaped": result})
}
