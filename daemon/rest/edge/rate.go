package edge

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bizhook/whd/daemon/bounded"
	"github.com/bizhook/whd/daemon/fault"
)

// Rate is the allowed rate of requests of one address, user or key. The zero value
// is no limit.
type Rate struct {
	PerSecond float64
	Burst     int // requests that may arrive at once
}

// maxLimited limits the memory of a Limiter, to about 4 MB.
const maxLimited = 16384

// Limiter limits the rate of requests by key with token buckets.
type Limiter struct {
	mu      sync.Mutex
	rate    Rate
	buckets *bounded.Map[string, *rate.Limiter]
}

// NewLimiter returns a Limiter with the given rate.
func NewLimiter(r Rate) *Limiter {
	full := func(b *rate.Limiter, now time.Time) bool { return b.TokensAt(now) >= float64(b.Burst()) }
	return &Limiter{rate: r, buckets: bounded.New[string](maxLimited, time.Second, full)}
}

// Take counts a request of the key and fails if it exceeds the rate.
func (l *Limiter) Take(key string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate.PerSecond == 0 {
		return nil
	}
	bucket, ok := l.buckets.Get(key)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets.Set(key, bucket, now)
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration((1 - bucket.TokensAt(now)) / l.rate.PerSecond * float64(time.Second))
	return &fault.Error{Kind: fault.TooMany, Message: "too many requests", RetryAfter: wait}
}

// SetRate changes the rate and resets all buckets.
func (l *Limiter) SetRate(r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate != r {
		l.rate = r
		l.buckets.DeleteFunc(func(string, *rate.Limiter) bool { return true })
	}
}
