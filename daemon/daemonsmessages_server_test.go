package daemon_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// TestRetryMessagesOfOtherDaemon checks that a retry requested at one daemon sends
// messages that are pending at the other.
func TestRetryMessagesOfOtherDaemon(t *testing.T) {
	x := startPair(t, "--webhooks-retry-schedule", "1h,1h")
	ctx := t.Context()
	const many = 5
	to, got := receiver(t, http.StatusUnprocessableEntity)
	s := x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	for n := range x.daemon {
		there := 1 - n
		x.publish(t, there, "debtor.updated", "alone", 1)
		m := x.awaitRetryPending(t, n, 1)[0]
		await(t, got)
		if _, err := x.admin[n].RetryMessage(ctx, x.shop, s.RecID, m.MessageID); err != nil {
			t.Fatal(err)
		}
		if d := await(t, got); d.header.Get("Webhook-Id") != m.MessageID {
			t.Errorf("delivered %q", d.body)
		}
		x.remove(t, n)
		for range many {
			x.publish(t, there, "debtor.updated", "of many", 1)
			await(t, got)
		}
		x.awaitRetryPending(t, n, many)
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

// awaitRetryPending waits until one daemon lists this number of messages as pending
// retries, and returns them.
func (x *daemonPair) awaitRetryPending(t *testing.T, n, many int) []wire.Message {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		p, err := x.admin[n].Messages(t.Context(), x.shop, url.Values{"Status": {"2"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Results) == many {
			return p.Results
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d messages are pending retries, want %d", len(p.Results), many)
		}
	}
}

// remove deletes all messages at one daemon.
func (x *daemonPair) remove(t *testing.T, n int) {
	t.Helper()
	_, err := x.admin[n].DeleteMessages(t.Context(), url.Values{"SubscriberID": {x.shop}, "All": {"true"}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeleteMessagesOfOtherDaemon deletes a message at one daemon while it is pending at
// the other, and checks that it is not sent. The attempt of a message that is due later
// shows that the time of the deleted one has passed.
func TestDeleteMessagesOfOtherDaemon(t *testing.T) {
	x := startPair(t, "--webhooks-retry-schedule", "20s,1h")
	to, got := receiver(t, http.StatusUnprocessableEntity)
	attempts := &attemptCounter{got: got, times: make(map[string]int)}
	s := x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	for n := range x.daemon {
		there := 1 - n
		deleted := x.retryPending(t, there, attempts)
		for time.Until(time.Time(deleted.NextAttemptDateTime)) < propagationTime { // the machine is slow
			deleted = x.retryPending(t, there, attempts)
		}
		if err := x.admin[n].RemoveMessage(t.Context(), x.shop, s.RecID, deleted.MessageID); err != nil {
			t.Fatal(err)
		}
		last := x.retryPending(t, there, attempts)
		for time.Time(last.NextAttemptDateTime).Before(time.Time(deleted.NextAttemptDateTime)) {
			last = x.retryPending(t, there, attempts)
		}
		attempts.await(t, last.MessageID, 2)
		if attempts.times[deleted.MessageID] > 1 {
			t.Errorf("a message that was deleted at daemon %d is sent by the other one", n)
		}
		x.remove(t, n)
	}
}

// propagationTime exceeds the time in which one daemon deletes a message and the other
// one reads the change.
const propagationTime = 15 * time.Second

// counted counts the attempts of each message.
type attemptCounter struct {
	got   <-chan delivery
	times map[string]int
}

func (c *attemptCounter) await(t *testing.T, message string, times int) {
	t.Helper()
	for c.times[message] < times {
		c.times[await(t, c.got).header.Get("Webhook-Id")]++
	}
}

// retryPending publishes an event at one daemon and returns its message after the first
// attempt has failed.
func (x *daemonPair) retryPending(t *testing.T, n int, attempts *attemptCounter) wire.Message {
	t.Helper()
	body := rand.Text()
	x.publish(t, n, "debtor.updated", body, 1)
	m := settled(t, x.admin[n], x.shop, url.Values{"Body": {body}, "Status": {"2"}})
	if m.Body != body {
		t.Fatalf("want the message with body %q, got %+v", body, m)
	}
	attempts.await(t, m.MessageID, 1)
	return m
}
