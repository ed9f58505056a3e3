// Package ui is what the screens are made of: Host, what they may ask of the app;
// Session, what they share; what lies over them, such as forms, questions and
// pickers; messages to the user, errors and values as people read them.
package ui

import "time"

// Level says how much a message matters.
type Level uint8

// The levels.
const (
	Info Level = iota
	Warning
	Failure
)

// Stays is how long a message is shown; a failure until esc.
var Stays = [...]time.Duration{Info: 4 * time.Second, Warning: 8 * time.Second, Failure: 0}

// Toast is a message to the user.
type Toast struct {
	Level Level
	Text  string
	At    time.Time
	Link  bool // it tells that the service could not be asked, which ends by itself
}

// Toasts are what is told at present, and the failures so far. What passes
// covers a failure for its few seconds, and does not take it away.
type Toasts struct {
	Passing, lasting *Toast
	Failed           []Toast
}

// failedKept is how many failures are remembered.
const failedKept = 200

// Add shows a message, and remembers it where it is a failure.
func (t *Toasts) Add(one Toast) {
	if one.Level != Failure {
		t.Passing = &one
		return
	}
	t.Note(one.Text, one.At)
	if one.Link && t.lasting != nil && !t.lasting.Link {
		return // what the user asked for and was not done matters more
	}
	t.Passing, t.lasting = nil, &one
}

// Note remembers a failure without showing it.
func (t *Toasts) Note(text string, now time.Time) {
	t.Failed = append(t.Failed, Toast{Level: Failure, Text: text, At: now})
	t.Failed = t.Failed[max(0, len(t.Failed)-failedKept):]
}

// Shown is the message that is seen, nil for none.
func (t *Toasts) Shown() *Toast {
	if t.Passing != nil {
		return t.Passing
	}
	return t.lasting
}

// Expire takes away a message that was shown for long enough.
func (t *Toasts) Expire(now time.Time) {
	if t.Passing != nil && now.Sub(t.Passing.At) >= Stays[t.Passing.Level] {
		t.Passing = nil
	}
}

// Reached takes away what was told of a service that could not be asked.
func (t *Toasts) Reached() {
	if t.lasting != nil && t.lasting.Link {
		t.lasting = nil
	}
}

// Dismiss takes the failure away that is seen. It is false where none is.
func (t *Toasts) Dismiss() bool {
	was := t.Passing == nil && t.lasting != nil
	if was {
		t.lasting = nil
	}
	return was
}
