// Package ui provides the building blocks of the screens: Host, the interface of the
// app; Session, the shared state; overlays such as forms, confirmations and pickers;
// messages to the user; and the formatting of errors and values.
package ui

import (
	"cmp"
	"time"
)

// Level is the severity of a message.
type Level uint8

// The levels.
const (
	Info Level = iota
	Warning
	Failure
)

// ToastDuration is how long a message is shown; 0 means until it is dismissed with esc.
var ToastDuration = [...]time.Duration{Info: 4 * time.Second, Warning: 8 * time.Second, Failure: 0}

// Toast is a message to the user.
type Toast struct {
	Level      Level
	Text       string
	At         time.Time
	Connection bool // a connection error, which is cleared when the service responds
}

// Toasts holds the visible message and the error log. A transient message covers a
// persistent error but does not remove it.
type Toasts struct {
	Transient, persistent *Toast
	Errors                []Toast
}

// maxErrors is the size of the error log.
const maxErrors = 200

// Add shows a message; failures are also added to the error log.
func (t *Toasts) Add(toast Toast) {
	if toast.Level != Failure {
		t.Transient = &toast
		return
	}
	t.Log(toast.Text, toast.At)
	if toast.Connection && t.persistent != nil && !t.persistent.Connection {
		return // keep the error of an action that the user requested
	}
	t.Transient, t.persistent = nil, &toast
}

// Log adds an error to the error log without showing it.
func (t *Toasts) Log(text string, now time.Time) {
	t.Errors = append(t.Errors, Toast{Level: Failure, Text: text, At: now})
	t.Errors = t.Errors[max(0, len(t.Errors)-maxErrors):]
}

// Shown returns the visible message, nil if there is none.
func (t *Toasts) Shown() *Toast { return cmp.Or(t.Transient, t.persistent) }

// Expire removes a transient message after its duration.
func (t *Toasts) Expire(now time.Time) {
	if t.Transient != nil && now.Sub(t.Transient.At) >= ToastDuration[t.Transient.Level] {
		t.Transient = nil
	}
}

// ClearConnection removes a connection error after the service has responded.
func (t *Toasts) ClearConnection() {
	if t.persistent != nil && t.persistent.Connection {
		t.persistent = nil
	}
}

// Dismiss removes the visible error and reports whether there was one.
func (t *Toasts) Dismiss() bool {
	dismissed := t.Transient == nil && t.persistent != nil
	if dismissed {
		t.persistent = nil
	}
	return dismissed
}
