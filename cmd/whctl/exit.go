package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// exits is the only table of exit codes. The first row whose test is true of
// an error decides; rows without a test belong to no error yet.
var exits = []cmdline.Exit{
	{Code: 0, Meaning: "success; no rows is success too", Is: endsQuietly},
	{Code: 1, Meaning: "any other failure"},
	{Code: 2, Meaning: "usage: a flag, record, field, operator or setting is wrong", Is: cmdline.IsUsage},
	{Code: 3, Meaning: "cannot reach the service: name, network or TLS", Is: ofKind(client.Unreachable)},
	{Code: 4, Meaning: "authentication needed or refused", Is: ofKind(client.Unauthorized)},
	{Code: 5, Meaning: "not found", Is: ofKind(client.NotFound)},
	{Code: 6, Meaning: "the service rejected the request; its code and fields are on standard error", Is: ofKind(client.Rejected)},
	{Code: 7, Meaning: "partial: the reply broke off, or not all was done", Is: is[*partialError](client.Incomplete)},
	{Code: 8, Meaning: "time-out", Is: ofKind(client.TimedOut)},
	{Code: 9, Meaning: "refused by read-only mode or for want of a confirmation", Is: is[*unconfirmedError](client.ReadOnly)},
	{Code: 10, Meaning: "no rows matched; only with --exit-status", Is: func(err error) bool { return errors.Is(err, errNoRows) }},
	{Code: 130, Meaning: "interrupted", Is: ofKind(client.Cancelled)},
}

func ofKind(kind client.Kind) func(error) bool {
	return func(err error) bool { return client.Is(err, kind) }
}

// endsQuietly is true of success, of a dry run, and of a reader of our output
// that has seen enough, such as head.
func endsQuietly(err error) bool {
	return err == nil || errors.Is(err, client.ErrNotSent) || brokenPipe(err)
}

// brokenPipe is true of our output's pipe, not of a connection that the service
// has closed, which has the same code. It knows the codes of Windows too, which
// Go does not translate.
func brokenPipe(err error) bool {
	var code syscall.Errno
	if _, isReply := errors.AsType[*client.Error](err); isReply || !errors.As(err, &code) {
		return false
	}
	const windowsBrokenPipe, windowsNoData = 109, 232
	return code == syscall.EPIPE || runtime.GOOS == "windows" && (code == windowsBrokenPipe || code == windowsNoData)
}

// partialError is a change of many things that did not succeed for all.
type partialError struct{ message string }

func (e *partialError) Error() string { return e.message }

// unconfirmedError is a change that was not agreed to.
type unconfirmedError struct{ message string }

func (e *unconfirmedError) Error() string { return e.message }

// is reports whether an error is of a type, or one of the client's of a kind.
func is[E error](kind client.Kind) func(error) bool {
	return func(err error) bool {
		_, is := errors.AsType[E](err)
		return is || client.Is(err, kind)
	}
}

// errNoRows is the outcome of --exit-status where nothing matched.
var errNoRows = errors.New("no rows")

// interruption is a stream that the user stopped.
type interruption struct{ rows int64 }

func (e interruption) Error() string {
	if e.rows == 0 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted after %s", display.Count(e.rows, "row", "rows"))
}

// Unwrap makes an interruption what the table of exit codes looks for.
func (interruption) Unwrap() error { return context.Canceled }

// report writes an error to standard error: one line, and one for each field
// that the service found wrong.
func report(stderr io.Writer, err error, howToSignIn func() string) {
	if endsQuietly(err) || errors.Is(err, errNoRows) {
		return
	}
	var lines []string
	if reply, is := errors.AsType[*client.Error](err); is {
		for _, f := range reply.Fields {
			lines = append(lines, f.FieldName+": "+f.Message)
		}
		if reply.RetryAfter > 0 {
			lines = append(lines, fmt.Sprintf("try again in %s", reply.RetryAfter))
		}
		if reply.Kind == client.Unauthorized && reply.Status == 401 {
			lines = append(lines, howToSignIn())
		}
		if reply.Kind == client.TimedOut && reply.Status == 0 {
			lines = append(lines, "--timeout gives it longer")
		}
		if reply.RequestID != "" {
			lines = append(lines, "request id "+reply.RequestID)
		}
	}
	cmdline.PrintError(stderr, "whctl", err, lines...)
}
