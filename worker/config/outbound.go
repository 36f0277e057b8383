package config

import (
	"context"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/outbound"
)

// outbound reads where programs may fetch.
func (r *reader) outbound(key string, n *yaml.Node) *Outbound {
	o := &Outbound{}
	found := r.fields(n, key, map[string]take{
		"hosts":       func(key string, n *yaml.Node) { o.Hosts = r.hosts(key, n) },
		"private":     func(key string, n *yaml.Node) { o.Private = r.bool(key, n) },
		"timeout":     func(key string, n *yaml.Node) { o.Timeout = r.duration(key, n) },
		"maxResponse": func(key string, n *yaml.Node) { o.MaxResponseBytes = r.size(key, n) },
		"tools":       func(key string, n *yaml.Node) { o.Rules = r.tools(key, n) },
	})
	r.checkOutbound(found["tools"], o)
	if len(o.Hosts) == 0 {
		r.fail(n, `%s needs "hosts", the list of those that programs may reach`, key)
	}
	return o
}

// checkOutbound lays the rules over the methods of fetch, which are known before any server has answered.
func (r *reader) checkOutbound(tools *yaml.Node, o *Outbound) {
	if tools == nil || len(r.mistakes) > 0 {
		return
	}
	set, err := connectors.NewSet(context.Background(), []connectors.Connector{outbound.New(o.Options)},
		map[string][]connectors.Rule{outbound.Name: o.Rules})
	if err != nil {
		r.fail(tools, "%v", err)
		return
	}
	_ = set.Close()
}

func (r *reader) hosts(key string, n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s must be a list, but is %s", key, shown(n))
		return nil
	}
	var list []string
	for i, item := range n.Content {
		item = resolve(item)
		t, ok := r.scalar("item "+strconv.Itoa(i+1)+" of "+key, item)
		if !ok {
			continue
		}
		if err := outbound.CheckHost(t.value); err != nil {
			r.reject(item, t, "%v", err)
		}
		list = append(list, t.value)
	}
	return list
}
