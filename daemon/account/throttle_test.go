package account

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"pgregory.net/rapid"
)

var day = time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)

func TestThrottleWindow(t *testing.T) {
	at := func(seconds ...int) (f failures) {
		for _, s := range seconds {
			f = append(f, day.Add(time.Duration(s)*time.Second))
		}
		return f
	}
	tests := []struct {
		name string
		f    failures
		now  int
		want time.Duration
	}{
		{"none", nil, 0, 0},
		{"four", at(0, 1, 2, 3), 4, 0},
		{"five", at(0, 1, 2, 3, 4), 5, 55 * time.Second},
		{"five at once", at(0, 0, 0, 0, 0), 0, time.Minute},
		{"five, the first a minute ago", at(0, 1, 2, 3, 4), 60, 0},
		{"five, the first nearly a minute ago", at(0, 1, 2, 3, 4), 59, time.Second},
		{"more than five", at(0, 1, 2, 3, 4, 5, 6), 10, 52 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.f.wait(day.Add(time.Duration(tt.now)*time.Second), mostFailures); got != tt.want {
				t.Errorf("wait %v, want %v", got, tt.want)
			}
		})
	}
}

// The throttle against the rule spelled out: an attempt may begin where fewer
// than five of the last minute have failed since the last success.
func TestThrottleFollowsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, now := newThrottle(mostFailures), day
		var failed []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "pause")) * time.Second)
			count := 0
			for _, f := range failed {
				if now.Sub(f) < time.Minute {
					count++
				}
			}
			err := th.begin(print{}, now)
			if (err == nil) != (count < 5) {
				t.Fatalf("%d failures in the last minute, but begin says %v", count, err)
			}
			if err != nil {
				wait := fault.Of(err).RetryAfter
				if wait <= 0 || wait > time.Minute || th.failed[print{}].wait(now.Add(wait), mostFailures) != 0 || th.failed[print{}].wait(now.Add(wait-1), mostFailures) == 0 {
					t.Fatalf("Retry-After is %v", wait)
				}
				continue
			}
			switch rapid.SampledFrom([]string{"wrong", "wrong", "wrong", "right", "nothing"}).Draw(t, "result") {
			case "wrong":
				failed = append(failed, now)
			case "right":
				th.succeeded(print{})
				failed = nil
			case "nothing":
				th.undo(print{}, now)
			}
			if len(th.failed[print{}]) > mostFailures {
				t.Fatalf("%d times are kept", len(th.failed[print{}]))
			}
		}
	})
}

func TestThrottleIsBounded(t *testing.T) {
	th, p := newThrottle(mostFailures), newPrinter()
	for i := range mostThrottled + 500 {
		if err := th.begin(p.of(fmt.Sprint(i)), day); err != nil {
			t.Fatal(err)
		}
	}
	if len(th.failed) != mostThrottled {
		t.Errorf("%d are kept, want %d", len(th.failed), mostThrottled)
	}
	if err := th.begin(p.of("later"), day.Add(time.Hour)); err != nil || len(th.failed) != 1 {
		t.Errorf("%d are kept an hour later (%v), want 1", len(th.failed), err)
	}
	th.undo(p.of("later"), day.Add(time.Hour))
	if len(th.failed) != 0 {
		t.Error("what was undone is kept")
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":               "10.0.0.1",
		"10.0.0.1:4711":          "10.0.0.1",
		"::ffff:10.0.0.1":        "10.0.0.1",
		"2001:db8:1:2:3:4:5:6":   "2001:db8:1:2::/64",
		"[2001:db8:1:2:ff::1]:1": "2001:db8:1:2::/64",
		"fe80::1%eth0":           "fe80::/64",
		"@":                      "@",
		"":                       "",
	} {
		if got := Network(address); got != want {
			t.Errorf("Network(%q) = %q, want %q", address, got, want)
		}
	}
}
