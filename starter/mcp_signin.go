package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/starter/guard"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

func (f *mcpFlags) signInFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.signIn.Issuer, "oidc-issuer", "",
		"the `address` of the OpenID Connect provider whose access tokens clients bring; needs --url")
	flags.StringVar(&f.signIn.Audience, "oidc-audience", "",
		"what its access tokens for this door are for (default: the address of this door, with /mcp)")
	flags.StringSliceVar(&f.signIn.Runners, "oidc-runners", nil,
		"who may run programs, such as `scope:codemode`, group:staff, role:developer or email:ada@example.com\n"+
			"(verified); * for all")
	flags.StringSliceVar(&f.signIn.Approvers, "oidc-approvers", nil,
		"those who may also decide at their clients, such as `group:finance`")
	flags.StringSliceVar(&f.signIn.Viewers, "oidc-viewers", nil,
		"those who may also see outcomes of what others run, such as `group:audit`")
	flags.StringArrayVar(&f.quotas, "quota", nil,
		"`who=n/m`: at most n executions of each such caller in flight, and m started within an hour, 0 for any\n"+
			"number. Who is group:name or * for all; the first one that applies counts")
}

// authenticates reports whether callers are known by name.
func (f mcpFlags) authenticates() bool { return f.tokens != "" || f.signIn.Issuer != "" }

// httpOptions say who may come in: by token or sign-in, or where there are none of these by a key.
func (f mcpFlags) httpOptions(ctx context.Context) (o mcpserver.HTTPOptions, err error) {
	o = mcpserver.HTTPOptions{SSE: f.sse, Site: guard.Site{Anywhere: f.authenticates()}}
	if f.url != "" {
		if o.Site.Base, err = url.Parse(strings.TrimSuffix(f.url, "/")); err != nil {
			return o, err
		}
	}
	if !f.authenticates() {
		o.Key, err = guard.NewKey()
		return o, err
	}
	quotas, err := parseQuotas(f.quotas)
	if err != nil {
		return o, err
	}
	if f.tokens != "" {
		tokens, err := console.LoadTokens(f.tokens)
		if err != nil {
			return o, err
		}
		o.Authenticate = func(token string) (mcpserver.Caller, bool) {
			who, ok := tokens.Find(token)
			return callerOf(who, quotas), ok
		}
	}
	if f.signIn.Issuer != "" {
		o.SignIn, err = f.resourceServer(ctx, quotas)
	}
	return o, err
}

// resourceServer takes the access tokens of the provider.
func (f mcpFlags) resourceServer(ctx context.Context, quotas []quota) (*mcpserver.SignIn, error) {
	o, resource := f.signIn, strings.TrimSuffix(f.url, "/")+"/mcp"
	if o.Audience == "" {
		o.Audience = resource
	}
	tokens, err := console.NewAccessTokens(ctx, o)
	if err != nil {
		return nil, err
	}
	return &mcpserver.SignIn{Resource: resource, Issuer: o.Issuer, Scopes: tokens.Scopes(), ToRun: tokens.ToRun(),
		Verify: func(ctx context.Context, token string) (mcpserver.Caller, error) {
			who, err := tokens.Identify(ctx, token)
			return callerOf(who, quotas), err
		}}, nil
}

func callerOf(who console.Identity, quotas []quota) mcpserver.Caller {
	c := mcpserver.Caller{Name: who.Name, MayRun: who.Roles.MayRun(), MayLook: who.Roles.MayLook(),
		MayDecide: who.Roles.MayDecide(), Groups: who.Groups, Subject: who.Subject}
	at := slices.IndexFunc(quotas, func(q quota) bool { return q.group == "*" || slices.Contains(who.Groups, q.group) })
	if at >= 0 {
		c.Quota = quotas[at].Quota
	}
	return c
}

// quota is what callers of a group may start; of the group * all are.
type quota struct {
	group string
	mcpserver.Quota
}

func parseQuotas(list []string) (quotas []quota, err error) {
	for _, text := range list {
		who, numbers, _ := strings.Cut(text, "=")
		flying, hourly, _ := strings.Cut(numbers, "/")
		group, isGroup := strings.CutPrefix(who, "group:")
		n, err1 := strconv.ParseUint(flying, 10, 31)
		m, err2 := strconv.ParseUint(hourly, 10, 31)
		if err1 != nil || err2 != nil || who != "*" && (!isGroup || group == "" || group == "*") {
			return nil, fmt.Errorf("--quota %q: write who=n/m, such as *=10/200 or group:interns=2/20", text)
		}
		quotas = append(quotas, quota{group, mcpserver.Quota{InFlight: int(n), PerHour: int(m)}})
	}
	return quotas, nil
}
