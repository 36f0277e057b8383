package openapi

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// Credential is what a security scheme of a document asks for. Which
// fields count depends on the scheme. None ever reaches a program, a schema or
// an error.
type Credential struct {
	// Token is an API key, or what stands behind "Bearer".
	Token string
	// Username and Password are for basic authentication.
	Username, Password string
	// ClientID and ClientSecret fetch tokens by the OAuth 2 client credentials grant.
	ClientID, ClientSecret string
	// TokenURL stands instead of the document's. It is https, or http on this machine.
	TokenURL string
	// Scopes are asked for with the token.
	Scopes []string
}

func (c Credential) usesClient() bool { return c.ClientID != "" }

// apiScheme is a security scheme of the document that has a credential.
type apiScheme struct {
	openapi3.SecurityScheme
	credential Credential
	tokens     *tokenSource // for the client credentials grant
}

// readSchemes joins the credentials with the document's schemes.
func (c *apiCatalogue) readSchemes(known openapi3.SecuritySchemes) {
	c.schemes = map[string]*apiScheme{}
	for _, name := range slices.Sorted(maps.Keys(c.api.opts.Credentials)) {
		scheme, ok := known[name]
		if !ok || whyLeftOut(scheme.Value.Extensions) != "" {
			c.warn(connectors.WarnCredential,
				"there are credentials for the security scheme %q, which the document does not have", name)
			continue
		}
		s := &apiScheme{SecurityScheme: *scheme.Value, credential: c.api.opts.Credentials[name]}
		if err := c.prepare(name, s); err != nil {
			c.warn(connectors.WarnCredential, "the security scheme %q is not used: %v", name, err)
			continue
		}
		c.schemes[name] = s
	}
}

// prepare checks that the credential is one for its scheme.
func (c *apiCatalogue) prepare(name string, s *apiScheme) error {
	given := s.credential
	switch {
	case s.isBasic() && given.Username == "" && given.Password == "" && given.Token == "":
		return fmt.Errorf("it wants a username and a password")
	case s.isBasic():
	case s.Type == "apiKey":
		if given.Token == "" {
			return fmt.Errorf("it wants a token")
		}
		if !slices.Contains([]string{inQuery, inHeader, inCookie}, s.In) || s.Name == "" {
			return fmt.Errorf("the document does not say where its key goes")
		}
	case given.usesClient():
		at, err := c.tokenURL(s)
		if err != nil {
			return err
		}
		s.tokens = c.api.tokenSource(name, at, given)
	case given.Token == "":
		return fmt.Errorf("it wants a token, or a client for the client credentials grant")
	}
	if s.tokens == nil && s.In != inQuery && !validHeader("x", given.Token) {
		return fmt.Errorf("HTTP cannot carry its token")
	}
	return nil
}

func (s *apiScheme) isBasic() bool { return s.Type == "http" && strings.EqualFold(s.Scheme, "basic") }

func (c *apiCatalogue) tokenURL(s *apiScheme) (string, error) {
	at := s.credential.TokenURL
	if at != "" {
		return at, checkTokenURL(at)
	}
	if s.Flows != nil && s.Flows.ClientCredentials != nil {
		at = s.Flows.ClientCredentials.TokenURL
	}
	if at == "" {
		return "", fmt.Errorf("neither the document nor its credential says where tokens come from")
	}
	if isURL(at) {
		if err := checkTokenURL(at); err != nil {
			return "", err
		}
	}
	base, err := c.baseURL(nil)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(at)
	if err != nil {
		return "", fmt.Errorf("the document's token URL is not one")
	}
	if err := c.api.checkOrigin(base, u); err != nil {
		return "", fmt.Errorf("its tokens come from %s, which the document names: write that as its tokenURL if it "+
			"should get the client's secret", u.Host)
	}
	if err := c.api.checkHost(u); err != nil {
		return "", err
	}
	return u.String(), checkTokenURL(u.String())
}

func checkTokenURL(at string) error {
	if _, err := documentURL(at); err != nil {
		return fmt.Errorf("tokens are fetched by https only, unless on this machine")
	}
	return nil
}

// fills tells that the connector itself sends what the parameter stands for.
func (c *apiCatalogue) fills(p *apiParameter) bool {
	if p.in == inHeader {
		if strings.EqualFold(p.name, typeProperty) {
			return true // the body's
		}
		for name := range c.api.opts.Headers {
			if strings.EqualFold(p.name, name) {
				return true
			}
		}
	}
	for _, s := range c.schemes {
		if s.fills(p) {
			return true
		}
	}
	return false
}

func (s *apiScheme) fills(p *apiParameter) bool {
	if s.Type == "apiKey" {
		return p.in == s.In && (p.name == s.Name || p.in == inHeader && strings.EqualFold(p.name, s.Name))
	}
	return p.in == inHeader && strings.EqualFold(p.name, "Authorization")
}

// security chooses the schemes for a request: of the alternatives that the
// document allows the first for which there are all credentials. Where the
// document says nothing, all are sent.
func (c *apiCatalogue) security(op *apiOperation) []*apiScheme {
	required := c.required
	if op != nil && op.security != nil {
		required = *op.security
	}
	if required == nil {
		return c.allSchemes()
	}
	for _, alternative := range required {
		if chosen := c.having(alternative); len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

func (c *apiCatalogue) allSchemes() (list []*apiScheme) {
	for _, name := range slices.Sorted(maps.Keys(c.schemes)) {
		list = append(list, c.schemes[name])
	}
	return list
}

// having gives the schemes of an alternative, none unless there are all.
func (c *apiCatalogue) having(alternative openapi3.SecurityRequirement) (list []*apiScheme) {
	for _, name := range slices.Sorted(maps.Keys(alternative)) {
		scheme, ok := c.schemes[name]
		if !ok {
			return nil
		}
		list = append(list, scheme)
	}
	return list
}

// authorize puts the credential into a request. token is for schemes with a token source.
func (s *apiScheme) authorize(r *web.Request, token string) {
	given := s.credential
	if s.tokens == nil {
		token = given.Token
	}
	switch {
	case s.isBasic():
		r.Header.Set("Authorization", "Basic "+given.basic())
	case s.Type == "http" && !strings.EqualFold(s.Scheme, "bearer") && s.Scheme != "":
		r.Header.Set("Authorization", s.Scheme+" "+token)
	case s.Type != "apiKey":
		r.Header.Set("Authorization", "Bearer "+token)
	case s.In == inQuery:
		r.SetQuery(s.Name, token)
	case s.In == inCookie:
		r.SetCookie(s.Name, token)
	default:
		r.Header.Set(s.Name, token)
	}
}

// basic takes a lone token for the username, as services with API keys have it.
func (c Credential) basic() string {
	user := c.Username
	if user == "" && c.Password == "" {
		user = c.Token
	}
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + c.Password))
}

func validHeader(name, value string) bool {
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7F {
			return false
		}
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return name != "" && http.CanonicalHeaderKey(name) != "Host"
}
