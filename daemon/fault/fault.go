// Package fault is how one part of the daemon tells another what went wrong:
// a kind, which decides the HTTP status, and words for the person who asked.
// What a fault wraps is for the log and never leaves the process.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the cause of a failure, one row of the table of answers in package rest.
type Kind uint8

// The kinds. The zero value is Internal, so an error of unknown origin never
// shows its text.
const (
	Internal     Kind = iota
	Invalid           // a member cannot be read, wrong arity, unknown order field, bad page
	Malformed         // the body cannot be read
	Missing           // a required member is missing
	Unauthorized      // not signed in
	Forbidden         // signed in, role too low
	NotFound          // no such record or operation
	BadMethod         // known path, wrong method
	Conflict          // duplicate name, stale RowHash
	TooLarge          // body too large
	HeadTooLarge      // URL or headers too large
	Unsupported       // a content type that cannot be read
	TooMany           // rate or login attempts exceeded
	Unavailable       // store unreachable, overloaded, shutting down
	Timeout           // statement over its time limit
	SlowBody          // body too slow
	Misdirected       // Host not allowed
)

// Field is what is wrong with one member of a request.
type Field struct {
	Name    string
	Message string
}

// Error is a failure. Message and Fields are meant for the person who asked
// and hold neither SQL nor paths nor secrets; Err is for the log.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []Field
	RetryAfter time.Duration // of TooMany and Unavailable
	Err        error
}

// Error is the text for the log.
func (e *Error) Error() string {
	text := e.Message
	for _, f := range e.Fields {
		text += fmt.Sprintf("; %s: %s", f.Name, f.Message)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap is the error underneath.
func (e *Error) Unwrap() error { return e.Err }

// New makes a failure with a message for the person who asked.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a failure that was caused by err, which only the log sees.
func Wrap(err error, kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// From is the failure inside err. An error that holds none is Internal.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Message: "internal error", Err: err}
}

// Is reports whether err is a failure of the kind.
func Is(err error, kind Kind) bool { return err != nil && From(err).Kind == kind }
