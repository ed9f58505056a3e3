package edge

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

func TestLimiter(t *testing.T) {
	l, now := NewLimiter(Rate{PerSecond: 2, Burst: 3}), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	allowed := func(key string) bool {
		err := l.Take(key, now)
		if err != nil &&
			(!fault.Is(err, fault.TooMany) || fault.From(err).RetryAfter <= 0 ||
				fault.From(err).RetryAfter > time.Second/2) {
			t.Errorf("%v, after %v", err, fault.From(err).RetryAfter)
		}
		return err == nil
	}
	for range 3 {
		if !allowed("a") {
			t.Error("the burst is refused")
		}
	}
	if allowed("a") || !allowed("b") {
		t.Error("one more of a, or the first of b")
	}
	now = now.Add(time.Second / 2)
	if !allowed("a") || allowed("a") {
		t.Error("half a second makes one request")
	}
	now = now.Add(time.Hour)
	for n := range 4 {
		if allowed("a") != (n < 3) {
			t.Error("an hour makes a burst and no more")
		}
	}
}

func TestLimiterIsBounded(t *testing.T) {
	l, now := NewLimiter(Rate{PerSecond: 1, Burst: 1}), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range 3 * maxLimited {
		if err := l.Take(fmt.Sprint(n), now.Add(time.Duration(n)*time.Microsecond)); err != nil {
			t.Fatal(err)
		}
		if l.buckets.Len() > maxLimited {
			t.Fatalf("%d buckets", l.buckets.Len())
		}
	}
	if err := l.Take("x", now.Add(time.Hour)); err != nil || l.buckets.Len() != 1 {
		t.Errorf("%d buckets are left of those that are full again (%v)", l.buckets.Len(), err)
	}
	if err := NewLimiter(Rate{}).Take("x", now); err != nil {
		t.Error(err)
	}
}
