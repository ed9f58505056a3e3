package tui

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// link is what is known of the way to the service. It never calls live what is
// not: without a heartbeat in the last 20 seconds the word is another one.
type link struct {
	session   int // of the stream that counts
	connected bool
	beat      time.Time // the last heartbeat
	lost      error     // the stream's connection
	lostAt    time.Time
	retryAt   time.Time
	refused   error     // the service has no stream for us
	reached   time.Time // the last answer of any kind
	failed    error     // the last request got none
	failedAt  time.Time
	signedOut bool
	ahead     time.Duration // how far the service's clock is ahead of ours
	paused    bool
	missed    int // changes while paused
}

// Take learns from what the stream told.
func (l *link) Take(m liveMsg, now time.Time) {
	if m.connected {
		l.connected, l.lost, l.signedOut = true, nil, false
	}
	if m.beat { // which a stream has that outlives its session for a moment
		l.beat, l.reached, l.lost, l.failed, l.ahead = now, now, nil, nil, m.ahead
	}
	if m.lost != nil {
		l.connected, l.lost, l.lostAt, l.retryAt, l.beat = false, m.lost, now, now.Add(m.retry), time.Time{}
	}
	if m.final != nil {
		l.connected, l.refused, l.beat = false, m.final, time.Time{}
		l.signedOut = l.signedOut || ui.SignedOut(m.final)
	}
	if l.paused {
		l.missed += len(m.changes) + m.requests
	}
}

// heard learns from the outcome of a request.
func (l *link) heard(err error, now time.Time) {
	switch {
	case ui.SignedOut(err):
		l.signedOut, l.reached, l.failed = true, now, nil
	case client.Is(err, client.Cancelled):
	case client.Is(err, client.Unreachable), client.Is(err, client.TimedOut):
		l.failed, l.failedAt = err, now
	case err == nil:
		l.reached, l.failed, l.signedOut = now, nil, false
	}
}

// sameClock is how far two clocks may be apart without a word.
const sameClock = 2 * time.Second

// clocks says by how much the service's clock differs; empty for not worth
// mentioning.
func (l *link) clocks() string {
	switch {
	case l.ahead > sameClock:
		return " +" + ui.Age(l.ahead) + " there"
	case l.ahead < -sameClock:
		return " -" + ui.Age(-l.ahead) + " there"
	}
	return ""
}

// ofLink reports whether an error says only that the service could not be asked,
// or not by us.
func ofLink(err error) bool {
	return ui.SignedOut(err) || client.Is(err, client.Unreachable) || client.Is(err, client.TimedOut)
}

// fine reports whether the service answers, and us.
func (l *link) fine() bool { return !l.signedOut && l.failed == nil && !l.reached.IsZero() }

// live reports whether what is shown is kept up to date by the stream.
func (l *link) live(now time.Time) bool {
	return !l.beat.IsZero() && now.Sub(l.beat) < ui.HeartbeatLimit && l.lost == nil
}

// polls reports whether rows have to be fetched again and again, since no stream
// brings their changes.
func (l *link) polls(now time.Time) bool { return !l.paused && !l.signedOut && !l.live(now) }

// away reports whether the service cannot be reached.
func (l *link) away(now time.Time) bool { return !l.live(now) && l.failed != nil }

// idle reports whether the stream still waits although the service answers
// again.
func (l *link) idle(now time.Time) bool {
	return l.lost != nil && l.failed == nil && l.reached.After(l.lostAt) && l.retryAt.After(now)
}

// word is the state in one word or two.
func (l *link) word(now time.Time) string {
	switch {
	case l.signedOut:
		return "AUTH"
	case l.paused:
		return fmt.Sprintf("PAUSED +%d", l.missed)
	case l.live(now):
		return "LIVE"
	case l.failed != nil && !l.retryAt.IsZero() && l.retryAt.After(now):
		return "OFFLINE retry " + ui.Age(l.retryAt.Sub(now)+time.Second-1)
	case l.failed != nil:
		return "OFFLINE"
	case !l.beat.IsZero():
		return "STALE " + ui.Age(now.Sub(l.beat))
	case l.reached.IsZero():
		return "CONNECTING"
	case now.Sub(l.reached) > 5*ui.PollInterval:
		return "STALE " + ui.Age(now.Sub(l.reached))
	}
	return "POLL " + ui.Age(ui.PollInterval)
}
