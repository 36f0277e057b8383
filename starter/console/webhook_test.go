package console

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

type delivery struct{ id, body string }

// receiver takes deliveries, after failing as often as asked.
func receiver(t *testing.T, failures int) (*httptest.Server, chan delivery) {
	taken := make(chan delivery, 100)
	calls := make(chan bool, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key, _ := base64.StdEncoding.DecodeString(webhookSecret[len("whsec_"):])
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "." + string(body)))
		if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Error("the signature is wrong")
		}
		calls <- true
		if len(calls) <= failures {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		taken <- delivery{r.Header.Get("webhook-id"), string(body)}
	}))
	t.Cleanup(server.Close)
	return server, taken
}

// deliver runs the webhook of a console until the test is done.
func deliver(t *testing.T, s *site) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.console.Webhook.run(ctx, s.console) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func next(t *testing.T, taken chan delivery) delivery {
	t.Helper()
	select {
	case d := <-taken:
		return d
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing was delivered")
		return delivery{}
	}
}

func TestWebhooksAreSignedAndRepeated(t *testing.T) {
	server, taken := receiver(t, 3)
	hook, err := NewWebhook(server.URL, webhookSecret)
	require.NoError(t, err)
	hook.Retry = time.Millisecond
	s := newSite(t, newFake(1), Options{Webhook: hook, URL: "http://localhost:8234"})
	stop := deliver(t, s)
	first := next(t, taken)
	require.Contains(t, first.body, `"type":"pending"`)
	require.Contains(t, first.body, "bank.pay waits for approval")
	require.Contains(t, first.body, "http://localhost:8234/executions/default/exec_0")
	require.NotContains(t, first.body, secret)
	s.fake.items = append(s.fake.items, newFake(2).items[1])
	s.refresh()
	second := next(t, taken)
	require.NotEqual(t, first.id, second.id)
	require.Contains(t, second.body, "customer 1")
	stop()
	require.Empty(t, taken, "each once")
	deliver(t, s) // another console
	again := map[string]bool{next(t, taken).id: true, next(t, taken).id: true}
	require.Equal(t, map[string]bool{first.id: true, second.id: true}, again,
		"a restart tells again, under the same ids")
}

func TestWebhooksSayWhoStartedTheExecution(t *testing.T) {
	server, taken := receiver(t, 0)
	hook, err := NewWebhook(server.URL, webhookSecret)
	require.NoError(t, err)
	f := newFake(1)
	f.items[0].Caller = signals.Caller{StartedBy: "bot\u202e", Labels: map[string]string{"team": "billing"}}
	deliver(t, newSite(t, f, Options{Webhook: hook}))
	var got struct {
		Text string
		Data codemode.InboxItem
	}
	require.NoError(t, json.Unmarshal([]byte(next(t, taken).body), &got))
	require.Equal(t, f.items[0].Caller, got.Data.Caller)
	require.Contains(t, got.Text, `, started by "bot\u202e" (a claim), label team="billing"`)
}

func TestWebhooksStopWithTheCall(t *testing.T) {
	attempts := make(chan bool, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attempts <- true
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	hook, err := NewWebhook(server.URL, webhookSecret)
	require.NoError(t, err)
	hook.Retry = time.Hour // the second attempt would never come
	s := newSite(t, newFake(1), Options{Webhook: hook})
	stop := deliver(t, s)
	<-attempts
	s.fake.items = nil
	s.refresh()
	stop() // returns only if the delivery was given up
	require.Empty(t, attempts)
}

func TestWebhookMistakes(t *testing.T) {
	for target, secret := range map[string]string{"ftp://x": webhookSecret, "x": webhookSecret, "http://x": "short",
		"https://x": "whsec_not base64 but long enough"} {
		_, err := NewWebhook(target, secret)
		require.Error(t, err, target)
	}
	hook, err := NewWebhook("http://127.0.0.1:1/T0/secret-path", webhookSecret)
	require.NoError(t, err)
	err = hook.send(context.Background(), notice{}, key{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret-path", "the address is often the secret")
}
