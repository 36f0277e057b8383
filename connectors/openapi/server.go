package openapi

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// baseURL is where the requests of an operation go; op is nil for those of none.
func (c *apiCatalogue) baseURL(op *apiOperation) (*url.URL, error) {
	if c.api.opts.BaseURL != "" {
		return absoluteURL(c.api.opts.BaseURL)
	}
	base, err := c.server(op)
	if err != nil {
		return nil, err
	}
	home := base
	if op != nil {
		if home, err = c.server(nil); err != nil {
			return nil, err
		}
	}
	if err := c.api.checkOrigin(home, base); err != nil {
		return nil, err
	}
	return base, c.api.checkHost(base)
}

// server is the first usable one of an operation, or of the document.
func (c *apiCatalogue) server(op *apiOperation) (*url.URL, error) {
	texts, err := c.servers(op)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		u, err := c.locate(text)
		if err == nil {
			return u, nil
		}
	}
	return nil, fmt.Errorf("the document of connector %q names no server that requests can be sent to: set its "+
		"base URL", c.api.name)
}

// locate makes a server's URL absolute by the place of the document.
func (c *apiCatalogue) locate(text string) (*url.URL, error) {
	if c.at != nil {
		if u, err := c.at.Parse(text); err == nil {
			return absoluteURL(u.String())
		}
	}
	return absoluteURL(text)
}

// servers lists the candidates: the operation's own, else the path's, else the
// document's.
func (c *apiCatalogue) servers(op *apiOperation) (texts []string, err error) {
	servers := c.ownServers
	if op != nil && len(op.servers) > 0 {
		servers = op.servers
	}
	for _, server := range servers {
		text, err := c.fillServer(server)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return []string{"/"}, nil
	}
	return texts, nil
}

// fillServer puts values into the variables of a server's URL.
func (c *apiCatalogue) fillServer(server *openapi3.Server) (string, error) {
	text := server.URL
	for _, match := range pathVariable.FindAllStringSubmatch(server.URL, -1) {
		value, ok := c.api.opts.ServerVariables[match[1]]
		if variable := server.Variables[match[1]]; !ok && variable != nil {
			value, ok = variable.Default, true
		}
		if !ok {
			return "", fmt.Errorf("the server URL of connector %q has the variable %q, which has no value: set its "+
				"server variables or its base URL",
				c.api.name, match[1])
		}
		text = strings.ReplaceAll(text, match[0], value)
	}
	return text, nil
}
