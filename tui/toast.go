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
	link  bool // it tells that the service could not be asked, which ends by itself
}

// toasts are what is told at present, and the failures so far. What passes
// covers a failure for its few seconds, and does not take it away.
type toasts struct {
	passing, lasting *toast
	failed           []toast
}

// failedKept is how many failures are remembered.
const failedKept = 200

func (t *toasts) add(one toast) {
	if one.level != failure {
		t.passing = &one
		return
	}
	t.note(one.text, one.at)
	if one.link && t.lasting != nil && !t.lasting.link {
		return // what the user asked for and was not done matters more
	}
	t.passing, t.lasting = nil, &one
}

// note remembers a failure without showing it.
func (t *toasts) note(text string, now time.Time) {
	t.failed = append(t.failed, toast{level: failure, text: text, at: now})
	t.failed = t.failed[max(0, len(t.failed)-failedKept):]
}

// shown is the message that is seen, nil for none.
func (t *toasts) shown() *toast {
	if t.passing != nil {
		return t.passing
	}
	return t.lasting
}

// expire takes away a message that was shown for long enough.
func (t *toasts) expire(now time.Time) {
	if t.passing != nil && now.Sub(t.passing.at) >= stays[t.passing.level] {
		t.passing = nil
	}
}

// reached takes away what was told of a service that could not be asked.
func (t *toasts) reached() {
	if t.lasting != nil && t.lasting.link {
		t.lasting = nil
	}
}

// dismiss takes the failure away that is seen. It is false where none is.
func (t *toasts) dismiss() bool {
	was := t.passing == nil && t.lasting != nil
	if was {
		t.lasting = nil
	}
	return was
}
