package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// exits is the table of exit codes. The first row that matches an error is used;
// rows without a test match no error.
var exits = []cmdline.Exit{
	{Code: 0, Meaning: "success, even without rows", Is: endsQuietly},
	{Code: 1, Meaning: "any other failure"},
	{Code: 2, Meaning: "usage error: invalid flag, record, field, operator or setting", Is: cmdline.IsUsage},
	{Code: 3, Meaning: "the service is unreachable: name, network or TLS", Is: ofKind(client.Unreachable)},
	{Code: 4, Meaning: "not signed in, or not permitted", Is: ofKind(client.Unauthorized)},
	{Code: 5, Meaning: "not found", Is: ofKind(client.NotFound)},
	{Code: 6, Meaning: "the service rejected the request; see standard error", Is: ofKind(client.Rejected)},
	{Code: 7, Meaning: "partial: the response is incomplete, or not all changes succeeded", Is: is[*partialError](client.Incomplete)},
	{Code: 8, Meaning: "timeout", Is: ofKind(client.TimedOut)},
	{Code: 9, Meaning: "refused: read-only mode, or the change was not confirmed", Is: is[*unconfirmedError](client.ReadOnly)},
	{Code: 10, Meaning: "no rows matched; only with --exit-status", Is: func(err error) bool { return errors.Is(err, errNoRows) }},
	{Code: 130, Meaning: "interrupted", Is: ofKind(client.Cancelled)},
}

func ofKind(kind client.Kind) func(error) bool {
	return func(err error) bool { return client.Is(err, kind) }
}

// endsQuietly reports whether an error is not printed: success, a dry run, and a
// closed pipe, such as to head.
func endsQuietly(err error) bool {
	return err == nil || errors.Is(err, client.ErrNotSent) || brokenPipe(err)
}

// brokenPipe reports whether the reader of standard output has closed it. A
// connection closed by the service has the same code but is a *client.Error. Go does
// not translate the codes of Windows.
func brokenPipe(err error) bool {
	var code syscall.Errno
	if _, isReply := errors.AsType[*client.Error](err); isReply || !errors.As(err, &code) {
		return false
	}
	const windowsBrokenPipe, windowsNoData = 109, 232
	return code == syscall.EPIPE || runtime.GOOS == "windows" && (code == windowsBrokenPipe || code == windowsNoData)
}

// noConnection reports whether an address that was found did not accept a connection.
func noConnection(err error) bool {
	dial, is := errors.AsType[*net.OpError](err)
	_, notFound := errors.AsType[*net.DNSError](err)
	return is && dial.Op == "dial" && !notFound
}

// partialError is returned if a change of many objects failed for some.
type partialError struct{ message string }

func (e *partialError) Error() string { return e.message }

// unconfirmedError is returned if a change was not confirmed.
type unconfirmedError struct{ message string }

func (e *unconfirmedError) Error() string { return e.message }

// is reports whether an error is of a type, or one of the client's of a kind.
func is[E error](kind client.Kind) func(error) bool {
	return func(err error) bool {
		_, is := errors.AsType[E](err)
		return is || client.Is(err, kind)
	}
}

// errNoRows is the result of --exit-status if no row matches.
var errNoRows = errors.New("no rows")

// interruption is returned if the user interrupts a stream. rows is negative if the
// number of received rows is unknown.
type interruption struct{ rows int64 }

func (e interruption) Error() string {
	if e.rows <= 0 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted after %s", display.Count(e.rows, "row", "rows"))
}

// Unwrap makes errors.Is find context.Canceled.
func (interruption) Unwrap() error { return context.Canceled }

// report writes an error to standard error: one line, then a line for each invalid
// field and for hints.
func report(stderr io.Writer, err error, howToSignIn func() string) {
	if endsQuietly(err) || errors.Is(err, errNoRows) {
		return
	}
	var lines []string
	if reply, is := errors.AsType[*client.Error](err); is {
		for _, f := range reply.Fields {
			if reply.Message != f.FieldName+" "+f.Message {
				lines = append(lines, f.FieldName+": "+f.Message)
			}
			if strings.Contains(f.Message, "GET /Webhooks/Events") {
				lines = append(lines, "list the events: whctl events list")
			}
		}
		if reply.RetryAfter > 0 {
			lines = append(lines, fmt.Sprintf("retry in %s", reply.RetryAfter))
		}
		if reply.Kind == client.Unauthorized && reply.Status == 401 {
			lines = append(lines, howToSignIn())
		}
		if reply.Kind == client.Unreachable && noConnection(reply.Err) {
			lines = append(lines, "is the service running at this address? whctl doctor checks the connection")
		}
		if reply.Kind == client.TimedOut && reply.Status == 0 {
			lines = append(lines, "use --timeout to wait longer")
		}
		if reply.RequestID != "" {
			lines = append(lines, "request id "+reply.RequestID)
		}
	}
	cmdline.PrintError(stderr, "whctl", err, lines...)
}
