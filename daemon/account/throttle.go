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
	// maxThrottled bounds memory to about 3 MB. The semaphore lets fewer attempts
	// through in a minute, so nothing that counts is pushed out.
	maxThrottled = 16384
)

// failures are the times of the latest failures, oldest first.
type failures []time.Time

// recent are the failures that still count at now.
func (f failures) recent(now time.Time) failures {
	old := 0
	for old < len(f) && !f[old].Add(failureWindow).After(now) {
		old++
	}
	return f[old:]
}

// wait is how long the next attempt must wait at now, 0 if it need not.
func (f failures) wait(now time.Time, most int) time.Duration {
	counted := f.recent(now)
	if len(counted) < most {
		return 0
	}
	return counted[len(counted)-most].Add(failureWindow).Sub(now)
}

// throttle counts failures by who is to blame for them.
type throttle struct {
	most   int // failures within the window
	mu     sync.Mutex
	failed *bounded.Map[fingerprint, failures]
}

func newThrottle(most int) *throttle {
	none := func(f failures, now time.Time) bool { return len(f.recent(now)) == 0 }
	return &throttle{most: most, failed: bounded.New[fingerprint](maxThrottled, failureWindow, none)}
}

// check fails where too many attempts have failed.
func (t *throttle) check(who fingerprint, now time.Time) error { return t.count(who, now, false) }

// begin counts an attempt as failed before it is made, so that attempts side
// by side cannot outrun the count. Success or undo takes it back.
func (t *throttle) begin(who fingerprint, now time.Time) error { return t.count(who, now, true) }

// fail counts an attempt that failed. Those side by side can outrun this count
// by as many as the semaphore lets wait, and are not counted beyond the limit.
func (t *throttle) fail(who fingerprint, now time.Time) { _ = t.count(who, now, true) }

// count fails where too many attempts have failed; else it may add one.
func (t *throttle) count(who fingerprint, now time.Time, failed bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, _ := t.failed.Get(who)
	f = f.recent(now)
	if wait := f.wait(now, t.most); wait > 0 {
		return &fault.Error{Kind: fault.TooMany, Message: "Too many failed logins", RetryAfter: wait}
	}
	if failed {
		t.failed.Set(who, append(slices.Clip(f), now), now)
	}
	return nil
}

// succeeded forgets the failures.
func (t *throttle) succeeded(who fingerprint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed.Delete(who)
}

// undo takes back the attempt that began at the time: it came to no result.
func (t *throttle) undo(who fingerprint, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, _ := t.failed.Get(who)
	if i := slices.IndexFunc(f, began.Equal); i >= 0 {
		f = slices.Concat(f[:i], f[i+1:])
	}
	if len(f) == 0 {
		t.failed.Delete(who)
	} else {
		t.failed.Set(who, f, began)
	}
}

// Network is what counts as one address: an IPv6 host has a whole /64 to
// itself, so all of that counts as one.
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
