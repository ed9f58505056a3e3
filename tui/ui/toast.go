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

// ToastDuration is how long a message is shown; a failure until esc.
var ToastDuration = [...]time.Duration{Info: 4 * time.Second, Warning: 8 * time.Second, Failure: 0}

// Toast is a message to the user.
type Toast struct {
	Level      Level
	Text       string
	At         time.Time
	Connection bool // it tells that the service could not be asked, which ends by itself
}

// Toasts are what is told at present, and the failures so far. What passes
// covers a failure for its few seconds, and does not take it away.
type Toasts struct {
	Transient, persistent *Toast
	Errors                []Toast
}

// maxErrors is how many failures are remembered.
const maxErrors = 200

// Add shows a message, and remembers it where it is a failure.
func (t *Toasts) Add(one Toast) {
	if one.Level != Failure {
		t.Transient = &one
		return
	}
	t.Log(one.Text, one.At)
	if one.Connection && t.persistent != nil && !t.persistent.Connection {
		return // what the user asked for and was not done matters more
	}
	t.Transient, t.persistent = nil, &one
}

// Log remembers a failure without showing it.
func (t *Toasts) Log(text string, now time.Time) {
	t.Errors = append(t.Errors, Toast{Level: Failure, Text: text, At: now})
	t.Errors = t.Errors[max(0, len(t.Errors)-maxErrors):]
}

// Shown is the message that is seen, nil for none.
func (t *Toasts) Shown() *Toast {
	if t.Transient != nil {
		return t.Transient
	}
	return t.persistent
}

// Expire takes away a message that was shown for long enough.
func (t *Toasts) Expire(now time.Time) {
	if t.Transient != nil && now.Sub(t.Transient.At) >= ToastDuration[t.Transient.Level] {
		t.Transient = nil
	}
}

// ClearConnection takes away what was told of a service that could not be asked.
func (t *Toasts) ClearConnection() {
	if t.persistent != nil && t.persistent.Connection {
		t.persistent = nil
	}
}

// Dismiss takes the failure away that is seen. It is false where none is.
func (t *Toasts) Dismiss() bool {
	dismissed := t.Transient == nil && t.persistent != nil
	if dismissed {
		t.persistent = nil
	}
	return dismissed
}
