package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// disturbance is a time at which a daemon was killed, or in which it stood still.
// It excuses attempts that repeat others.
type disturbance struct {
	freeze  bool
	from    time.Time
	drained time.Time // all that the daemon had sent by then was there
	until   time.Time // of one that stood still
}

type disturbances []disturbance

func (d disturbances) between(from, to time.Time) bool {
	return slices.ContainsFunc(d, func(one disturbance) bool {
		return between(from, to, []time.Time{one.from, one.drained, one.until})
	})
}

// freezes is how many of them are freezes.
func (d disturbances) freezes() (n int) {
	for _, one := range d {
		if one.freeze {
			n++
		}
	}
	return n
}

// effectiveEnd is when nobody worked on an attempt any more. One that was under way
// when its daemon was frozen, and still there when that ended, was frozen itself:
// it ended with the daemon. All others have run out by then, since a freeze is
// longer than an attempt may be.
func (d disturbances) effectiveEnd(a *attempt) time.Time {
	for _, one := range d {
		if one.freeze && a.started.Before(one.from) && !a.ended.Before(one.until) {
			return one.from
		}
	}
	return a.ended
}

// evaluation is what the records of a bureau show.
type evaluation struct {
	events, messages, attempts int
	duplicates                 int // deliveries of a message beyond its first
	frozen                     int // attempts that were frozen in the middle
	late                       int // that came after a freeze, of messages delivered while it lasted
	lateBy                     time.Duration
	slow                       int      // that repeat others since a daemon was too slow to renew its lease
	violations                 []string // broken promises
}

func (v *evaluation) addViolation(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// evaluate looks at all attempts, once nothing is under way any more. A daemon that
// is too slow to renew its lease is no different from one that stands still: the
// times at which messages were taken over say so.
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

// checkMessage looks whether attempts of one message overlap, and whether those
// that repeat a success are excused.
func (v *evaluation) checkMessage(id string, all []*attempt, d disturbances, taken []time.Time) {
	var success *attempt
	var busy time.Time // until when the message was being attempted
	for _, a := range all {
		v.attempts++
		end := d.effectiveEnd(a)
		if !end.Equal(a.ended) {
			v.frozen++
		}
		if busy.After(a.started) {
			v.addViolation("message %s (%s) was being attempted until %v, and again from %v", id, a.body, clockOf(busy), clockOf(a.started))
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
			v.addViolation("message %s (%s) was delivered %v and attempted again %v, and nothing had happened in between", id, a.body, clockOf(success.started), clockOf(a.started))
		}
		if success != nil {
			v.checkLate(d, success, a, taken)
		}
		if a.accepted {
			success = a
		}
	}
}

// checkLate counts attempts after a freeze that the frozen daemon had begun
// before: it was about to send. Its lease tells it of all others. Where something
// else has happened since the other daemon delivered, that is the reason.
func (v *evaluation) checkLate(d disturbances, success, a *attempt, taken []time.Time) {
	if between(success.started, a.started, taken) {
		return
	}
	for n, one := range d {
		others := slices.Delete(slices.Clone(d), n, n+1)
		if one.freeze && success.started.After(one.drained) && success.started.Before(one.until) && a.started.After(one.until) && !others.between(success.started, a.started) {
			v.late++
			v.lateBy = max(v.lateBy, a.started.Sub(one.until))
		}
	}
}

func clockOf(t time.Time) string { return t.Format("04:05.000") }

// checkArrivals looks whether each event came wherever it goes, and those that
// were raised under a key in one message for each address.
func (v *evaluation) checkArrivals(records map[string][]*attempt, accepted []string) {
	came := make(map[string]int) // messages by address and body
	for _, all := range records {
		if slices.ContainsFunc(all, func(a *attempt) bool { return a.accepted }) {
			came[all[0].address+" "+all[0].body]++
		}
	}
	for _, body := range accepted {
		for _, address := range addressesOf(body) {
			switch n := came[address+" "+body]; {
			case n == 0:
				v.addViolation("event %q was accepted and did not come at %s", body, address)
			case n > 1 && usesKey(body):
				v.addViolation("event %q came in %d messages at %s, though it has a key", body, n, address)
			}
		}
	}
}

func addressesOf(body string) []string {
	if name, _, _ := strings.Cut(body, " "); name == orderedEvent {
		return []string{addressPlain, addressOrdered}
	}
	return []string{addressPlain, addressFailing}
}

// checkOrder looks whether the events of the one who raises them in order came
// first in that order.
func (v *evaluation) checkOrder(records map[string][]*attempt) {
	first := make(map[int]time.Time)
	for _, all := range records {
		for _, a := range all {
			n, at := sequenceOf(a.body), a.started
			if was, is := first[n]; a.address == addressOrdered && a.accepted && (!is || at.Before(was)) {
				first[n] = at
			}
		}
	}
	for n, at := range first {
		if next, is := first[n+1]; is && next.Before(at) {
			v.addViolation("event %d of the ordered ones came %v, and the one behind it %v", n, clockOf(at), clockOf(next))
		}
	}
}

// sequenceOf is the number of an event among its publisher's.
func sequenceOf(body string) (n int) {
	_, number, _ := strings.Cut(body, ".")
	_, number, _ = strings.Cut(number, ".") // behind the one of the event's name
	_, _ = fmt.Sscan(number, &n)
	return n
}

// report logs the verdict and fails where a promise is broken.
func (v *evaluation) report(t *testing.T, d disturbances, c *failoverPublishers) {
	t.Helper()
	t.Logf("%d kills, %d freezes: %d events accepted, other calls %v; %d messages in %d attempts; %d deliveries beyond the first of a message; %d attempts frozen in the middle, %d sent up to %v after a freeze though the other daemon had delivered, %d repeated since a daemon was too slow for its lease",
		len(d)-d.freezes(), d.freezes(), v.events, c.failures, v.messages, v.attempts, v.duplicates, v.frozen, v.late, v.lateBy.Round(time.Millisecond), v.slow)
	for _, f := range v.violations[:min(len(v.violations), 20)] {
		t.Error(f)
	}
	if len(v.violations) > 20 || v.events == 0 {
		t.Errorf("%d broken promises", len(v.violations))
	}
}
