package edge

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

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
	buckets map[string]*rate.Limiter
	swept   time.Time
}

func NewLimiter(r Rate) *Limiter { return &Limiter{rate: r, buckets: make(map[string]*rate.Limiter)} }

// Take counts a request of who, and fails where that is one too many.
func (l *Limiter) Take(who string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate.PerSecond == 0 {
		return nil
	}
	bucket := l.buckets[who]
	if bucket == nil {
		l.makeRoom(now)
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets[who] = bucket
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	wait := time.Duration((1 - bucket.TokensAt(now)) / l.rate.PerSecond * float64(time.Second))
	return &fault.Error{Kind: fault.TooMany, Message: "too many requests", RetryAfter: wait}
}

// SetRate takes over another rate, under which everybody begins anew.
func (l *Limiter) SetRate(r Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate != r {
		l.rate = r
		clear(l.buckets)
	}
}

// makeRoom drops the buckets that are full again, which say nothing, and if
// that is not enough, any. It looks for full ones once in a while: else a flood
// of addresses would have it walk the whole map for each.
func (l *Limiter) makeRoom(now time.Time) {
	if len(l.buckets) < maxLimited {
		return
	}
	if now.Sub(l.swept).Abs() >= time.Second {
		l.swept = now
		maps.DeleteFunc(l.buckets, func(_ string, b *rate.Limiter) bool { return b.TokensAt(now) >= float64(l.rate.Burst) })
	}
	for who := range l.buckets {
		if len(l.buckets) < maxLimited {
			return
		}
		delete(l.buckets, who)
	}
}
