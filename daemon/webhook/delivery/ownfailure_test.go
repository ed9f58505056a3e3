package delivery_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// failingSender is a delivery.Sender that ends attempts with failures of our own.
type failingSender struct {
	// failure returns the failure of an attempt that starts now; empty for a success.
	failure func(m *webhook.Message) webhook.OwnFailure

	attempts atomic.Int64
}

// Send implements delivery.Sender.
func (s *failingSender) Send(_ context.Context, m *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	s.attempts.Add(1)
	time.Sleep(attemptTime)
	failure := s.failure(m)
	if failure == "" {
		return webhook.Outcome{Code: 200, Took: attemptTime}
	}
	return webhook.Outcome{Cause: webhook.NetworkFailed, Own: failure, Detail: "made up by the test", Took: attemptTime}
}

// simulateFailures runs a test with an engine that uses a failingSender. The simulation checks the
// attempts of its own sender at the end, which makes none.
func simulateFailures(t *testing.T, s *failingSender, test func(x *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Sender = s })
		test(x)
	})
}

// TestFailureOfTheMachinePausesAll lets all attempts fail for a minute because of this machine.
func TestFailureOfTheMachinePausesAll(t *testing.T) {
	for _, failure := range []webhook.OwnFailure{webhook.OutOfDescriptors, webhook.OutOfMemory} {
		t.Run(string(failure), func(t *testing.T) {
			var lacks atomic.Bool
			lacks.Store(true)
			s := &failingSender{failure: func(*webhook.Message) webhook.OwnFailure {
				if lacks.Load() {
					return failure
				}
				return ""
			}}
			simulateFailures(t, s, func(x *simulation) {
				x.subscribe("http://127.0.0.1/a", "debtor.*")
				x.subscribe("http://127.0.0.1/b", "debtor.*")
				for range 20 {
					x.publish("debtor.updated", "x")
				}
				x.advance(500 * time.Millisecond)
				atOnce := s.attempts.Load()
				x.advance(time.Minute)
				probes := s.attempts.Load() - atOnce // after 1, 3, 7, 15 and 31 s
				if probes < 4 || probes > 6 {
					t.Errorf("%d attempts within a minute, want about 5 probes", probes)
				}
				problems := strings.Join(x.engine.Problems(), "\n")
				if !strings.Contains(problems, webhook.OwnFailures[failure]) {
					t.Errorf("the problems are %q, want %q", problems, webhook.OwnFailures[failure])
				}
				if n := x.engine.InHand().Uncharged[string(failure)]; n != s.attempts.Load() {
					t.Errorf("%d attempts are counted as not charged, want %d", n, s.attempts.Load())
				}
				x.expect("SY_WebhookMessage WHERE Attempts > 0", 0)
				x.expect("SY_WebhookMessageResponse", 0)
				x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)

				lacks.Store(false)
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 40)
				if problems := x.engine.Problems(); len(problems) > 0 {
					t.Errorf("afterwards the problems are %q, want none", problems)
				}
			})
		})
	}
}

// TestFailureConcerningOneEndpoint checks that a failure concerning one endpoint does not delay
// another one.
func TestFailureConcerningOneEndpoint(t *testing.T) {
	for _, failure := range []webhook.OwnFailure{webhook.OutOfPorts, webhook.NoNetwork} {
		t.Run(string(failure), func(t *testing.T) {
			var fails atomic.Bool
			fails.Store(true)
			s := &failingSender{failure: func(m *webhook.Message) webhook.OwnFailure {
				if fails.Load() && strings.HasSuffix(m.URL, "/a") {
					return failure
				}
				return ""
			}}
			simulateFailures(t, s, func(x *simulation) {
				x.subscribe("http://127.0.0.1/a", "debtor.*")
				x.subscribe("http://127.0.0.1/b", "debtor.*")
				for range 20 {
					x.publish("debtor.updated", "x")
				}
				x.advance(500 * time.Millisecond)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND URL LIKE '%/b'", 20)
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Attempts > 0 AND URL LIKE '%/a'", 0)
				if blocked := x.engine.InHand().Blocked; len(blocked) != 1 || blocked[string(failure)] != 1 {
					t.Errorf("the endpoints are blocked by %v, want one by %s", blocked, failure)
				}
				const most = 20 + 8*7 // those of the endpoint that works, and 8 after each wait at the other
				if n := s.attempts.Load(); n > most {
					t.Errorf("%d attempts, want at most %d", n, most)
				}
				fails.Store(false)
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 40)
				if blocked := x.engine.InHand().Blocked; len(blocked) > 0 {
					t.Errorf("afterwards, the endpoints are blocked by %v", blocked)
				}
			})
		})
	}
}

// TestLostConnectionsAreExcusedOnce checks that an endpoint that loses all its connections is
// charged.
func TestLostConnectionsAreExcusedOnce(t *testing.T) {
	s := &failingSender{failure: func(*webhook.Message) webhook.OwnFailure { return webhook.ConnectionLost }}
	simulateFailures(t, s, func(x *simulation) {
		x.subscribe("http://127.0.0.1/a", "debtor.*")
		x.publish("debtor.updated", "x")
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 3 AND Attempts = 6", 1)
		x.expect("SY_WebhookMessageResponse", 6)
		if n := s.attempts.Load(); n != 7 {
			t.Errorf("%d attempts, want 7: six that count, and one that does not", n)
		}
	})
}

// TestDeletedSubscriptionFreesItsSlots deletes a subscription while its attempts hang.
func TestDeletedSubscriptionFreesItsSlots(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Sender = hangingSender{} })
		sub := x.subscribe("http://127.0.0.1/a", "debtor.*")
		for range 20 {
			x.publish("debtor.updated", "x")
		}
		x.advance(time.Second)
		if n := x.engine.InHand().InFlight; n == 0 {
			t.Fatal("no attempt is in flight")
		}
		x.removeSubscription(sub)
		x.advance(time.Second)
		if n := x.engine.InHand().InFlight; n != 0 {
			t.Errorf("%d attempts are in flight a second after the deletion, want 0", n)
		}
	})
}

// hangingSender is a delivery.Sender that ends attempts only when they are cancelled.
type hangingSender struct{}

// Send implements delivery.Sender.
func (hangingSender) Send(ctx context.Context, _ *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	<-ctx.Done()
	return webhook.Outcome{Cause: webhook.TimedOut}
}

// recoveringSender is a delivery.Sender that lacks descriptors for a while. Then attempts at one
// endpoint hang.
type recoveringSender struct{ until time.Time }

// Send implements delivery.Sender.
func (s recoveringSender) Send(ctx context.Context, m *webhook.Message, _ *webhook.Subscription, _ time.Time) webhook.Outcome {
	if time.Now().Before(s.until) {
		return webhook.Outcome{Cause: webhook.NetworkFailed, Own: webhook.OutOfDescriptors}
	}
	if strings.HasSuffix(m.URL, "/hangs") {
		<-ctx.Done()
		return webhook.Outcome{Cause: webhook.TimedOut}
	}
	return webhook.Outcome{Code: 200}
}

// TestHangingProbeDoesNotProlongPause lets the first probe after a pause hang.
func TestHangingProbeDoesNotProlongPause(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		sender := recoveringSender{until: time.Now().Add(2 * time.Second)}
		x.startEngine(func(c *delivery.Config) { c.Sender = sender })
		hangs := x.subscribe("http://127.0.0.1/hangs", "debtor.*")
		x.subscribe("http://127.0.0.1/works", "debtor.*")
		for range 10 {
			x.publish("debtor.updated", "x")
		}
		x.advance(10 * time.Second)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND URL LIKE '%/works'", 10)
		if problems := x.engine.Problems(); len(problems) > 0 {
			t.Errorf("the problems are %q, want none", problems)
		}
		x.removeSubscription(hangs)
		x.advance(time.Minute)
	})
}
