package console

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/starter/guard"
)

// Role is what somebody may do.
type Role string

// The roles. Approvers see what viewers see. Running programs is a role of its own: runners use the doors for models,
// and see nothing in the console.
const (
	Viewer   Role = "viewer"
	Approver Role = "approver"
	Runner   Role = "runner"
)

// Roles are all that somebody has.
type Roles []Role

// MayLook lets somebody see what runs and what waits.
func (r Roles) MayLook() bool { return slices.Contains(r, Viewer) || r.MayDecide() }

// MayDecide lets somebody approve, reject and undo.
func (r Roles) MayDecide() bool { return slices.Contains(r, Approver) }

// MayRun lets somebody run programs.
func (r Roles) MayRun() bool { return slices.Contains(r, Runner) }

// console is the role that counts in the console.
func (r Roles) console() Role {
	switch {
	case r.MayDecide():
		return Approver
	case r.MayLook():
		return Viewer
	}
	return Runner
}

func (r Roles) known() bool {
	return len(r) > 0 && !slices.ContainsFunc(r, func(role Role) bool {
		return role != Viewer && role != Approver && role != Runner
	})
}

// Identity is who asks.
type Identity struct {
	Name  string
	Roles Roles
	// Asserted says that the name was authenticated, not merely claimed.
	Asserted bool
	// Groups are those that rules about approvers ask for.
	Groups []string
	// Subject is the digest of who it is at the provider, whatever the name says; empty of tokens of the file.
	Subject string
}

// Role is the one that counts in the console.
func (i Identity) Role() Role { return i.Roles.console() }

// Tokens are the people and programs that come in with a token of their own.
type Tokens struct {
	byDigest map[[32]byte]Identity
}

// minToken keeps tokens from being guessed.
const minToken = 24

// LoadTokens reads a tokens file: a YAML list of {name, role, token}, or roles in place of a role, and groups for rules
// about approvers.
func LoadTokens(path string) (*Tokens, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("tokens file %s can be read by everybody on this machine: chmod 600 %s", path, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens file: %w", err)
	}
	t, err := ParseTokens(text)
	if err != nil {
		return nil, fmt.Errorf("tokens file %s: %w", path, err)
	}
	return t, nil
}

// ParseTokens reads the text of a tokens file. Its errors never hold a token.
func ParseTokens(text []byte) (*Tokens, error) {
	var list []struct {
		Name  string `yaml:"name"`
		Role  Role   `yaml:"role"`
		Roles Roles  `yaml:"roles"`
		Token string `yaml:"token"`

		Groups []string `yaml:"groups"`
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if d.Decode(&list) != nil {
		return nil, errors.New("want a YAML list of {name: ada, role: viewer, approver or runner, token: …}")
	}
	t := &Tokens{byDigest: map[[32]byte]Identity{}}
	for n, e := range list {
		if e.Role != "" {
			e.Roles = append(e.Roles, e.Role)
		}
		digest := sha256.Sum256([]byte(e.Token))
		_, twice := t.byDigest[digest]
		switch {
		case strings.TrimSpace(e.Name) == "":
			return nil, fmt.Errorf("entry %d has no name", n+1)
		case !e.Roles.known():
			return nil, fmt.Errorf("the role of %q must be viewer, approver or runner, or roles a list of them", e.Name)
		case len(e.Token) < minToken:
			return nil, fmt.Errorf("the token of %q has fewer than %d characters: make one with openssl rand "+
				"-base64 24", e.Name, minToken)
		case twice:
			return nil, fmt.Errorf("%q has the token of somebody else", e.Name)
		}
		t.byDigest[digest] = Identity{Name: e.Name, Roles: e.Roles, Asserted: true, Groups: e.Groups}
	}
	if len(t.byDigest) == 0 {
		return nil, errors.New("it lists nobody")
	}
	return t, nil
}

// Find tells whose token it is. Digests are compared, so the time taken says nothing about tokens.
func (t *Tokens) Find(token string) (Identity, bool) {
	if t == nil {
		return Identity{}, false
	}
	who, ok := t.byDigest[sha256.Sum256([]byte(token))]
	return who, ok
}

// Exposure is how a console is about to be reached.
type Exposure struct {
	Addr          string // host:port to listen on
	URL           string // as others see it
	Authenticated bool
	TLS           bool
}

// Check refuses what would let strangers decide, or tokens travel in the clear.
func (e Exposure) Check() error {
	host, _, err := net.SplitHostPort(e.Addr)
	if err != nil {
		return fmt.Errorf("address %q is not host:port: %w", e.Addr, err)
	}
	base, err := parseBase(e.URL)
	if err != nil || guard.Loopback(host) && (base == nil || guard.Loopback(base.Hostname())) {
		return err
	}
	if !e.Authenticated {
		return fmt.Errorf("others can reach %s, so people have to be authenticated, or listen on 127.0.0.1", e.Addr)
	}
	if !e.TLS && (base == nil || base.Scheme != "https" && !guard.Loopback(base.Hostname())) {
		return fmt.Errorf("others can reach %s, so the connection has to be encrypted: give a certificate and a "+
			"key, or, if a proxy "+
			"in front does that, the https:// URL that people use", e.Addr)
	}
	return nil
}
