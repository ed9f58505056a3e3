package delivery_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestFirstAttemptsFail sends many messages to an endpoint that refuses the first attempt of each:
// all must be delivered within a few steps of the schedule, and none may need a third attempt
// because of its probes.
func TestFirstAttemptsFail(t *testing.T) {
	const messages = 200
	simulate(t, func(x *simulation) {
		x.policy.Schedule = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}
		x.fakeSender.setStatus(inTurn(503, 200))
		x.subscribe("http://127.0.0.1/hook", "*")
		for range messages {
			x.publish("debtor.updated", "x")
		}
		x.advance(40 * time.Second) // of a schedule of 157 s
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", messages)
	})
}

// TestProbesOfDeadEndpoint checks that an endpoint that never responds gets one attempt for each
// step of the schedule, of messages that have failed and of others in turns.
func TestProbesOfDeadEndpoint(t *testing.T) {
	const messages = 50
	simulate(t, func(x *simulation) {
		x.policy.Schedule = []time.Duration{time.Minute, time.Minute, time.Minute, time.Minute}
		x.fakeSender.setStatus(inTurn(0))
		x.subscribe("http://127.0.0.1/hook", "*")
		for range messages {
			x.publish("debtor.updated", "x")
		}
		x.advance(30 * time.Second)
		attempts, untried := x.attemptTotals()

		const steps = 4
		x.advance(steps*time.Minute + 10*time.Second)
		attemptsAfter, untriedAfter := x.attemptTotals()
		if got := attemptsAfter - attempts; got != steps {
			t.Errorf("%d attempts in %d steps of the schedule, want one for each", got, steps)
		}
		if got := untried - untriedAfter; got != steps/2 {
			t.Errorf("%d of %d probes were first attempts, want half", got, steps)
		}

		x.fakeSender.setStatus(inTurn(200))
		x.advance(time.Hour)
	})
}

// TestProbesUseScheduleOfSubscription checks that the delays between probes are those of the
// subscription's schedule, up to 10 minutes, and not those of the service.
func TestProbesUseScheduleOfSubscription(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.fakeSender.setStatus(inTurn(0))
		x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) {
			s.Schedule = []time.Duration{2 * time.Minute, time.Hour, time.Hour}
		})
		for range 50 {
			x.publish("debtor.updated", "x")
		}
		x.advance(30 * time.Second)
		last, _ := x.attemptTotals()
		for _, step := range []time.Duration{2 * time.Minute, 10 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			x.advance(step - 40*time.Second)
			if n, _ := x.attemptTotals(); n != last {
				t.Fatalf("%d attempts before the delay of %s had passed, want none", n-last, step)
			}
			x.advance(40 * time.Second)
			n, _ := x.attemptTotals()
			if n != last+1 {
				t.Fatalf("%d attempts after a delay of %s, want one", n-last, step)
			}
			last = n
		}
		x.fakeSender.setStatus(inTurn(200))
		x.advance(5 * time.Hour)
	})
}

// maxProbeGap is the longest time between two attempts at a failing endpoint with messages that are
// due: a delay of 10 minutes, and a little for the attempt and its result.
const maxProbeGap = 10*time.Minute + 5*time.Second

// longSchedule has steps that are longer than maxProbeGap.
var longSchedule = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// probeTimes records when an endpoint was attempted that fails until it recovers.
type probeTimes struct {
	mu       sync.Mutex
	last     time.Time
	longest  time.Duration // between two attempts, or the start and the first one
	recovers bool
}

// status responds to an attempt.
func (p *probeTimes) status(int, *webhook.Message) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.longest = max(p.longest, now.Sub(p.last))
	p.last = now
	if p.recovers {
		return 200
	}
	return 0
}

// recover makes the endpoint accept further attempts. It returns the longest time without one
// until now.
func (p *probeTimes) recover() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recovers = true
	return max(p.longest, time.Since(p.last))
}

// TestProbesWhileMessagesArrive publishes messages at an interval for half a day while the endpoint
// is dead. Since messages are due at all times, it is probed at least every 10 minutes, and a
// delivery follows as soon after its recovery.
func TestProbesWhileMessagesArrive(t *testing.T) {
	for _, c := range []struct {
		name     string
		first    int // messages before the endpoint is known to be dead
		interval time.Duration
	}{
		{"few messages", 6, 20 * time.Minute},
		{"more failures than are kept for probes", 20, 5 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.policy.Schedule = longSchedule
				endpoint := &probeTimes{last: time.Now()}
				x.fakeSender.setStatus(endpoint.status)
				x.subscribe("http://127.0.0.1/hook", "*")
				for range c.first {
					x.publish("debtor.updated", "x")
				}
				for began := time.Now(); time.Since(began) < 12*time.Hour; {
					x.advance(c.interval)
					x.publish("debtor.updated", "y")
				}
				longest := endpoint.recover()
				if longest > maxProbeGap {
					t.Errorf("the dead endpoint was not attempted for %s, want %s at most", longest, maxProbeGap)
				}

				x.advance(maxProbeGap)
				if x.count("SY_WebhookMessage WHERE Status = 1") == 0 {
					t.Errorf("nothing was delivered within %s of the recovery", maxProbeGap)
				}
				x.advance(48 * time.Hour)
			})
		})
	}
}

// TestProbesAfterMove moves the retries of messages that have failed in the store, as another daemon
// does that has held the partition for a time. They are due later than the probes expect, and must
// not take the place of messages that are due.
func TestProbesAfterMove(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.policy.Schedule = longSchedule
		endpoint := &probeTimes{last: time.Now()}
		x.fakeSender.setStatus(endpoint.status)
		x.subscribe("http://127.0.0.1/hook", "*")
		for range 50 {
			x.publish("debtor.updated", "x")
		}
		x.advance(5 * time.Minute)
		later := time.Now().UTC().Add(6 * time.Hour).Format("2006-01-02T15:04:05.0000000")
		x.exec("UPDATE SY_WebhookMessage SET NextAttemptDateTime = '" + later + "' WHERE Status = 2")

		x.advance(time.Hour)
		longest := endpoint.recover()
		if longest > maxProbeGap {
			t.Errorf("the dead endpoint was not attempted for %s, want %s at most", longest, maxProbeGap)
		}
		x.advance(48 * time.Hour)
	})
}

// attemptTotals returns the number of attempts, and the number of messages without one.
func (x *simulation) attemptTotals() (attempts, untried int) {
	x.t.Helper()
	for _, n := range x.attempts() {
		attempts += n
		if n == 0 {
			untried++
		}
	}
	return attempts, untried
}
