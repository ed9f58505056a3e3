package account

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"pgregory.net/rapid"
)

var day = time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)

func TestFailuresWait(t *testing.T) {
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
		{"five at the same time", at(0, 0, 0, 0, 0), 0, time.Minute},
		{"five, the first a minute ago", at(0, 1, 2, 3, 4), 60, 0},
		{"five, the first nearly a minute ago", at(0, 1, 2, 3, 4), 59, time.Second},
		{"more than five", at(0, 1, 2, 3, 4, 5, 6), 10, 52 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.f.wait(day.Add(time.Duration(tt.now)*time.Second), maxFailures); got != tt.want {
				t.Errorf("wait %v, want %v", got, tt.want)
			}
		})
	}
}

// Compares the throttle with a model: an attempt is allowed if fewer than five attempts
// failed in the last minute, counted since the last success.
func TestThrottleMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, now := newThrottle(maxFailures), day
		var failed []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "pause")) * time.Second)
			count := 0
			for _, f := range failed {
				if now.Sub(f) < time.Minute {
					count++
				}
			}
			err := th.begin(fingerprint{}, now)
			if (err == nil) != (count < 5) {
				t.Fatalf("%d failures in the last minute, but begin returns %v", count, err)
			}
			if err != nil {
				wait := fault.From(err).RetryAfter
				if wait <= 0 || wait > time.Minute || recorded(th).wait(now.Add(wait), maxFailures) != 0 || recorded(th).wait(now.Add(wait-1), maxFailures) == 0 {
					t.Fatalf("Retry-After is %v", wait)
				}
				continue
			}
			switch rapid.SampledFrom([]string{"wrong", "wrong", "wrong", "correct", "cancelled"}).Draw(t, "result") {
			case "wrong":
				failed = append(failed, now)
			case "correct":
				th.succeeded(fingerprint{})
				failed = nil
			case "cancelled":
				th.undo(fingerprint{}, now)
			}
			if len(recorded(th)) > maxFailures {
				t.Fatalf("%d failures are recorded", len(recorded(th)))
			}
		}
	})
}

func TestThrottleSizeIsLimited(t *testing.T) {
	th, p := newThrottle(maxFailures), newFingerprints()
	for i := range maxThrottled + 500 {
		if err := th.begin(p.of(fmt.Sprint(i)), day); err != nil {
			t.Fatal(err)
		}
	}
	if th.failed.Len() != maxThrottled {
		t.Errorf("%d entries, want %d", th.failed.Len(), maxThrottled)
	}
	if err := th.begin(p.of("later"), day.Add(time.Hour)); err != nil || th.failed.Len() != 1 {
		t.Errorf("%d entries an hour later (%v), want 1", th.failed.Len(), err)
	}
	th.undo(p.of("later"), day.Add(time.Hour))
	if th.failed.Len() != 0 {
		t.Error("undo did not remove the entry")
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

// recorded returns the failures of the zero fingerprint.
func recorded(th *throttle) failures {
	f, _ := th.failed.Get(fingerprint{})
	return f
}
