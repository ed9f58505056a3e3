// Package edge handles the HTTP side of every request: framing, routing,
// negotiation, limits, CORS and CSRF, compression, and writing of responses.
package edge

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
)

// Context is one request with the results of its processing so far.
type Context struct {
	Response *Response
	Request  *http.Request
	ID       string
	Log      *slog.Logger
	Base     string // http.base_path for links: empty, or with a leading slash and no trailing one

	Options *Options // the settings at the start of the request
	HasDocs bool     // the service has its manual, which pages link to

	Call // the resolved request

	Timing   Timing
	Origin   Origin
	Identity account.Identity

	Members     query.Members // members of path, URL and body, after they have been read
	Body        []byte
	site        *encode.Site // of an HTML page; nil until AddSite
	instead     encode.Link  // another way to get the response that failed
	credentials check        // of a request to a route without a login
	memory      bodyMemory
	Logged      Logged
}

// Timing has the times of a request's phases.
type Timing struct {
	Start    time.Time
	Parsed   time.Time // when the request had been read
	FirstRow time.Time // when the store had returned the first row
}

// bodyMemory is the memory reserved for a request's body.
type bodyMemory struct {
	bytes     int64
	anonymous bool // in the share of unauthenticated requests
}

// Logged is the part of a request and its response that logs may contain.
type Logged struct {
	Path, Query string               // without secrets
	Failure     *wire.ResponseStatus // status of an error response
	Body        []byte               // the start of a buffered response, if the request log records it
	MaxBody     int                  // maximum length of Body; 0 for none
	Ignored     string               // names of ignored members, separated by commas
	Unused      []string             // the part of Ignored that has no effect in any operation
	InBody      query.Members        // members of the body; nil until it has been parsed
}

// ReportIgnored names ignored members of the request in a response header and in the
// request log, with those reported before.
func (x *Context) ReportIgnored(names []string) {
	var reported []string
	if x.Logged.Ignored != "" {
		reported = strings.Split(x.Logged.Ignored, ignoredSeparator)
	}
	for _, name := range names {
		if !slices.Contains(reported, name) {
			reported = append(reported, name)
		}
	}
	if len(reported) > 0 {
		x.Logged.Ignored = Clean(strings.Join(reported, ignoredSeparator))
		x.Response.Header().Set(wire.HeaderIgnoredMembers, x.Logged.Ignored)
	}
}

const ignoredSeparator = ", "

// HTML reports whether the response is an HTML page.
func (x *Context) HTML() bool { return x.Format.Name == "html" && x.Format.callback == "" }

// Document sends a single value in the negotiated format.
func (x *Context) Document(status int, name string, v any) error {
	h := x.Response.Header()
	h.Set("Content-Type", x.Format.ContentType)
	body, err := x.Output().Document(x.Format.Open(h, nil), name, v)
	if err != nil {
		if x.Format.Binary || errors.Is(err, encode.ErrTableSize) { // the format has limits
			return fault.Wrap(err, fault.Invalid, "%s", err)
		}
		return err
	}
	return x.Write(status, x.Format.Close(body))
}

// Output returns the format with the options of CSV, or the site of a page.
func (x *Context) Output() encode.Format {
	if x.Format.Name == "csv" {
		return x.Format.WithCSV(x.Format.BOM, x.GuardsFormulas())
	}
	if x.site != nil {
		return x.Format.For(*x.site)
	}
	return x.Format.Format
}

// GuardsFormulas reports whether texts of CSV that look like a formula are changed: if the
// settings require it, unless the client is a program that does not evaluate them.
func (x *Context) GuardsFormulas() bool {
	return x.Options.FormulaGuard && x.Request.Header.Get(wire.HeaderFormulaGuard) != "false"
}

// Write sends a complete body.
func (x *Context) Write(status int, body []byte) error { return x.WriteParts(status, body) }

// WriteParts sends a complete body of several parts.
func (x *Context) WriteParts(status int, parts ...[]byte) error {
	return x.write(status, parts, nil)
}

// WriteShared sends a complete body of two parts. The second one is held elsewhere, such as a
// document that is the same for all requests: it takes no memory of the budget for responses.
func (x *Context) WriteShared(status int, body, shared []byte) error {
	return x.write(status, [][]byte{body}, shared)
}

func (x *Context) write(status int, parts [][]byte, shared []byte) error {
	held := 0
	for _, part := range parts {
		held += len(part)
	}
	size := held + len(shared)
	body := append(slices.Clip(parts), shared)

	sent := body
	coding := x.Coding
	if size < minCompressSize {
		coding = nil
	}
	if coding != nil {
		small, err := coding.whole(body)
		if err != nil {
			return err
		}
		sent = [][]byte{small}
		size = len(small)
		held = size
	}

	release, err := x.Response.Admission.holdReply(x, held)
	if err != nil {
		return err
	}
	defer release()
	if err := x.Response.Admission.pace(x, size); err != nil {
		return err
	}

	x.logBody(body) // now that it will be sent: after an error another body is
	h := x.Response.Header()
	if coding != nil {
		coding.Announce(h)
	}
	h.Set("Content-Length", strconv.Itoa(size))
	x.Response.WriteHeader(status)
	for _, part := range sent {
		if _, err := x.Response.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// logBody adds the start of a body to the request log, if that records bodies.
func (x *Context) logBody(parts [][]byte) {
	for _, part := range parts {
		room := max(0, x.Logged.MaxBody-len(x.Logged.Body))
		x.Logged.Body = append(x.Logged.Body, part[:min(len(part), room)]...)
	}
}

// Respond sends a single value, unless err is not nil.
func (x *Context) Respond(name string, v any, err error) error {
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, name, v)
}

// NoContent sends an empty response, unless err is not nil.
func (x *Context) NoContent(err error) error {
	if err != nil {
		return err
	}
	x.Response.WriteHeader(http.StatusNoContent)
	return nil
}

// Redirect redirects a browser to a path on this host.
func (x *Context) Redirect(status int, to string) error {
	h := x.Response.Header()
	h.Set("Location", to)
	h.Set("Content-Length", "0")
	x.Response.WriteHeader(status)
	return nil
}

// List sends a list as documents, unless err is not nil. Its length is the total unless
// the handler has set another.
func List[T, D any](x *Context, name string, items []T, err error, document func(T) D) error {
	if err != nil {
		return err
	}
	documents := make([]D, len(items))
	for i, item := range items {
		documents[i] = document(item)
	}
	if h := x.Response.Header(); h.Get(wire.HeaderTotal) == "" {
		h.Set(wire.HeaderTotal, strconv.Itoa(len(items)))
	}
	return x.Document(http.StatusOK, name, documents)
}

// Created sends a new resource with its Location, unless err is not nil.
func (x *Context) Created(collection, id, name string, document any, err error) error {
	if err != nil {
		return err
	}
	x.Response.Header().Set("Location", x.Base+collection+"/"+url.PathEscape(id))
	return x.Document(http.StatusCreated, name, document)
}

// SendShared sends a body of two parts of the given type, see WriteShared.
func (x *Context) SendShared(contentType string, body, shared []byte) error {
	x.Response.Header().Set("Content-Type", contentType)
	return x.WriteShared(http.StatusOK, body, shared)
}

// Send sends a body of the given type, unless err is not nil.
func (x *Context) Send(contentType string, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.Response.Header().Set("Content-Type", contentType)
	return x.Write(http.StatusOK, body)
}

// Header returns the Server-Timing header, in milliseconds.
func (t *Timing) Header() string {
	b := make([]byte, 0, 64) // usually enough
	b = append(b, "parse;dur="...)
	b = appendMilliseconds(b, t.Parsed.Sub(t.Start))
	b = append(b, ", db;dur="...)
	b = appendMilliseconds(b, t.FirstRow.Sub(t.Parsed))
	b = append(b, ", first;dur="...)
	b = appendMilliseconds(b, t.FirstRow.Sub(t.Start))
	return string(b)
}

// appendMilliseconds appends a duration with two decimals.
func appendMilliseconds(b []byte, d time.Duration) []byte {
	hundredths := d.Microseconds() / 10
	b = strconv.AppendInt(b, hundredths/100, 10)
	return append(b, '.', byte('0'+hundredths/10%10), byte('0'+hundredths%10))
}

// RequestID returns the X-Request-Id of a proxy if it is safe text, else a new id.
func RequestID(r *http.Request) string {
	const maxLength = 64
	id := r.Header.Get(wire.HeaderRequestID)
	isSafe := id == Clean(id) && !strings.ContainsAny(id, " \"\\")
	if id != "" && len(id) <= maxLength && isSafe {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// LoggedURL returns the request's path and query for logs.
func LoggedURL(x *Context) (path, query string) {
	if x.Logged.Path == "" {
		x.Logged.Path = requestlog.MaskPath(x.Request.URL.EscapedPath())
		x.Logged.Query = requestlog.MaskQuery(x.Request.URL.Path, x.Request.URL.RawQuery)
	}
	return x.Logged.Path, x.Logged.Query
}

// LogPath returns the path as the daemon's own log shows it.
func LogPath(x *Context) string {
	path, _ := LoggedURL(x)
	return Truncate(path)
}

// AbortResponse aborts a response that cannot be completed. It does not return: net/http recovers
// from its panic, and closes the connection.
func AbortResponse(x *Context, err error) {
	level := slog.LevelWarn
	if x.Request.Context().Err() != nil {
		level = slog.LevelInfo // the client disconnected
	}
	x.Log.Log(x.Request.Context(), level, "response aborted", "id", x.ID, "path", LogPath(x), "error", err.Error())
	x.Abort()
	panic(http.ErrAbortHandler)
}
