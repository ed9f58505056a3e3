package tui

import "time"

// level says how much a message matters.
type level uint8

const (
	info level = iota
	warning
	failure
)

// stays is how long a message is shown; a failure until esc.
var stays = [...]time.Duration{info: 4 * time.Second, warning: 8 * time.Second, failure: 0}

// toast is a message to the user.
type toast struct {
	level level
	text  string
	at    time.Time
}

// toasts are the message that is shown, and the failures so far.
type toasts struct {
	shown  *toast
	failed []toast
}

// failedKept is how many failures are remembered.
const failedKept = 200

func (t *toasts) add(l level, text string, now time.Time) {
	if t.shown != nil && t.shown.level == failure && l == info {
		return // a failure is not covered by what matters less
	}
	t.shown = &toast{l, text, now}
	if l == failure {
		t.note(text, now)
	}
}

// note remembers a failure without showing it.
func (t *toasts) note(text string, now time.Time) {
	t.failed = append(t.failed, toast{failure, text, now})
	t.failed = t.failed[max(0, len(t.failed)-failedKept):]
}

// expire takes away a message that was shown for long enough.
func (t *toasts) expire(now time.Time) {
	if t.shown != nil && stays[t.shown.level] > 0 && now.Sub(t.shown.at) >= stays[t.shown.level] {
		t.shown = nil
	}
}

// dismiss takes a failure away. It is false where none is shown.
func (t *toasts) dismiss() bool {
	was := t.shown != nil && t.shown.level == failure
	if was {
		t.shown = nil
	}
	return was
}
