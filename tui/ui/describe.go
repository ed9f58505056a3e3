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
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Err.Error()
	}
	text := err.Error()
	var e *client.Error
	if !errors.As(err, &e) {
		return text
	}
	if reason := networkReason(e); reason != "" {
		text = strings.Replace(text, e.Error(), reason, 1) // keep the text that wraps it
	}
	for _, f := range e.Fields {
		text += "; " + f.FieldName + ": " + f.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// networkReason returns the action that failed and its network error, "" for other
// errors.
func networkReason(e *client.Error) string {
	action, _, _ := strings.Cut(e.Message, ": ")
	if cause := networkCause(e); cause != "" {
		return action + ": " + cause
	}
	return ""
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
	var e *client.Error
	if errors.As(err, &e) {
		if cause := networkCause(e); cause != "" {
			return cause
		}
	}
	return Describe(err)
}

// SignedOut reports whether the service responded 401.
func SignedOut(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Status == 401
}

// MarkNotSent adds "not sent" to errors of changes that did not reach the service.
func MarkNotSent(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if ok && e.Kind == client.Unreachable && strings.HasPrefix(e.Message, "cannot reach") { // no connection was made
		return fmt.Errorf("not sent: %w", err)
	}
	return err
}
