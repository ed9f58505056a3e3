package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/bizhook/whd/client"
)

// Describe returns the text of an error, the reason first, with field errors and the
// request ID. File paths are omitted: the caller adds them.
func Describe(err error) string {
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return file.Err.Error()
	}
	text := err.Error()
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return text
	}
	if cause := networkCause(e); cause != "" {
		action, _, _ := strings.Cut(e.Message, ": ")
		text = strings.Replace(text, e.Error(), action+": "+cause, 1) // keep the text that wraps it
	}
	for _, f := range e.Fields {
		text += "; " + f.FieldName + ": " + f.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// networkCause returns the network error, "" for other errors.
func networkCause(e *client.Error) string {
	var system *os.SyscallError
	var name *net.DNSError
	switch {
	case e.Kind != client.Unreachable:
		return ""
	case errors.As(e.Err, &name):
		return name.Err
	case errors.As(e.Err, &system):
		return system.Err.Error()
	}
	return ""
}

// Cause returns the reason of a connection error without the URL, for use next to the
// URL.
func Cause(err error) string {
	if e, ok := errors.AsType[*client.Error](err); ok {
		if cause := networkCause(e); cause != "" {
			return cause
		}
	}
	return Describe(err)
}

// SignedOut reports whether the service responded 401.
func SignedOut(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == 401
}

// MarkNotSent adds "not sent" to errors of changes that did not reach the service.
func MarkNotSent(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if ok && e.Kind == client.Unreachable && strings.HasPrefix(e.Message, "cannot reach") { // no connection was made
		return fmt.Errorf("not sent: %w", err)
	}
	return err
}
