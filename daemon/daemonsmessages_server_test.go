package daemon_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// TestRetryingMessagesOfTheOtherDaemon: messages that wait at one daemon go out
// when the other one is asked for them.
func TestRetryingMessagesOfTheOtherDaemon(t *testing.T) {
	x := startTwins(t, "--webhooks-retry-schedule", "1h,1h")
	ctx := t.Context()
	const many = 5
	to, got := receiver(t, http.StatusUnprocessableEntity)
	s := x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	for n := range x.daemon {
		there := 1 - n
		x.raise(t, there, "debtor.updated", "alone", 1)
		m := x.waits(t, n, 1)[0]
		await(t, got)
		if _, err := x.admin[n].RetryMessage(ctx, x.shop, s.RecID, m.MessageID); err != nil {
			t.Fatal(err)
		}
		if d := await(t, got); d.header.Get("Webhook-Id") != m.MessageID {
			t.Errorf("delivered %q", d.body)
		}
		x.remove(t, n)
		for range many {
			x.raise(t, there, "debtor.updated", "of many", 1)
			await(t, got)
		}
		x.waits(t, n, many)
		retried, err := x.admin[n].RetryMessages(ctx, url.Values{"SubscriberID": {x.shop}, "Status": {"2"}})
		if err != nil || retried.Retried != many {
			t.Errorf("retried %+v, %v", retried, err)
		}
		for range many {
			await(t, got)
		}
		x.remove(t, n)
	}
}

// waits waits until so many messages are to be tried again, as one daemon says.
func (x *twins) waits(t *testing.T, n, many int) []wire.Message {
	t.Helper()
	for enough := time.Now().Add(time.Minute); ; {
		p, err := x.admin[n].Messages(t.Context(), x.shop, url.Values{"Status": {"2"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Results) == many {
			return p.Results
		}
		if time.Now().After(enough) {
			t.Fatalf("%d messages wait for another attempt, want %d", len(p.Results), many)
		}
	}
}

// remove deletes all messages at one daemon.
func (x *twins) remove(t *testing.T, n int) {
	t.Helper()
	if _, err := x.admin[n].DeleteMessages(t.Context(), url.Values{"SubscriberID": {x.shop}, "All": {"true"}}); err != nil {
		t.Fatal(err)
	}
}

// TestDeletingMessagesOfTheOtherDaemon: a message that waits at one daemon and is
// deleted at the other does not go out any more. One that is due later shows that
// its time has gone by.
func TestDeletingMessagesOfTheOtherDaemon(t *testing.T) {
	x := startTwins(t, "--webhooks-retry-schedule", "20s,1h")
	to, got := receiver(t, http.StatusUnprocessableEntity)
	came := &counted{got: got, times: make(map[string]int)}
	s := x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	for n := range x.daemon {
		there := 1 - n
		deleted := x.waiting(t, there, came)
		for time.Until(time.Time(deleted.NextAttemptDateTime)) < heedTime { // this machine is slow
			deleted = x.waiting(t, there, came)
		}
		if err := x.admin[n].RemoveMessage(t.Context(), x.shop, s.RecID, deleted.MessageID); err != nil {
			t.Fatal(err)
		}
		last := x.waiting(t, there, came)
		for time.Time(last.NextAttemptDateTime).Before(time.Time(deleted.NextAttemptDateTime)) {
			last = x.waiting(t, there, came)
		}
		came.await(t, last.MessageID, 2)
		if came.times[deleted.MessageID] > 1 {
			t.Errorf("a message that was deleted at daemon %d goes out at the other one", n)
		}
		x.remove(t, n)
	}
}

// heedTime is more than a daemon needs to delete a message and the other one to
// hear of it.
const heedTime = 15 * time.Second

// counted is how often each message came.
type counted struct {
	got   <-chan delivery
	times map[string]int
}

func (c *counted) await(t *testing.T, message string, times int) {
	t.Helper()
	for c.times[message] < times {
		c.times[await(t, c.got).header.Get("Webhook-Id")]++
	}
}

// waiting raises an event at one daemon and gives its message once that waits for
// the second attempt.
func (x *twins) waiting(t *testing.T, n int, came *counted) wire.Message {
	t.Helper()
	body := rand.Text()
	x.raise(t, n, "debtor.updated", body, 1)
	m := settled(t, x.admin[n], x.shop, url.Values{"Body": {body}, "Status": {"2"}})
	if m.Body != body {
		t.Fatalf("asked for %q, got %+v", body, m)
	}
	came.await(t, m.MessageID, 1)
	return m
}
