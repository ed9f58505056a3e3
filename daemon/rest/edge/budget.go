package edge

import "sync"

// anonymousShare is the divisor of the share of a budget that requests without valid
// credentials may use together.
const anonymousShare = 4

// Budget limits the memory that many requests use together.
type Budget struct {
	size int64

	mu        sync.Mutex
	free      int64
	anonymous int64 // the free part of the share of unauthenticated requests
}

// NewBudget returns a Budget of size bytes.
func NewBudget(size int64) *Budget {
	return &Budget{size: size, free: size, anonymous: size / anonymousShare}
}

// take reserves n bytes and reports whether they were free. A negative n releases
// bytes, which always succeeds.
func (b *Budget) take(n int64, anonymous bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.free
	if anonymous {
		free = min(free, b.anonymous)
	}
	if n > 0 && n > free {
		return false
	}
	b.free -= n
	if anonymous {
		b.anonymous -= n
	}
	return true
}

// leaveAnonymous moves n reserved bytes out of the anonymous share.
func (b *Budget) leaveAnonymous(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.anonymous += n
}

// Held returns the number of reserved bytes.
func (b *Budget) Held() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.size - b.free)
}
