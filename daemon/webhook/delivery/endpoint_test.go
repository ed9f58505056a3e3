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
		if !e.hold.begin(now) {
			t.Fatalf("failure %d does not hold the endpoint back", i+1)
		}
		if e.hold.begin(now) {
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
	e.hold.begin(now)
	if !e.available(now.Add(time.Second)) {
		t.Error("the first failure after a success holds the endpoint back for more than a second")
	}
}
