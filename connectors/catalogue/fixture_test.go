package catalogue

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

// method is one that is only looked at.
func method(name, description string, class connectors.Class) connectors.Method {
	return connectors.Method{
		Name: name, Description: description, Class: class,
		Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, errors.New("not to be called") },
	}
}

func takes(m connectors.Method, schema string) connectors.Method {
	m.InputSchema = json.RawMessage(schema)
	return m
}

func gives(m connectors.Method, schema string) connectors.Method {
	m.OutputSchema = json.RawMessage(schema)
	return m
}

func approved(m connectors.Method) connectors.Method {
	m.RequiresApproval = true
	return m
}

// storeConnector is the one of the conformance scenarios.
func storeConnector() connectors.Connector {
	read, write := connectors.Read, connectors.Write
	list := []connectors.Method{
		method("list_items", "List all items.", read),
		takes(method("get_item", "Get one item by id.", read),
			`{"type":"object","properties":{"id":{"type":"number","description":"Item id"}},"required":["id"]}`),
		method("add_note", "Add a note at once.", write),
		takes(approved(method("create_item", "Create an item. Needs approval.", write)),
			`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`),
		approved(method("publish", "Publish. Needs approval, can't be undone.", write)),
		method("bad_revert", "Write whose undo fails.", write),
		method("fresh", "Counter read, never stored.", read),
		method("bytes", "Binary.", read),
		method("big", "A long string.", read),
		method("whoami", "Execution id.", read),
		method("nothing", "Returns nothing.", read),
		method("odd", "Odd values.", read),
		method("boom", "Always throws.", read),
		method("flaky", "Throws the first time.", read),
		method("slow", "Waits, then returns.", read),
		method("echo", "Echo.", read),
		method("type_of", "Host-side type.", read),
		method("dash-name", "A tool with a dash.", read),
		method("boom_str", "Throws a string.", read),
		method("typeOf", "Host-side view of the args.", read),
	}
	return connectors.New("store", "Use store for items.", list...)
}

func catalogueOf(t testing.TB, cs ...connectors.Connector) *Catalogue {
	t.Helper()
	set, err := connectors.NewSet(t.Context(), cs, nil)
	require.NoError(t, err)
	return New(set)
}
