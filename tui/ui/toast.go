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
	Fetch      FetchID
	IsHint     bool // about a key without an effect: the next key clears it
}

// isFetch reports whether a toast is the error of a fetch, which the user has not requested.
func (t *Toast) isFetch() bool { return t.Connection || t.Fetch != FetchID{} }

// Toasts holds the visible message and the error log. A transient message covers a
// persistent error but does not remove it.
type Toasts struct {
	Transient, persistent *Toast
	Errors                []Toast
}

// maxErrors is the size of the error log.
const maxErrors = 200

// Add shows a message; failures are also added to the error log. The error of a fetch hides
// neither the outcome of a change nor the error of an action.
func (t *Toasts) Add(toast Toast) {
	if toast.Level != Failure {
		t.Transient = &toast
		return
	}
	t.Log(toast.Text, toast.At)
	if !toast.isFetch() {
		t.Transient = nil
	} else if t.persistent != nil && !t.persistent.isFetch() {
		return
	}
	t.persistent = &toast
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

// minToastDuration is how long keys leave the outcome of an action visible: it can arrive between
// two keys.
const minToastDuration = time.Second

// ClearOnKey removes a transient message at the next key, which can select something else than the
// message is about: a hint about a key at once, others after they could be read.
func (t *Toasts) ClearOnKey(now time.Time) {
	if t.Transient == nil {
		return
	}
	if t.Transient.IsHint || now.Sub(t.Transient.At) >= minToastDuration {
		t.Transient = nil
	}
}

// Recovered removes the error of a fetch after it has succeeded.
func (t *Toasts) Recovered(fetch FetchID) {
	isRecovered := t.persistent != nil && t.persistent.isFetch() && t.persistent.Fetch == fetch
	if isRecovered {
		t.persistent = nil
	}
}

// ClearClosed removes the error of a fetch for a screen that was closed.
func (t *Toasts) ClearClosed(isOpen func(Screen) bool) {
	if t.persistent == nil || t.persistent.Fetch.Screen == nil {
		return
	}
	if !isOpen(t.persistent.Fetch.Screen) {
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
