package account

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	mostFailures        = 5  // of a pair of user and address
	mostNetworkFailures = 20 // of an address
	failureWindow       = time.Minute
	// mostThrottled bounds memory to about 3 MB. The gate lets fewer attempts
	// through in a minute, so nothing that counts is pushed out.
	mostThrottled = 16384
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
	failed map[print]failures
	swept  time.Time
}

func newThrottle(most int) *throttle {
	return &throttle{most: most, failed: make(map[print]failures)}
}

// check fails where too many attempts have failed.
func (t *throttle) check(who print, now time.Time) error { return t.count(who, now, false) }

// begin counts an attempt as failed before it is made, so that attempts side
// by side cannot outrun the count. Success or undo takes it back.
func (t *throttle) begin(who print, now time.Time) error { return t.count(who, now, true) }

// fail counts an attempt that failed. Those side by side can outrun this count
// by as many as the gate lets wait, and are not counted beyond the limit.
func (t *throttle) fail(who print, now time.Time) { _ = t.count(who, now, true) }

// count fails where too many attempts have failed; else it may add one.
func (t *throttle) count(who print, now time.Time, failed bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.failed[who].recent(now)
	if wait := f.wait(now, t.most); wait > 0 {
		return &fault.Error{Kind: fault.TooMany, Message: "Too many failed logins", RetryAfter: wait}
	}
	if !failed {
		return nil
	}
	if len(f) == 0 {
		t.makeRoom(now)
	}
	t.failed[who] = append(slices.Clip(f), now)
	return nil
}

// succeeded forgets the failures.
func (t *throttle) succeeded(who print) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.failed, who)
}

// undo takes back the attempt that began at the time: it came to no result.
func (t *throttle) undo(who print, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.failed[who]
	if i := slices.IndexFunc(f, began.Equal); i >= 0 {
		t.failed[who] = slices.Concat(f[:i], f[i+1:])
	}
	if len(t.failed[who]) == 0 {
		delete(t.failed, who)
	}
}

func (t *throttle) makeRoom(now time.Time) {
	if len(t.failed) < mostThrottled {
		return
	}
	if now.Sub(t.swept).Abs() >= failureWindow {
		t.swept = now
		maps.DeleteFunc(t.failed, func(_ print, f failures) bool { return len(f.recent(now)) == 0 })
	}
	for who := range t.failed {
		if len(t.failed) < mostThrottled {
			return
		}
		delete(t.failed, who)
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
