package delivery_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// messagesWith returns the IDs of the messages with a number of attempts, in their order.
func (x *simulation) messagesWith(attempts int) []string {
	x.t.Helper()
	return x.texts(fmt.Sprintf("SELECT RecID FROM SY_WebhookMessage WHERE Attempts = %d ORDER BY ID", attempts))
}

// retrySelected retries the messages that a filter selects.
func (h *testEnv) retrySelected(filter string) admin.BulkResult {
	h.t.Helper()
	result, err := h.service.RetryMessages(context.Background(), h.selection(filter), audit.System())
	if err != nil {
		h.t.Fatal(err)
	}
	return result
}

// TestRequestedMessagesOfFailingEndpoint retries single messages while a circuit breaker is open:
// exactly these are attempted, at once, also if the endpoint goes on failing. After a success all
// others follow.
func TestRequestedMessagesOfFailingEndpoint(t *testing.T) {
	const messages = 30
	for name, request := range map[string]func(x *simulation, sub webhook.Subscription, ids []string){
		"by ID": func(x *simulation, sub webhook.Subscription, ids []string) {
			for _, id := range ids {
				x.retryMessage(sub, id)
			}
		},
		"by a filter": func(x *simulation, _ webhook.Subscription, ids []string) {
			var filter string
			for _, id := range ids {
				filter += "&MessageIDIn=" + id
			}
			x.retrySelected(filter[1:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.policy.Schedule = []time.Duration{time.Hour, time.Hour, time.Hour}
				x.fakeSender.setStatus(inTurn(0))
				sub := x.subscribe("http://127.0.0.1/hook", "*")
				for range messages {
					x.publish("debtor.updated", "x")
				}
				x.advance(time.Minute)
				attempted := x.messagesWith(1)
				waiting := x.messagesWith(0)
				before := x.attempts()

				requested := []string{attempted[1], waiting[2], waiting[len(waiting)-1]}
				request(x, sub, requested)
				x.advance(30 * time.Second)
				want := maps.Clone(before)
				for _, id := range requested {
					want[id]++
				}
				if got := x.attempts(); !maps.Equal(got, want) {
					t.Errorf("attempts by message after a request for %q:\n%v, want\n%v", requested, got, want)
				}

				x.fakeSender.setStatus(inTurn(200))
				request(x, sub, waiting[:1])
				x.advance(30 * time.Second)
				if unsent := x.messagesWith(0); len(unsent) > 0 {
					t.Errorf("%d messages have not been sent after one was delivered, want 0", len(unsent))
				}
				x.advance(4 * time.Hour)
			})
		})
	}
}

// TestRequestedMessagesDoNotReplaceProbes requests messages that fail, for longer than until the next
// probe: it is made with another message, which shows that the endpoint works.
func TestRequestedMessagesDoNotReplaceProbes(t *testing.T) {
	simulate(t, func(x *simulation) {
		const others, requested = 20, 300
		x.policy.Schedule = slices.Repeat([]time.Duration{10 * time.Minute}, 5)
		x.fakeSender.setStatus(inTurn(0))
		x.subscribe("http://127.0.0.1/hook", "*")
		for range others {
			x.publish("debtor.updated", "x")
		}
		x.advance(time.Minute)
		for range requested {
			x.publish("debtor.created", "x")
		}
		x.advance(9*time.Minute - requested*attemptTime/2)

		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.Event.Name == "debtor.created" {
				return 500
			}
			return 200
		})
		x.retrySelected("EventName=debtor.created")
		x.advance(time.Minute)
		const waiting = `SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
			WHERE e.EventName = 'debtor.updated' AND m.Attempts = 0`
		x.expect(waiting, 0)
		x.fakeSender.setStatus(inTurn(200))
		x.advance(2 * time.Hour)
	})
}

// TestRequestedMessagesDuringRetryAfter retries messages without an attempt while the endpoint has
// requested a wait: this ends, and all arrive.
func TestRequestedMessagesDuringRetryAfter(t *testing.T) {
	h := newTestEnv(t)
	h.policy.RetryAfterMax = time.Hour
	h.start()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "1800")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(server.Close)
	h.subscribe(server.URL, "debtor.*")
	h.publish("debtor.updated", `{}`)
	h.awaitCount("SY_WebhookMessage WHERE Attempts = 1", 1)
	for _, event := range []string{"debtor.created", "debtor.updated", "debtor.created", "debtor.deleted"} {
		h.publish(event, `{}`)
	}

	got := h.retrySelected("EventName=debtor.created")
	if want := (admin.BulkResult{Matched: 2, Done: 2}); got != want {
		t.Errorf("a retry of messages without an attempt returned %+v, want %+v", got, want)
	}
	h.awaitCount("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 4)
}
