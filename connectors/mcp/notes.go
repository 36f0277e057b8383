package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/words"
)

// notified handles what the server tells without being asked.
func (s *session) notified(note mcp.JSONRPCNotification) {
	switch note.Method {
	case mcp.MethodNotificationToolsListChanged:
		s.toolsChanged()
	case string(mcp.MethodNotificationProgress):
		s.progressed(note.Params)
	}
}

// listen asks a server of the newest protocol versions to tell of changes; older
// ones do it unasked.
func (s *session) listen(life context.Context) {
	if !mcp.IsModernProtocol(s.client.ProtocolVersion()) {
		return
	}
	go func() {
		_ = s.client.Listen(life, mcp.SubscriptionFilter{ToolsListChanged: true})
	}()
}

// follow asks for the progress of a request, until stop.
func (s *session) follow(id int64, params map[string]any, progress func(connectors.Progress)) (with map[string]any,
	stop func()) {
	token := "codemode-" + strconv.FormatInt(id, 10)
	meta := map[string]any{}
	if given, ok := params["_meta"].(map[string]any); ok {
		meta = maps.Clone(given)
	}
	meta["progressToken"] = token
	with = maps.Clone(params)
	with["_meta"] = meta
	s.listeners.Store(token, progress)
	return with, func() { s.listeners.Delete(token) }
}

// maxProgressText cuts what servers say in between, in bytes.
const maxProgressText = 500

func (s *session) progressed(params mcp.NotificationParams) {
	raw, err := json.Marshal(params.AdditionalFields)
	if err != nil {
		return
	}
	var note struct {
		ProgressToken   string
		Progress, Total float64
		Message         string
	}
	if json.Unmarshal(raw, &note) != nil {
		return
	}
	if listener, ok := s.listeners.Load(note.ProgressToken); ok {
		listener.(func(connectors.Progress))(connectors.Progress{
			Done: note.Progress, Total: note.Total,
			Message: words.Shorten(s.redact.Apply(note.Message), maxProgressText),
		})
	}
}
