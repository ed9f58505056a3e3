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

// Describe is an error with what helps to act on it, the reason first: lines are
// short. Whose file it is about, who shows the error says.
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
		text = strings.Replace(text, e.Error(), reason, 1) // what is said before it stays
	}
	for _, f := range e.Fields {
		text += "; " + f.FieldName + ": " + f.Message
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// networkReason is in short why the service cannot be reached, empty where that is
// no matter of its computer or its name.
func networkReason(e *client.Error) string {
	action, _, _ := strings.Cut(e.Message, ": ")
	if cause := networkCause(e); cause != "" {
		return action + ": " + cause
	}
	return ""
}

// networkCause is the same without the address.
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

// Cause is why the service cannot be reached, where the address stands beside it.
func Cause(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		if cause := networkCause(e); cause != "" {
			return cause
		}
	}
	return Describe(err)
}

// SignedOut reports whether an error says that we are not signed in.
func SignedOut(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Status == 401
}

// MarkNotSent says so of a change that has not left this computer.
func MarkNotSent(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if ok && e.Kind == client.Unreachable && strings.HasPrefix(e.Message, "cannot reach") { // there was no connection at all
		return fmt.Errorf("not sent: %w", err)
	}
	return err
}
