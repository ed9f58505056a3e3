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
// descriptors. When it is over, a single attempt probes whether the cause has gone. The lock
// of the queueSet guards it.
type pause struct {
	log     *slog.Logger
	resume  func() // starts attempts, without the lock
	failure webhook.OwnFailure
	detail  string
	since   time.Time // zero without a pause
	until   time.Time
	probing bool // the probe is in flight
	wait    backoff.Backoff
	timer   *time.Timer
}

func newPause(log *slog.Logger, resume func()) *pause {
	return &pause{log: log, resume: resume, wait: newOwnFailureBackoff()}
}

func (p *pause) active() bool { return !p.since.IsZero() }

// allows reports whether an attempt may start. If there is a pause, it is the probe.
func (p *pause) allows(now time.Time) bool {
	return !p.active() || !p.probing && !now.Before(p.until)
}

// begin starts a pause, or prolongs it after a probe. Failures of attempts that started before
// the pause do not prolong it.
func (p *pause) begin(o webhook.Outcome, now time.Time, probe bool) {
	if p.active() && !probe {
		return
	}
	if !p.active() {
		p.since = now
	}
	p.failure = o.Own
	p.detail = o.Detail
	p.schedule(now)
	p.log.Warn("deliveries are paused because of a failure of this machine; no message is charged for it",
		"failure", string(o.Own), "detail", o.Detail, "for", p.wait.Wait().String())
}

// schedule sets the time of the next probe.
func (p *pause) schedule(now time.Time) {
	wait := p.wait.Next()
	p.probing = false
	p.until = now.Add(wait)
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.resume)
	} else {
		p.timer.Reset(wait)
	}
}

// end ends a pause after a successful probe.
func (p *pause) end(now time.Time) {
	p.log.Info("deliveries continue", "failure", string(p.failure), "after", now.Sub(p.since).Round(time.Second).String())
	p.since = time.Time{}
	p.probing = false
	p.wait.Reset()
}

// problem describes the pause, empty if there is none.
func (p *pause) problem() string {
	if !p.active() {
		return ""
	}
	return fmt.Sprintf("deliveries have been paused since %s: %s (%s)", p.since.UTC().Format(time.RFC3339), p.failure, p.detail)
}

func (p *pause) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
