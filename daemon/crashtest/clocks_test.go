package crashtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestClockSkew runs a daemon with a clock that differs by an hour from that of the other one
// and the server. This must have no effect.
func TestClockSkew(t *testing.T) {
	if os.Getenv(mssqltest.Variable) == "" {
		t.Skip("skipped, since " + mssqltest.Variable + " names no server")
	}
	program := buildWithShiftedClock(t)
	for name, ahead := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			shifted := program
			shifted.Env = []string{clockOffsetVariable + "=" + strconv.Itoa(int(ahead.Seconds()))}
			p := newCluster(t, shifted, daemontest.Program{})
			if got := p.nodes[0].measureOffset(t); (got - ahead).Abs() > ahead.Abs()/2 {
				t.Fatalf("the first daemon's clock is ahead by %v, want %v", got, ahead)
			}
			p.nodes[0].clockOffset = ahead
			p.disturb(t, min(*rounds, 3))
			p.await(t)
			p.clients = []*client.Client{signedIn(t, p.nodes[0].URL()), signedIn(t, p.nodes[1].URL())}
			t.Run("retries", p.testRetries)
			t.Run("keys", p.testKeys)
			t.Run("logins", p.testLogins)
			p.finish(t)
			p.testTimes(t)
		})
	}
}

// Delays between the attempts at a retryReceiver: first that of the schedule, then its
// Retry-After.
const (
	scheduled  = 4 * time.Second
	retryAfter = 30 * time.Second
)

// retryReceiver is an endpoint that accepts a message at the third attempt.
type retryReceiver struct {
	mu       sync.Mutex
	attempts map[string][]time.Time // by body
	accepted chan string
}

// ServeHTTP implements http.Handler.
func (h *retryReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 64)
	n, _ := r.Body.Read(body)
	text := string(body[:n])
	h.mu.Lock()
	h.attempts[text] = append(h.attempts[text], time.Now())
	nth := len(h.attempts[text])
	h.mu.Unlock()
	switch nth {
	case 1:
		w.WriteHeader(http.StatusUnprocessableEntity)
	case 2:
		w.Header().Set("Retry-After", time.Now().Add(retryAfter).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusUnprocessableEntity)
	case 3:
		h.accepted <- text
	}
}

// testRetries publishes an event at each daemon and checks when it is retried, and the
// times that both report.
func (p *cluster) testRetries(t *testing.T) {
	ctx := context.Background()
	h := &retryReceiver{attempts: make(map[string][]time.Time), accepted: make(chan string, 2)}
	srv := httptest.NewServer(h)
	defer srv.Close()
	event := "debtor.created"
	schedule := strings.Join(slices.Repeat([]string{scheduled.String()}, 5), ",")
	name := "hesitant"
	subscriber, err := p.clients[0].AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.clients[0].AddSubscription(ctx, subscriber.RecID, wire.SubscriptionRequest{
		URL:           &srv.URL,
		EventName:     &event,
		RetrySchedule: &schedule,
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range p.clients {
		_, err := c.PublishEvent(ctx, event, fmt.Sprint("of daemon ", n))
		if err != nil {
			t.Fatal(err)
		}
	}
	p.expectWaiting(t, subscriber.RecID)
	for range p.clients {
		select {
		case <-h.accepted:
		case <-time.After(recoveryTimeout):
			t.Fatalf("a retry is not made within %v: %v", recoveryTimeout, h.attempts)
		}
	}
	for body, at := range h.attempts {
		first, second := at[1].Sub(at[0]), at[2].Sub(at[1])
		if first < scheduled/2 || second < retryAfter*3/4 {
			t.Errorf("the event %q was retried after %v and then %v, want about %v and %v",
				body, first, second, scheduled, retryAfter)
		}
	}
}

// expectWaiting waits until messages await a retry, and checks the due times that each
// daemon reports.
func (p *cluster) expectWaiting(t *testing.T, subscriber string) {
	t.Helper()
	end := time.Now().Add(recoveryTimeout)
	seen := make(map[string]bool)
	for len(seen) < len(p.clients) {
		if time.Now().After(end) {
			t.Fatalf("%d messages await a retry, want %d", len(seen), len(p.clients))
		}
		for _, c := range p.clients {
			page, err := c.Messages(context.Background(), subscriber, url.Values{"Status": {"2"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page.Results {
				seen[m.MessageID] = true
				expectNow(t, "added", m.AddedDateTime)
				expectNow(t, "saved", m.LastSavedDateTime)
				expectNow(t, "due", m.NextAttemptDateTime)
			}
		}
	}
}

// expectNow checks that a time of a message is near the present one.
func expectNow(t *testing.T, column string, at wire.Timestamp) {
	t.Helper()
	offset := time.Until(time.Time(at)).Abs()
	if offset > timestampTolerance {
		t.Errorf("a message is %s at %v, %v from now, want at most %v", column, time.Time(at), offset, timestampTolerance)
	}
}

// testKeys publishes under keys at one daemon and repeats the requests at the other.
func (p *cluster) testKeys(t *testing.T) {
	ctx := context.Background()
	for n, c := range p.clients {
		other := p.clients[1-n]
		key := fmt.Sprint("clocks ", n)
		first, err := c.PublishEventOnce(ctx, key, concurrentEvent, "one")
		if err != nil {
			t.Fatal(err)
		}
		repeated, err := other.PublishEventOnce(ctx, key, concurrentEvent, "one")
		if err != nil || repeated.EventID != first.EventID {
			t.Errorf("repeating the event returned %+v (%v), want %+v", repeated, err, first)
		}
		_, err = other.PublishEventOnce(ctx, key, concurrentEvent, "two")
		failed, ok := errors.AsType[*client.Error](err)
		if !ok || failed.Status != http.StatusConflict {
			t.Errorf("publishing another body under the key: error %v, want status 409", err)
		}
	}
}

// testLogins uses tokens and keys of one daemon at the other.
func (p *cluster) testLogins(t *testing.T) {
	ctx := context.Background()
	for n, post := range p.nodes {
		here, there := post.URL(), p.nodes[1-n].URL()
		c, err := client.New(client.Options{URL: here})
		if err != nil {
			t.Fatal(err)
		}
		login, err := c.Login(ctx, "admin", daemontest.AdminPassword)
		if err != nil {
			t.Fatal(err)
		}
		expectAuthenticated(t, client.Options{URL: there, Session: login.SessionID})
		soon := time.Now().UTC().Add(shortLogin).Format(wire.DateLayout)
		key, err := c.AddAPIKey(ctx, wire.APIKeyRequest{Name: fmt.Sprint("short ", n), Role: "admin", ExpiryDateTime: soon})
		if err != nil {
			t.Fatal(err)
		}
		expectAuthenticated(t, client.Options{URL: there, Token: key.Key})
	}
}

// expectAuthenticated checks that a daemon accepts a login of the other one.
func expectAuthenticated(t *testing.T, o client.Options) {
	t.Helper()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CurrentSession(context.Background())
	if err != nil {
		t.Errorf("a login of one daemon returned the error %v at the other, want none", err)
	}
}

// testTimes checks that all stored times are the server's.
func (p *cluster) testTimes(t *testing.T) {
	t.Helper()
	for _, column := range []string{
		"SY_WebhookMessage.AddedDateTime",
		"SY_WebhookMessage.LastSavedDateTime",
		"SY_WebhookMessageResponse.LastSavedDateTime",
		"WH_Event.AddedDateTime",
		"WH_Nudge.AddedDateTime",
	} {
		table, name, _ := strings.Cut(column, ".")
		statement := fmt.Sprintf("SELECT COUNT(*) FROM whd.%s WHERE ABS(DATEDIFF(minute, %s, SYSUTCDATETIME())) > 30", table, name)
		if n := p.count(t, statement); n > 0 {
			t.Errorf("%d times in %s differ from the server's clock, want none", n, column)
		}
	}
	const keys = `SELECT COUNT(*) FROM whd.WH_IdempotencyKey
WHERE ABS(DATEDIFF(minute, ExpiryDateTime, SYSUTCDATETIME()) + 1440) > 30`
	if n := p.count(t, keys); n > 0 {
		t.Errorf("%d idempotency keys do not expire after a day by the server's clock, want none", n)
	}
}
