package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
)

// exits is the only table of exit codes. The first row whose test is true of
// an error decides; rows without a test belong to no error yet.
var exits = [...]struct {
	code    int
	meaning string
	is      func(error) bool
}{
	{0, "success; no rows is success too", endsQuietly},
	{1, "any other failure", nil},
	{2, "usage: a flag, record, field, operator or setting is wrong", isUsage},
	{3, "cannot reach the service: name, network or TLS", ofKind(client.Unreachable)},
	{4, "authentication needed or refused", ofKind(client.Unauthorized)},
	{5, "not found", ofKind(client.NotFound)},
	{6, "the service rejected the request; its code and fields are on standard error", ofKind(client.Rejected)},
	{7, "partial: the reply broke off, or not all was done", isPartial},
	{8, "time-out", ofKind(client.TimedOut)},
	{9, "refused by read-only mode or for want of a confirmation", isRefused},
	{10, "no rows matched; only with --exit-status", func(err error) bool { return errors.Is(err, errNoRows) }},
	{130, "interrupted", ofKind(client.Cancelled)},
}

const exitFailure = 1

// exitCode is the code of how the program ends.
func exitCode(err error) int {
	for _, e := range exits {
		if e.is != nil && e.is(err) {
			return e.code
		}
	}
	return exitFailure
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

// usageError is a mistake in the command line, the environment or the
// configuration.
type usageError struct {
	message string
	command string // whose help has more, which dispatch knows; empty for the program's
}

func usagef(format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

func (e *usageError) Error() string { return e.message }

// isUsage is the test of its row.
func isUsage(err error) bool {
	var e *usageError
	return errors.As(err, &e)
}

// partialError is a change of many things that did not succeed for all.
type partialError struct{ message string }

func (e *partialError) Error() string { return e.message }

func isPartial(err error) bool {
	var e *partialError
	return errors.As(err, &e) || client.Is(err, client.Incomplete)
}

// unconfirmedError is a change that nobody has agreed to.
type unconfirmedError struct{ message string }

func (e *unconfirmedError) Error() string { return e.message }

func isRefused(err error) bool {
	var e *unconfirmedError
	return errors.As(err, &e) || client.Is(err, client.ReadOnly)
}

// errNoRows is the outcome of --exit-status where nothing matched.
var errNoRows = errors.New("no rows")

// interruption is a stream that the user stopped.
type interruption struct{ rows int64 }

func (e interruption) Error() string {
	if e.rows == 0 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted after %s", countRows(e.rows))
}

// Unwrap makes an interruption what the table of exit codes looks for.
func (interruption) Unwrap() error { return context.Canceled }

// report writes an error to standard error: one line, and one for each field
// that the service found wrong.
func (p *program) report(err error) {
	if endsQuietly(err) || errors.Is(err, errNoRows) {
		return
	}
	text := []string{err.Error()}
	var usage *usageError
	if errors.As(err, &usage) {
		text[0] += fmt.Sprintf(" (see: whctl %s)", strings.TrimSpace("help "+usage.command))
	}
	var reply *client.Error
	if errors.As(err, &reply) {
		text = append(text, p.details(reply)...)
	}
	for i, line := range text {
		prefix := "whctl: "
		if i > 0 {
			prefix = "  "
		}
		fmt.Fprintln(p.stderr, prefix+display.Sanitize(line))
	}
}

// details are what helps to act on an error of the service.
func (p *program) details(e *client.Error) []string {
	var lines []string
	for _, f := range e.Fields {
		lines = append(lines, f.FieldName+": "+f.Message)
	}
	if e.RetryAfter > 0 {
		lines = append(lines, fmt.Sprintf("try again in %s", e.RetryAfter))
	}
	if e.Kind == client.Unauthorized && e.Status == 401 {
		lines = append(lines, p.howToSignIn())
	}
	if e.Kind == client.TimedOut && e.Status == 0 {
		lines = append(lines, "--timeout gives it longer")
	}
	if e.RequestID != "" {
		lines = append(lines, "request id "+e.RequestID)
	}
	return lines
}

// didYouMean is a suggestion to append to a message.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
