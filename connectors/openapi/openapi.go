// Package openapi makes connectors of OpenAPI documents, versions 2.0 to 3.1: a method for each operation.
//
// Its rule: credentials go to the API they are configured for and nowhere else, and never come back to programs.
package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Options say which document a connector is made from, and how its
// server is reached. One of Document and Data is needed.
type Options struct {
	// Document is the file or URL of the document. A URL is https, or http on this machine.
	Document string
	// Data is the document itself: JSON or YAML, OpenAPI 3.0, 3.1 or Swagger 2.0.
	Data []byte
	// DocumentHeaders are sent when the document is fetched from a URL. Their values
	// are secrets as those of Headers are.
	DocumentHeaders map[string]string
	// BaseURL is where requests go, whatever servers the document names.
	BaseURL string
	// Origins, such as https://files.example.com, may get credentials and headers beside the API's own, which is that
	// of BaseURL or of the document's first server.
	Origins []string
	// ServerVariables fill the variables in the document's server URLs.
	ServerVariables map[string]string
	// Headers are sent with every request and win over all others. The values of
	// those whose names speak of credentials are secrets.
	Headers map[string]string
	// Secrets are more texts that programs and models never see, such as what
	// other headers took from the environment.
	Secrets []string
	// Credentials are for the document's security schemes, by their names.
	Credentials map[string]Credential
	// Instructions stand instead of the document's title and description.
	Instructions string
	// Verbs are those whose operations become methods, such as GET and HEAD for an
	// API that is only read. Empty: all.
	Verbs []string
	// RawRequest adds the method "request", a [Write] that sends any request to the server.
	RawRequest bool
	// ExposeSpec adds the method "spec", which gives the document.
	ExposeSpec bool
	// FullResponses makes every method answer {status, headers, body} instead of the body.
	FullResponses bool
	// Timeout bounds one request. Zero: the deadline that the caller brings, or a
	// minute when it brings none.
	Timeout time.Duration
	// MaxResponseBytes bounds the body of an answer. Zero: 8 MiB.
	MaxResponseBytes int64
	// Transport sends the requests, those for the document and for tokens too.
	// Nil: one that takes proxies from the environment.
	Transport http.RoundTripper
}

// New makes a connector from an OpenAPI document: a method for each
// operation, named by its operationId or else by its verb and path.
//
// A method takes one object with a property for each parameter, whatever its
// place, and the property "body". GET, HEAD and OPTIONS are a [Read], PUT and
// DELETE [Idempotent], all else a [Write]; these two carry the call's
// idempotency key in the header Idempotency-Key. The result is the body of the
// answer, decoded by its content type: JSON with all digits of its integers,
// text as a string, all else as bytes. An answer other than 2xx is a
// [*StatusError]; what 429 or 503 with Retry-After say to a Read or an
// Idempotent call is a [*RetryableError].
//
// The document is read when the methods are listed, and again each time they
// are. What in it is unusable is left out with a warning, see [Warner].
func New(name string, opts Options) connectors.Connector {
	c := &openAPIConnector{name: name, opts: opts}
	c.secrets = newSecrets(opts)
	c.tokens = map[string]*tokenSource{}
	c.client = web.NewClient(opts.Transport)
	if c.client.Own != nil {
		c.client.Own.DialContext = web.Dialer(c.reach)
	}
	return c
}

type openAPIConnector struct {
	name    string
	opts    Options
	client  *web.Client
	secrets *secrets

	hosts sync.Map // those that documents have named

	mu      sync.Mutex
	tokens  map[string]*tokenSource
	current *apiCatalogue
}

func (c *openAPIConnector) Name() string { return c.name }

func (c *openAPIConnector) Close() error {
	c.client.Close()
	return nil
}

const maxHint = 400

func (c *openAPIConnector) Instructions() string {
	catalogue := c.latest()
	if c.opts.Instructions != "" || catalogue == nil {
		return c.opts.Instructions
	}
	about, _, _ := strings.Cut(strings.TrimSpace(catalogue.about), "\n\n")
	return strings.TrimSpace(catalogue.title + "\n\n" + words.Shorten(about, maxHint))
}

func (c *openAPIConnector) latest() *apiCatalogue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// Methods makes every schema complete, so that those of a large document take
// up many times what [LargeConnector] does. Parts of results that lie deep are
// left out of their schemas.
func (c *openAPIConnector) Methods(ctx context.Context) ([]connectors.Method, error) {
	catalogue, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	return catalogue.methods(), nil
}

func (c *openAPIConnector) Large(ctx context.Context) (*connectors.LargeCatalogue, error) {
	catalogue, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	definitions := func() json.RawMessage { return catalogue.definitions.all }
	return &connectors.LargeCatalogue{Methods: catalogue.largeMethods(), Definitions: definitions}, nil
}

func (c *openAPIConnector) Warnings() []string {
	var list []string
	for _, w := range c.WarningList() {
		list = append(list, w.Text)
	}
	return list
}

// WarningList is what Warnings tell, with their kinds.
func (c *openAPIConnector) WarningList() []connectors.Warning {
	if catalogue := c.latest(); catalogue != nil {
		return slices.Clone(catalogue.warnings)
	}
	return nil
}

// load reads the document. One that has not changed keeps what was made of it.
func (c *openAPIConnector) load(ctx context.Context) (*apiCatalogue, error) {
	if err := c.opts.check(c.name); err != nil {
		return nil, err
	}
	data, err := c.read(ctx)
	if err != nil {
		return nil, c.secrets.hide(err)
	}
	digest := sha256.Sum256(data)
	if old := c.latest(); old != nil && old.digest == digest && !old.several {
		return old, nil
	}
	catalogue, err := newCatalogue(c, data)
	if err != nil {
		return nil, c.secrets.hide(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	catalogue.digest = digest
	c.current = catalogue
	return catalogue, nil
}
