package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// disturbance is a kill or a suspension of a daemon. It permits repeated attempts.
type disturbance struct {
	freeze  bool
	from    time.Time
	drained time.Time // when everything the daemon had sent before was received
	until   time.Time // end of a suspension
}

type disturbances []disturbance

func (d disturbances) between(from, to time.Time) bool {
	return slices.ContainsFunc(d, func(disturbed disturbance) bool {
		return between(from, to, []time.Time{disturbed.from, disturbed.drained, disturbed.until})
	})
}

// freezes returns the number of suspensions.
func (d disturbances) freezes() (n int) {
	for _, disturbed := range d {
		if disturbed.freeze {
			n++
		}
	}
	return n
}

// effectiveEnd returns when no daemon worked on an attempt any more. An attempt that
// was running when its daemon was suspended and still running afterwards was suspended,
// too: it ended with the daemon. All others have timed out, since a suspension is
// longer than an attempt can be.
func (d disturbances) effectiveEnd(a *attempt) time.Time {
	for _, disturbed := range d {
		if disturbed.freeze && a.started.Before(disturbed.from) && !a.ended.Before(disturbed.until) {
			return disturbed.from
		}
	}
	return a.ended
}

// evaluation is the result of evaluating a receiver's records.
type evaluation struct {
	events, messages, attempts int
	inOrder                    int // events that were checked for their order
	duplicates                 int // deliveries of a message after its first
	frozen                     int // attempts that were suspended
	late                       int // attempts after a suspension, of messages delivered during it
	lateBy                     time.Duration
	slow                       int      // attempts repeated because a daemon was too slow to renew its lease
	violations                 []string // violated guarantees
}

func (v *evaluation) addViolation(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// evaluate checks all attempts after the last one has ended. A daemon that is too slow
// to renew its lease is equivalent to a suspended one, which is recognized by the times
// at which messages were taken over.
func (b *recordingReceiver) evaluate(d disturbances, taken []time.Time, accepted []string) *evaluation {
	b.awaitIdle()
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &evaluation{messages: len(b.records), events: len(accepted)}
	for id, all := range b.records {
		v.checkMessage(id, all, d, taken)
	}
	v.checkArrivals(b.records, accepted)
	v.checkOrder(b.records)
	if b.skewed > 0 {
		v.addViolation("%d attempts have a time stamp that is off by more than %v", b.skewed, timestampTolerance)
	}
	return v
}

// checkMessage checks that attempts of a message do not overlap, and that attempts
// after a success are permitted.
func (v *evaluation) checkMessage(id string, all []*attempt, d disturbances, taken []time.Time) {
	var success *attempt
	var busy time.Time // end of the latest attempt
	for _, a := range all {
		v.attempts++
		end := d.effectiveEnd(a)
		if !end.Equal(a.ended) {
			v.frozen++
		}
		if busy.After(a.started) {
			v.addViolation("message %s (%s) was being attempted until %v, and again from %v",
				id, a.body, clockOf(busy), clockOf(a.started))
		}
		if end.After(busy) {
			busy = end
		}
		if success != nil && a.accepted {
			v.duplicates++
		}
		switch {
		case success == nil || d.between(success.started, a.started):
		case between(success.started, a.started, taken):
			v.slow++
		default:
			v.addViolation("message %s (%s) was delivered %v and attempted again %v, and nothing had happened in between",
				id, a.body, clockOf(success.started), clockOf(a.started))
		}
		if success != nil {
			v.checkLate(d, success, a, taken)
		}
		if a.accepted {
			success = a
		}
	}
}

// checkLate counts attempts after a suspension that were already prepared before it.
// The lease prevents all others. If there was another disturbance since the delivery by
// the other daemon, that is the cause instead.
func (v *evaluation) checkLate(d disturbances, success, a *attempt, taken []time.Time) {
	if between(success.started, a.started, taken) {
		return
	}
	for n, frozen := range d {
		others := slices.Delete(slices.Clone(d), n, n+1)
		succeededWhile := success.started.After(frozen.drained) && success.started.Before(frozen.until)
		repeatedAfter := a.started.After(frozen.until) && !others.between(success.started, a.started)
		if frozen.freeze && succeededWhile && repeatedAfter {
			v.late++
			v.lateBy = max(v.lateBy, a.started.Sub(frozen.until))
		}
	}
}

func clockOf(t time.Time) string { return t.Format("04:05.000") }

// checkArrivals checks that each event was received at all its addresses, and those
// published under a key once per address.
func (v *evaluation) checkArrivals(records map[string][]*attempt, accepted []string) {
	counts := make(map[string]int) // messages by address and body
	for _, attempts := range records {
		if slices.ContainsFunc(attempts, func(a *attempt) bool { return a.accepted }) {
			counts[attempts[0].address+" "+attempts[0].body]++
		}
	}
	for _, body := range accepted {
		for _, address := range addressesOf(body) {
			n := counts[address+" "+body]
			if n == 0 {
				v.addViolation("event %q was accepted but not received at %s", body, address)
			}
			if n > 1 && isIdempotent(body) {
				v.addViolation("event %q was received in %d messages at %s although it has an idempotency key", body, n, address)
			}
		}
	}
}

func addressesOf(body string) []string {
	if name, _, _ := strings.Cut(body, " "); name == orderedEvent {
		return []string{addressPlain, addressOrdered}
	}
	return []string{addressPlain, addressFailing, addressKeyed}
}

// place identifies an event among those that must be received in order: the events of
// one publisher, which are all ordered events and all events with one key.
type place struct {
	address, publisher string
	number             int
}

// checkOrder checks that the events of each publisher were first received in order.
func (v *evaluation) checkOrder(records map[string][]*attempt) {
	first := make(map[place]time.Time)
	for _, attempts := range records {
		for _, a := range attempts {
			isOrdered := a.address == addressOrdered || a.address == addressKeyed
			if !isOrdered || !a.accepted {
				continue
			}
			p := place{a.address, publisherOf(a.body), sequenceOf(a.body)}
			earliest, ok := first[p]
			if !ok || a.started.Before(earliest) {
				first[p] = a.started
			}
		}
	}
	for p, at := range first {
		next, ok := first[place{p.address, p.publisher, p.number + 1}]
		if ok && next.Before(at) {
			v.addViolation("at %s, event %d of publisher %s was received at %v, the next one at %v",
				p.address, p.number, p.publisher, clockOf(at), clockOf(next))
		}
	}
	v.inOrder = len(first)
}

// sequenceOf returns the number of an event among those of its publisher.
func sequenceOf(body string) (n int) {
	_, number, _ := strings.Cut(body, ".")
	_, number, _ = strings.Cut(number, ".") // after the number of the publisher
	_, _ = fmt.Sscan(number, &n)
	return n
}

// report logs the evaluation and fails the test if a guarantee was violated.
func (v *evaluation) report(t *testing.T, d disturbances, c *failoverPublishers) {
	t.Helper()
	t.Logf("%d kills, %d freezes: %d events accepted, other results %v; the order of %d checked",
		len(d)-d.freezes(), d.freezes(), v.events, c.failures, v.inOrder)
	t.Logf("%d messages in %d attempts; %d deliveries beyond the first of a message",
		v.messages, v.attempts, v.duplicates)
	t.Logf("%d attempts suspended, %d sent up to %v after a suspension although the other daemon had delivered",
		v.frozen, v.late, v.lateBy.Round(time.Millisecond))
	t.Logf("%d attempts repeated since a daemon was too slow for its lease", v.slow)
	for _, f := range v.violations[:min(len(v.violations), 20)] {
		t.Error(f)
	}
	if len(v.violations) > 20 || v.events == 0 || v.inOrder == 0 {
		t.Errorf("%d violated guarantees", len(v.violations))
	}
}
