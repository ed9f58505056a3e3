package account

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/bounded"
	"github.com/bizhook/whd/daemon/fault"
)

const (
	maxFailures        = 5  // of a pair of user and address
	maxNetworkFailures = 20 // of an address
	failureWindow      = time.Minute
	// maxThrottled limits memory to about 3 MB. The semaphore allows fewer attempts per
	// minute, so that no recent failure is evicted.
	maxThrottled = 16384
)

// failures contains the times of failures, oldest first.
type failures []time.Time

// recent returns the failures within the window at now.
func (f failures) recent(now time.Time) failures {
	old := 0
	for old < len(f) && !f[old].Add(failureWindow).After(now) {
		old++
	}
	return f[old:]
}

// wait returns the time until the next attempt is allowed, 0 if it is allowed at now.
func (f failures) wait(now time.Time, max int) time.Duration {
	counted := f.recent(now)
	if len(counted) < max {
		return 0
	}
	return counted[len(counted)-max].Add(failureWindow).Sub(now)
}

// throttle limits failures by user and address, or by address.
type throttle struct {
	max    int // failures within the window
	mu     sync.Mutex
	failed *bounded.Map[fingerprint, failures]
}

func newThrottle(max int) *throttle {
	none := func(f failures, now time.Time) bool { return len(f.recent(now)) == 0 }
	return &throttle{max: max, failed: bounded.New[fingerprint](maxThrottled, failureWindow, none)}
}

// check fails with fault.TooMany if too many attempts have failed.
func (t *throttle) check(key fingerprint, now time.Time) error { return t.count(key, now, false) }

// begin counts an attempt as failed before it is made, so that concurrent attempts
// cannot exceed the limit. succeeded or undo reverts that.
func (t *throttle) begin(key fingerprint, now time.Time) error { return t.count(key, now, true) }

// fail counts a failed attempt. Concurrent attempts can exceed the limit by the length
// of the semaphore's queue; failures beyond the limit are not counted.
func (t *throttle) fail(key fingerprint, now time.Time) { _ = t.count(key, now, true) }

// count fails if too many attempts have failed, else it adds a failure if failed.
func (t *throttle) count(key fingerprint, now time.Time, failed bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, _ := t.failed.Get(key)
	f = f.recent(now)
	if wait := f.wait(now, t.max); wait > 0 {
		return &fault.Error{Kind: fault.TooMany, Message: "Too many failed logins", RetryAfter: wait}
	}
	if failed {
		t.failed.Set(key, append(slices.Clip(f), now), now)
	}
	return nil
}

// succeeded resets the failures.
func (t *throttle) succeeded(key fingerprint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed.Delete(key)
}

// undo reverts begin for an attempt without a result.
func (t *throttle) undo(key fingerprint, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, _ := t.failed.Get(key)
	if i := slices.IndexFunc(f, began.Equal); i >= 0 {
		f = slices.Concat(f[:i], f[i+1:])
	}
	if len(f) == 0 {
		t.failed.Delete(key)
	} else {
		t.failed.Set(key, f, began)
	}
}

// Network returns the key by which attempts from an address are counted: the address
// without port, or the /64 prefix of an IPv6 address, since a host can use all of it.
func Network(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil {
		if with, err := netip.ParseAddrPort(address); err == nil {
			at = with.Addr()
		} else {
			return address
		}
	}
	at = at.Unmap().WithZone("")
	if at.Is6() {
		prefix, _ := at.Prefix(64) // fails only for more bits than an address has
		return prefix.String()
	}
	return at.String()
}
