package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Client speaks to the ledger at an address.
type Client struct{ Address string }

// Call asks for an effect. An error says nothing about whether it happened.
func (c Client) Call(ctx context.Context, e Entry) (Entry, error) {
	e.Caller = os.Getpid()
	return e, c.do(ctx, http.MethodPost, "/calls", e, &e)
}

// Entries are the calls of an execution that reached the ledger, in order.
func (c Client) Entries(ctx context.Context, execution string) (entries []Entry, err error) {
	return entries, c.do(ctx, http.MethodGet, "/calls?execution="+url.QueryEscape(execution), nil, &entries)
}

// Set sets a trap.
func (c Client) Set(ctx context.Context, t Trap) error {
	return c.do(ctx, http.MethodPost, "/traps", t, nil)
}

func (c Client) do(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the ledger answered %s: %s", response.Status, strings.TrimSpace(string(answer)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
