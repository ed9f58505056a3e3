package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
)

// exits is the table of exit codes. The first row that matches an error is used;
// rows without a test match no error.
var exits = []cmdline.Exit{
	{Code: 0, Meaning: "success, even without rows", Is: command.EndsQuietly},
	{Code: 1, Meaning: "any other failure"},
	{Code: 2, Meaning: "usage error: invalid flag, record, field, operator or setting", Is: cmdline.IsUsage},
	{Code: 3, Meaning: "the service is unreachable: name, network or TLS", Is: ofKind(client.Unreachable)},
	{Code: 4, Meaning: "not signed in, or not permitted", Is: ofKind(client.Unauthorized)},
	{Code: 5, Meaning: "not found", Is: ofKind(client.NotFound)},
	{
		Code:    6,
		Meaning: "the service rejected the request; see standard error",
		Is:      ofKind(client.Rejected, client.ResyncRequired),
	},
	{
		Code:    7,
		Meaning: "partial: the response is incomplete, or not all changes succeeded",
		Is:      ofType[*command.PartialError](client.Incomplete),
	},
	{Code: 8, Meaning: "timeout", Is: ofKind(client.TimedOut)},
	{
		Code:    9,
		Meaning: "refused: read-only mode, or the change was not confirmed",
		Is:      ofType[*command.UnconfirmedError](client.ReadOnly),
	},
	{
		Code:    10,
		Meaning: "no rows matched; only with --exit-status",
		Is:      func(err error) bool { return errors.Is(err, command.ErrNoRows) },
	},
	{Code: 130, Meaning: "interrupted", Is: ofKind(client.Cancelled)},
}

// ofKind returns a test for errors of the client of some kinds.
func ofKind(kinds ...client.Kind) func(error) bool {
	return func(err error) bool { return err != nil && slices.Contains(kinds, client.KindOf(err)) }
}

// noConnection reports whether a host did not accept a connection, although its name was resolved.
func noConnection(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	_, isUnresolved := errors.AsType[*net.DNSError](err)
	return ok && operation.Op == "dial" && !isUnresolved
}

// ofType returns a test for errors of a type, and for those of the client of a kind.
func ofType[E error](kind client.Kind) func(error) bool {
	return func(err error) bool {
		_, ok := errors.AsType[E](err)
		return ok || client.Is(err, kind)
	}
}

// report writes an error to standard error: one line, then a line for each invalid
// field and for hints.
func report(stderr io.Writer, err error, howToSignIn func() string) {
	if command.EndsQuietly(err) || errors.Is(err, command.ErrNoRows) {
		return
	}
	var lines []string
	if e, ok := errors.AsType[*client.Error](err); ok {
		lines = detailsOf(e, howToSignIn)
	}
	cmdline.PrintError(stderr, "whctl", err, lines...)
}

// detailsOf returns the lines with the invalid fields and the hints for an error.
func detailsOf(e *client.Error, howToSignIn func() string) []string {
	lines := fieldLines(e)
	if e.RetryAfter > 0 {
		lines = append(lines, fmt.Sprintf("retry in %s", e.RetryAfter))
	}
	if e.Kind == client.Unauthorized && e.Status == http.StatusUnauthorized {
		lines = append(lines, howToSignIn())
	}
	if e.Kind == client.Unreachable {
		lines = append(lines, unreachableHints(e)...)
	}
	if e.Status == http.StatusProxyAuthRequired {
		lines = append(lines, proxyHint)
	}
	if e.Kind == client.TimedOut && e.Status == 0 {
		lines = append(lines, "use --timeout to wait longer")
	}
	if e.RequestID != "" {
		lines = append(lines, "request id "+e.RequestID)
	}
	return lines
}

// fieldLines returns a line for each invalid field, except one that is the whole error.
func fieldLines(e *client.Error) []string {
	var lines []string
	for _, f := range e.Fields {
		if e.Message != f.FieldName+" "+f.Message {
			lines = append(lines, f.FieldName+": "+f.Message)
		}
		if strings.Contains(f.Message, "GET /Webhooks/Events") {
			lines = append(lines, "list the events: whctl events list")
		}
	}
	return lines
}

// proxyHint is the hint for a proxy that requires credentials.
const proxyHint = "this response comes from the proxy in HTTPS_PROXY or HTTP_PROXY; " +
	"whctl doctor shows which variable is set"

// unreachableHints returns hints for a service that cannot be reached.
func unreachableHints(e *client.Error) []string {
	if e.Err == nil {
		return nil
	}
	var hints []string
	if noConnection(e.Err) {
		hints = append(hints,
			"is the service running at this address? whctl doctor checks the connection",
			"start a local one with whd serve, or set another address with --url, WHCTL_URL "+
				"or whctl profile create NAME --url URL")
	}
	if strings.Contains(e.Err.Error(), http.StatusText(http.StatusProxyAuthRequired)) {
		hints = append(hints, proxyHint)
	}
	if strings.Contains(e.Err.Error(), "HTTP response to HTTPS client") {
		_, address, _ := strings.Cut(e.Message, "https://")
		address, _, _ = strings.Cut(address, ": ")
		hints = append(hints,
			"the service at this address uses HTTP without TLS: use --url http://"+address)
	}
	return hints
}
