package console

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// Webhook tells a receiver of every call that begins to wait for a person: one signed POST for each, repeated until the
// receiver takes it or the call waits no longer. Since a restarted console tells again of what waits, receivers may
// hear of a call more than once, always with the same webhook-id.
type Webhook struct {
	url    string
	secret []byte
	// Retry is the first pause after a failure; 0 is one second. It doubles up to five minutes.
	Retry  time.Duration
	client *http.Client
}

const (
	webhookPatience = 10 * time.Second
	webhooksAtOnce  = 4
	longestPause    = 5 * time.Minute
)

// NewWebhook checks where to send to. The secret signs each delivery, as the Standard Webhooks specification says.
func NewWebhook(target, secret string) (*Webhook, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the webhook's URL must be http(s)://…") // it may hold a secret: it is not repeated
	}
	if len(secret) < minToken {
		return nil, fmt.Errorf("the webhook's secret needs at least %d characters: receivers check signatures with it",
			minToken)
	}
	key := []byte(secret)
	if text, prefixed := strings.CutPrefix(secret, "whsec_"); prefixed {
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errors.New("the webhook's secret begins with whsec_, so base64 must follow")
		}
	}
	return &Webhook{url: target, secret: key, client: &http.Client{
		Timeout:       webhookPatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// notice is the body of a delivery. Text makes it readable where a chat shows it as it comes.
type notice struct {
	Type      string             `json:"type"`
	Timestamp string             `json:"timestamp"`
	Text      string             `json:"text"`
	URL       string             `json:"url,omitempty"`
	Data      codemode.InboxItem `json:"data"`
}

// run delivers until ctx is done.
func (w *Webhook) run(ctx context.Context, c *Console) {
	changes, stop := c.inbox.subscribe()
	defer stop()
	slots := make(chan struct{}, webhooksAtOnce)
	underway := map[key]context.CancelFunc{}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		waiting := map[key]bool{}
		for _, item := range c.inbox.snapshot(c.names()).Items {
			k := keyOf(item)
			if waiting[k] = true; underway[k] == nil {
				one, cancel := context.WithCancel(ctx)
				underway[k] = cancel
				running.Go(func() { w.deliver(one, c, item, slots) })
			}
		}
		for k, cancel := range underway {
			if !waiting[k] {
				cancel()
				delete(underway, k)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
	}
}

// deliver sends until it is taken.
func (w *Webhook) deliver(ctx context.Context, c *Console, item codemode.InboxItem, slots chan struct{}) {
	pause := w.Retry
	if pause == 0 {
		pause = time.Second
	}
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		err := w.send(ctx, c.notice(item, time.Now()), keyOf(item))
		<-slots
		if err == nil {
			return
		}
		c.Log.Warn("a webhook was not taken", "call", keyOf(item).String(), "again", pause, "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
}

func (c *Console) notice(item codemode.InboxItem, now time.Time) notice {
	n := notice{Type: "pending", Timestamp: now.UTC().Format(time.RFC3339), Data: publicItem(item)}
	n.Text = signals.Visible(fmt.Sprintf("%s.%s %s: %s", item.Connector, item.Method, waitsFor[newCard(item).Asks()],
		signals.Summary(item.Current(), 300)))
	if !item.Caller.IsZero() {
		n.Text += ", " + signals.Visible(item.Caller.String())
	}
	if c.base != nil {
		n.URL = c.base.String() + executionLink(item.Runtime, item.ExecutionID)
		n.Text += "\n" + n.URL
	}
	return n
}

// waitsFor says what a call asks of people.
var waitsFor = map[string]string{
	"approval": "waits for approval", "result": "waits for its result from a person",
	"unknown": "may or may not have taken effect, and waits for a decision",
}

func (w *Webhook) send(ctx context.Context, n notice, k key) error {
	body, err := signals.Marshal(n)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook's URL cannot be used")
	}
	id, stamp := webhookID(k), strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "codemode-console")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", stamp)
	r.Header.Set("webhook-signature", w.sign(id, stamp, body))
	answer, err := w.client.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64*1024))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the receiver answered %s", answer.Status)
	}
	return nil
}

// webhookID names a delivery, the same in every attempt.
func webhookID(k key) string {
	sum := sha256.Sum256([]byte(k.String()))
	return "msg_" + base64.RawURLEncoding.EncodeToString(sum[:18])
}

func (w *Webhook) sign(id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, w.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// withoutURL drops the address from an error: many a webhook's address is its secret.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
