package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/starter/guard"
)

// claims are what a token of the provider says of a person.
type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Email    string   `json:"email"`
	Verified bool     `json:"email_verified"`
	User     string   `json:"preferred_username"`
	Groups   []string `json:"groups"`
	Roles    []string `json:"roles"`
	Nonce    string   `json:"nonce"`
}

// identity is who the claims are of. An address that the provider has not verified counts for nothing, and a user name,
// which people may often choose, is not the name of anybody without the subject.
func (c claims) identity() Identity {
	who := Identity{Name: c.Subject, Asserted: true, Groups: c.Groups}
	if c.User != "" {
		who.Name = fmt.Sprintf("%s [%s]", c.User, c.Subject)
	}
	if c.Verified && c.Email != "" {
		who.Name = c.Email
	}
	if c.Subject != "" {
		sum := sha256.Sum256([]byte(c.Issuer + "\n" + c.Subject))
		who.Subject = hex.EncodeToString(sum[:16])
	}
	return who
}

// holds are the values that lists of who may do what are compared with.
func (c claims) holds() []string {
	list := []string{"*"}
	for _, group := range c.Groups {
		list = append(list, "group:"+group)
	}
	for _, role := range c.Roles {
		list = append(list, "role:"+role)
	}
	if c.Verified && c.Email != "" {
		list = append(list, "email:"+c.Email)
	}
	return list
}

// hasAny reports whether one of the wanted values is held.
func hasAny(held, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(held, w) })
}

// checkHolders wants each value to say which claim it is of: else who may name a group at the provider could give it
// the address of somebody else.
func checkHolders(list []string, kinds ...string) error {
	for _, value := range list {
		claim, name, _ := strings.Cut(value, ":")
		if value != "*" && (name == "" || !slices.Contains(kinds, claim)) {
			var ways []string
			for _, kind := range kinds {
				ways = append(ways, kind+":"+value)
			}
			return fmt.Errorf("say what %q is: %s", value, strings.Join(ways, ", "))
		}
	}
	return nil
}

// claimKinds are the claims that lists of people may name.
var claimKinds = []string{"group", "role", "email"}

// checkIssuer refuses a provider whose keys somebody on the way could replace.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !guard.Loopback(u.Hostname())) {
		return fmt.Errorf("the OIDC issuer %q must be an https:// address: whoever can change what it answers "+
			"can sign in as anybody", issuer)
	}
	return nil
}
