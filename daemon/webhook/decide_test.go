package webhook

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testPolicy = Policy{Schedule: []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}, Jitter: 0.2, RetryAfterMax: time.Hour}

// codesDecided is the table of webhooks.md: what each answer means. Codes that
// are not in it are retried.
var codesDecided = map[int]Status{http.StatusGone: Failed}

func TestDecideEveryCode(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for code := 100; code <= 999; code++ {
		want := RetryPending
		if code >= 200 && code <= 299 {
			want = Successful
		} else if s, is := codesDecided[code]; is {
			want = s
		}
		got := Decide(State{}, Outcome{Code: code}, testPolicy, now, 0.5)
		if got.Status != want || got.Attempts != 1 {
			t.Errorf("code %d: %+v, want status %d after 1 attempt", code, got, want)
		}
		if want == RetryPending && !got.Next.Equal(now.Add(5*time.Second)) {
			t.Errorf("code %d: next attempt at %v", code, got.Next)
		}
	}
}

func TestDecideCauses(t *testing.T) {
	tests := []struct {
		o      Outcome
		want   Status
		broken bool
	}{
		{Outcome{Cause: TimedOut}, RetryPending, true},
		{Outcome{Cause: ConnectionRefused}, RetryPending, true},
		{Outcome{Cause: ConnectionReset}, RetryPending, true},
		{Outcome{Cause: NameNotFound}, RetryPending, true},
		{Outcome{Cause: TLSFailed}, RetryPending, true},
		{Outcome{Cause: BadAnswer}, RetryPending, true},
		{Outcome{Cause: NetworkFailed}, RetryPending, true},
		{Outcome{Cause: TargetForbidden}, Failed, false},
		{Outcome{Code: 503}, RetryPending, true},
		{Outcome{Code: 429}, RetryPending, true},
		{Outcome{Code: 408}, RetryPending, true},
		{Outcome{Code: 425}, RetryPending, true},
		{Outcome{Code: 404}, RetryPending, false},
		{Outcome{Code: 302}, RetryPending, false},
		{Outcome{Code: 400, Abort: true}, Failed, false},
		{Outcome{Code: 400, Disable: true}, Failed, false},
		{Outcome{Code: 200, Disable: true}, Successful, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %s", tt.o.Code, tt.o.Cause), func(t *testing.T) {
			if got := Decide(State{}, tt.o, testPolicy, time.Now(), 0.5); got.Status != tt.want {
				t.Errorf("status %d, want %d", got.Status, tt.want)
			}
			if tt.o.Broken() != tt.broken {
				t.Errorf("Broken() = %v", tt.o.Broken())
			}
		})
	}
}

func TestRetryAfterMovesLaterOnly(t *testing.T) {
	now := time.Now()
	for asked, want := range map[time.Duration]time.Duration{
		0:                5 * time.Second,
		time.Second:      5 * time.Second,
		time.Minute:      time.Minute,
		1000 * time.Hour: time.Hour, // the cap
	} {
		got := Decide(State{}, Outcome{Code: 429, RetryAfter: asked}, testPolicy, now, 0.5)
		if got.Next.Sub(now) != want {
			t.Errorf("Retry-After %v: waits %v, want %v", asked, got.Next.Sub(now), want)
		}
	}
}

// TestScheduleOverDays follows a message that always fails through the default
// schedule and adds its waits up.
func TestScheduleOverDays(t *testing.T) {
	schedule, err := ParseSchedule("5s,30s,2m,10m,30m,1h,3h,6h,12h")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Schedule: schedule, Jitter: 0.2, RetryAfterMax: 24 * time.Hour}
	var least, most time.Duration
	for _, wait := range p.Schedule {
		least += wait * 8 / 10
		most += wait * 12 / 10
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		start := now
		var s State
		for attempt := 1; ; attempt++ {
			s = Decide(s, Outcome{Code: 500}, p, now, rapid.Float64Range(0, 1).Draw(t, "spread"))
			if s.Attempts != attempt {
				t.Fatalf("attempt %d is counted as %d", attempt, s.Attempts)
			}
			if s.Status == Failed {
				break
			}
			now = s.Next
		}
		if s.Attempts != len(p.Schedule)+1 {
			t.Fatalf("%d attempts, want %d", s.Attempts, len(p.Schedule)+1)
		}
		if total := now.Sub(start); total < least || total > most {
			t.Fatalf("waited %v in all, want %v to %v", total, least, most)
		}
	})
}

// TestNothingLeavesTheDiagram draws sequences of outcomes.
func TestNothingLeavesTheDiagram(t *testing.T) {
	allowed := map[Status][]Status{
		NotSent:      {Successful, RetryPending, Failed},
		RetryPending: {Successful, RetryPending, Failed},
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		var s State
		for s.Status.Open() {
			o := Outcome{
				Code:       rapid.SampledFrom([]int{0, 200, 204, 301, 404, 408, 410, 429, 500, 503}).Draw(t, "code"),
				RetryAfter: time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "asked")),
				Disable:    rapid.Bool().Draw(t, "disable"),
				Abort:      rapid.Bool().Draw(t, "abort"),
			}
			if o.Code == 0 {
				o.Cause = rapid.SampledFrom([]Cause{TimedOut, ConnectionRefused, TargetForbidden}).Draw(t, "cause")
			}
			is := Decide(s, o, testPolicy, now, rapid.Float64Range(0, 1).Draw(t, "spread"))
			if !contains(allowed[s.Status], is.Status) {
				t.Fatalf("%d became %d by %+v", s.Status, is.Status, o)
			}
			if is.Attempts != s.Attempts+1 || is.Retries() > testPolicy.MaxRetries() {
				t.Fatalf("attempts %d after %d", is.Attempts, s.Attempts)
			}
			if is.Status == RetryPending && !is.Next.After(now) {
				t.Fatalf("the next attempt is not in the future: %v", is.Next.Sub(now))
			}
			if is.Status != RetryPending && !is.Next.IsZero() {
				t.Fatalf("a message that is done has a next attempt")
			}
			now, s = now.Add(time.Minute), is
		}
	})
}

func contains(all []Status, one Status) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
