package edge

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bizhook/whd/daemon/bounded"
	"github.com/bizhook/whd/daemon/fault"
)

// Rate is how many requests one address, user or key may send. The zero value
// is no limit.
type Rate struct {
	PerSecond float64
	Burst     int // that may come at once
}

// maxLimited bounds the memory of a limiter, to about 4 MB.
const maxLimited = 16384

// Limiter counts the requests of each by a token bucket.
type Limiter struct {
	mu      sync.Mutex
	rate    Rate
	buckets *bounded.Map[string, *rate.Limiter]
}

// NewLimiter makes a Limiter.
func NewLimiter(r Rate) *Limiter {
	full := func(b *rate.Limiter, now time.Time) bool { return b.TokensAt(now) >= float64(b.Burst()) }
	return &Limiter{rate: r, buckets: bounded.New[string](maxLimited, time.Second, full)}
}

// Take counts a request of who, and fails where that is one too many.
func (l *Limiter) Take(who string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate.PerSecond == 0 {
		return nil
	}
	bucket, known := l.buckets.Get(who)
	if !known {
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets.Set(who, bucket, now)
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration((1 - bucket.TokensAt(now)) / l.rate.PerSecond * float64(time.Second))
	return &fault.Error{Kind: fault.TooMany, Message: "too many requests", RetryAfter: wait}
}

// SetRate takes over another rate, under which everybody begins again.
func (l *Limiter) SetRate(r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate != r {
		l.rate = r
		l.buckets.DeleteFunc(func(string, *rate.Limiter) bool { return true })
	}
}
