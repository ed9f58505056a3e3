package webhook

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testPolicy = Policy{Schedule: []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}, Jitter: 0.2, RetryAfterMax: time.Hour}

// statusByCode is the table of webhooks.md. Other codes are retried.
var statusByCode = map[int]Status{http.StatusGone: Failed}

func TestDecideEveryCode(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for code := 100; code <= 999; code++ {
		want := RetryPending
		if code >= 200 && code <= 299 {
			want = Successful
		} else if s, ok := statusByCode[code]; ok {
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
		o        Outcome
		want     Status
		endpoint bool
	}{
		{Outcome{Cause: TimedOut}, RetryPending, true},
		{Outcome{Cause: ConnectionRefused}, RetryPending, true},
		{Outcome{Cause: ConnectionReset}, RetryPending, true},
		{Outcome{Cause: NameNotFound}, RetryPending, true},
		{Outcome{Cause: TLSFailed}, RetryPending, true},
		{Outcome{Cause: InvalidResponse}, RetryPending, true},
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
			if tt.o.EndpointFailure() != tt.endpoint {
				t.Errorf("EndpointFailure() = %v", tt.o.EndpointFailure())
			}
		})
	}
}

func TestRetryAfterNeverShortensDelay(t *testing.T) {
	now := time.Now()
	for requested, want := range map[time.Duration]time.Duration{
		0:                5 * time.Second,
		time.Second:      5 * time.Second,
		time.Minute:      time.Minute,
		1000 * time.Hour: time.Hour, // the upper bound
	} {
		got := Decide(State{}, Outcome{Code: 429, RetryAfter: requested}, testPolicy, now, 0.5)
		if got.Next.Sub(now) != want {
			t.Errorf("Retry-After %v: waits %v, want %v", requested, got.Next.Sub(now), want)
		}
	}
}

// TestDefaultScheduleTotalDelay follows a message that always fails through the default
// schedule and adds up its delays.
func TestDefaultScheduleTotalDelay(t *testing.T) {
	schedule, err := ParseSchedule("5s,30s,2m,10m,30m,1h,3h,6h,12h")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Schedule: schedule, Jitter: 0.2, RetryAfterMax: 24 * time.Hour}
	var minTotal, maxTotal time.Duration
	for _, wait := range p.Schedule {
		minTotal += wait * 8 / 10
		maxTotal += wait * 12 / 10
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
		if total := now.Sub(start); total < minTotal || total > maxTotal {
			t.Fatalf("waited %v in all, want %v to %v", total, minTotal, maxTotal)
		}
	})
}

// TestDecideAllowedTransitions draws sequences of outcomes.
func TestDecideAllowedTransitions(t *testing.T) {
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
				RetryAfter: time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "retry after")),
				Disable:    rapid.Bool().Draw(t, "disable"),
				Abort:      rapid.Bool().Draw(t, "abort"),
			}
			if o.Code == 0 {
				o.Cause = rapid.SampledFrom([]Cause{TimedOut, ConnectionRefused, TargetForbidden}).Draw(t, "cause")
			}
			after := Decide(s, o, testPolicy, now, rapid.Float64Range(0, 1).Draw(t, "spread"))
			if !contains(allowed[s.Status], after.Status) {
				t.Fatalf("%d became %d by %+v", s.Status, after.Status, o)
			}
			if after.Attempts != s.Attempts+1 || after.Retries() > testPolicy.MaxRetries() {
				t.Fatalf("attempts %d after %d", after.Attempts, s.Attempts)
			}
			if after.Status == RetryPending && !after.Next.After(now) {
				t.Fatalf("the next attempt is not in the future: %v", after.Next.Sub(now))
			}
			if after.Status != RetryPending && !after.Next.IsZero() {
				t.Fatalf("a finished message has a next attempt")
			}
			now = now.Add(time.Minute)
			s = after
		}
	})
}

func contains(list []Status, status Status) bool {
	for _, s := range list {
		if s == status {
			return true
		}
	}
	return false
}
