// Package fault defines the daemon's errors. An error has a kind, which determines the
// HTTP status, and a message for the client. The error that it wraps is for the log
// only and is never sent to a client.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the category of a failure. Package rest maps kinds to HTTP statuses.
type Kind uint8

// The kinds. The zero value is Internal: the text of an unexpected error is not sent to
// clients.
const (
	Internal       Kind = iota
	Invalid             // a member cannot be read, wrong arity, unknown order field, bad page
	Malformed           // the body cannot be read
	Missing             // a required member is missing
	Unauthorized        // not signed in
	Forbidden           // signed in, role too low
	NotFound            // no such record or operation
	BadMethod           // known path, wrong method
	Conflict            // duplicate name, stale RowHash
	TooLarge            // body too large
	HeadTooLarge        // URL or headers too large
	Unsupported         // a content type that cannot be read
	TooMany             // rate (rest/edge) or login attempts (account) exceeded
	Unavailable         // store unreachable, overloaded, shutting down
	Timeout             // statement over its time limit
	SlowBody            // body too slow
	Misdirected         // Host not allowed
	TokenExpired        // an API key that has expired or was revoked
	Gone                // a position in changes that cannot be continued from
	NotImplemented      // a part of OData that is not supported
	Stopped             // the capture of a kind's changes has stopped; an administrator may have to resume it
)

// Field is the problem with one member of a request.
type Field struct {
	Name    string
	Message string
}

// Error is a failure. Message and Fields are sent to the client and contain no SQL,
// paths or secrets; Err is for the log.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []Field
	RetryAfter time.Duration // delay of TooMany, Unavailable and Stopped
	Err        error
}

// Error returns the text for the log.
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

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// New returns a failure with a message for the client.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// NoSuch returns the failure for an ID of nothing, such as a message.
func NoSuch(thing string) *Error { return New(NotFound, "There is no such %s", thing) }

// Wrap returns a failure caused by err, which is for the log only.
func Wrap(err error, kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// Join returns one failure with the fields of all that are about members, so that a client can correct
// all at once. A failure of another kind, the first one, is returned alone. It returns nil for none.
func Join(errs ...error) error {
	var first error
	var fields []Field
	isInvalid := false
	for _, err := range errs {
		if err == nil {
			continue
		}
		f := From(err)
		isAboutMembers := len(f.Fields) > 0 && (f.Kind == Invalid || f.Kind == Missing)
		if !isAboutMembers {
			return err
		}
		if first == nil {
			first = err
		}
		isInvalid = isInvalid || f.Kind == Invalid
		fields = append(fields, f.Fields...)
	}
	if first == nil || len(fields) == len(From(first).Fields) {
		return first
	}
	if !isInvalid {
		return &Error{Kind: Missing, Message: MissingMembers, Fields: fields}
	}
	return &Error{Kind: Invalid, Message: InvalidMembers, Fields: fields}
}

// The messages of failures about several members.
const (
	InvalidMembers = "The request has invalid members"
	MissingMembers = "The request lacks required members"
)

// From returns the *Error that err wraps. Other errors become Internal.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Message: "internal error", Err: err}
}

// Is reports whether err is a failure of the kind.
func Is(err error, kind Kind) bool { return err != nil && From(err).Kind == kind }
