package conformance

import (
	"encoding/json"
	"fmt"

	"github.com/temporal-codemode/codemode/connectors"
)

// fixtures outlive the workers of their process.
type fixtures struct {
	store *store
	mcp   *mcpServer
	api   *apiServer
}

func newFixtures() *fixtures {
	return &fixtures{store: newStore(), mcp: newMCPServer(), api: newAPIServer()}
}

// connectors makes a connector set of the option conns.
func (f *fixtures) connectors(names []string) ([]connectors.Connector, error) {
	var all []connectors.Connector
	for _, name := range names {
		c, err := f.connector(name)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (f *fixtures) connector(name string) (connectors.Connector, error) {
	switch name {
	case "store":
		return f.store.connector(), nil
	case "mcp":
		return f.mcp.connector(), nil
	case "api":
		return f.api.connector(), nil
	}
	ping := func(connectors.Context, json.RawMessage) (any, error) { return "pong", nil }
	return connectors.New(name, "", connectors.Method{Name: "ping", Class: connectors.Read, Execute: ping}), nil
}

// received are the requests that a fixture got, oldest first.
func (f *fixtures) received(connector string) (any, error) {
	switch connector {
	case "mcp":
		return f.mcp.received(), nil
	case "api":
		return f.api.received(), nil
	}
	return nil, fmt.Errorf("the connector %q keeps no list of requests", connector)
}
