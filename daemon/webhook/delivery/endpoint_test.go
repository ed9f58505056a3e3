package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestSlowEndpoints checks after which attempts an endpoint counts as slow.
func TestSlowEndpoints(t *testing.T) {
	const limit = 15 * time.Second
	fast := webhook.Outcome{Code: 200, Took: 20 * time.Millisecond}
	late := webhook.Outcome{Code: 200, Took: limit - 100*time.Millisecond}
	hung := webhook.Outcome{Cause: webhook.TimedOut, Took: limit}
	repeat := func(n int, all ...webhook.Outcome) (sequence []webhook.Outcome) {
		for range n {
			sequence = append(sequence, all...)
		}
		return sequence
	}
	for name, tt := range map[string]struct {
		attempts []webhook.Outcome
		want     bool
	}{
		"no attempts":                   {nil, false},
		"fast":                          {repeat(20, fast), false},
		"answers just before the limit": {repeat(1, late), true},
		"hangs every other time":        {repeat(20, hung, fast), true},
		"hangs every eighth time":       {append(repeat(7, fast), hung), true},
		"has recovered":                 {append(repeat(20, hung), repeat(8, fast)...), false},
		"has not recovered yet":         {append(repeat(20, hung), repeat(7, fast)...), true},
	} {
		t.Run(name, func(t *testing.T) {
			var d durations
			for _, o := range tt.attempts {
				d.observe(o)
			}
			if got := d.areLong(); got != tt.want {
				t.Errorf("slow is %t, want %t", got, tt.want)
			}
		})
	}
}

// TestHoldOfEndpoint checks for how long failures in a row hold an endpoint back.
func TestHoldOfEndpoint(t *testing.T) {
	e := newEndpoint(&webhook.Subscription{}, 8)
	now := noon
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if !e.hold.begin(webhook.OutOfPorts, now) {
			t.Fatalf("failure %d does not hold the endpoint back", i+1)
		}
		if e.hold.begin(webhook.OutOfPorts, now) {
			t.Errorf("a second failure at the same time prolongs hold %d", i+1)
		}
		if e.available(now.Add(want - time.Millisecond)) {
			t.Errorf("the endpoint is available before %v after failure %d", want, i+1)
		}
		now = now.Add(want)
		if !e.available(now) {
			t.Errorf("the endpoint is not available %v after failure %d", want, i+1)
		}
	}
	e.hold.reset()
	e.hold.begin(webhook.OutOfPorts, now)
	if !e.available(now.Add(time.Second)) {
		t.Error("the first failure after a success holds the endpoint back for more than a second")
	}
}

// TestProbeAfterRequestedWait ends a wait that an endpoint has requested by Retry-After: a single
// attempt starts until one is accepted. A failure without Retry-After requests no wait.
func TestProbeAfterRequestedWait(t *testing.T) {
	policy := webhook.Policy{RetryAfterMax: time.Hour}
	overloaded := webhook.Outcome{Code: 429, RetryAfter: 10 * time.Second}
	e := newEndpoint(&webhook.Subscription{}, 8)
	now := noon
	expect := func(after string, inFlight int, want bool) {
		t.Helper()
		e.inFlight = inFlight
		if got := e.available(now); got != want {
			t.Errorf("after %s, with %d attempts in flight, available is %t, want %t", after, inFlight, got, want)
		}
	}
	e.observeRetryAfter(webhook.Outcome{Code: 503}, policy, now)
	expect("503 without Retry-After", 3, true)

	e.observeRetryAfter(overloaded, policy, now)
	e.observeRetryAfter(webhook.Outcome{Code: 200}, policy, now.Add(time.Second)) // began before
	now = now.Add(9 * time.Second)
	expect("9 of 10 s", 0, false)
	now = now.Add(time.Second)
	expect("the wait", 0, true)
	expect("the wait", 1, false)

	e.observeRetryAfter(overloaded, policy, now)
	expect("another 429", 0, false)
	now = now.Add(10 * time.Second)
	e.observeRetryAfter(webhook.Outcome{Code: 500}, policy, now)
	expect("500", 0, true)
	expect("500", 1, false)
	e.observeRetryAfter(webhook.Outcome{Code: 200}, policy, now)
	expect("a success", 3, true)
}
