package delivery

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/webhook"
)

// Bounds of the time after a failure of our own until the next attempt.
const (
	minOwnFailureWait = time.Second
	maxOwnFailureWait = 30 * time.Second
)

func newOwnFailureBackoff() backoff.Backoff {
	return backoff.Backoff{Min: minOwnFailureWait, Max: maxOwnFailureWait}
}

// pause holds all attempts back after a failure of this machine, such as a lack of file
// descriptors. From time to time a single attempt probes whether the cause has gone. The lock of
// the queueSet guards it.
type pause struct {
	log     *slog.Logger
	resume  func() // starts attempts, without the lock
	failure webhook.OwnFailure
	detail  string    // the error message, for administrators
	since   time.Time // zero without a pause
	until   time.Time // then a probe may start
	wait    backoff.Backoff
	timer   *time.Timer
}

func newPause(log *slog.Logger, resume func()) *pause {
	return &pause{log: log, resume: resume, wait: newOwnFailureBackoff()}
}

func (p *pause) active() bool { return !p.since.IsZero() }

// allows reports whether an attempt may start. During a pause it is a probe.
func (p *pause) allows(now time.Time) bool {
	if !p.active() {
		return true
	}
	return !now.Before(p.until)
}

// begin starts a pause after a failure of an attempt.
func (p *pause) begin(o webhook.Outcome, now time.Time) {
	p.since = now
	p.prolong(o, now)
}

// prolong delays the next probe after a failure of the last one.
func (p *pause) prolong(o webhook.Outcome, now time.Time) {
	p.failure = o.Own
	p.detail = o.Detail
	wait := p.wait.Next()
	p.waitFor(wait, now)
	p.log.Warn("deliveries have been paused; no retries are used up",
		"reason", webhook.OwnFailures[o.Own], "detail", o.Detail, "for", wait.String())
}

// probeStarted lets another probe start soon, even if this one does not end: its endpoint may
// hang.
func (p *pause) probeStarted(now time.Time) { p.waitFor(minOwnFailureWait, now) }

func (p *pause) waitFor(wait time.Duration, now time.Time) {
	p.until = now.Add(wait)
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.resume)
		return
	}
	p.timer.Reset(wait)
}

// end ends a pause after a probe without a failure of this machine.
func (p *pause) end(now time.Time) {
	p.log.Info("deliveries continue",
		"paused", now.Sub(p.since).Round(time.Second).String(), "reason", webhook.OwnFailures[p.failure])
	p.since = time.Time{}
	p.wait.Reset()
}

// problem describes the pause without details of endpoints, empty if there is none.
func (p *pause) problem() string {
	if !p.active() {
		return ""
	}
	since := p.since.UTC().Format(time.RFC3339)
	return fmt.Sprintf("deliveries have been paused since %s: %s", since, webhook.OwnFailures[p.failure])
}

// stop ends the probes of an engine that starts no more attempts.
func (p *pause) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
