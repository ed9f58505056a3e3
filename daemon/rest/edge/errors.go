package edge

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// failures maps fault kinds to HTTP status and ErrorCode: contract.md section 6.
var failures = [...]struct {
	status int
	code   string
}{
	fault.Internal:     {http.StatusInternalServerError, "InternalError"},
	fault.Invalid:      {http.StatusBadRequest, "ArgumentException"},
	fault.Malformed:    {http.StatusBadRequest, "SerializationException"},
	fault.Missing:      {http.StatusBadRequest, "NotEmpty"},
	fault.Unauthorized: {http.StatusUnauthorized, "Unauthorized"},
	fault.Forbidden:    {http.StatusForbidden, "Forbidden"},
	fault.NotFound:     {http.StatusNotFound, "NotFound"},
	fault.BadMethod:    {http.StatusMethodNotAllowed, "MethodNotAllowed"},
	fault.Conflict:     {http.StatusConflict, "Conflict"},
	fault.TooLarge:     {http.StatusRequestEntityTooLarge, "RequestTooLarge"},
	fault.HeadTooLarge: {http.StatusRequestHeaderFieldsTooLarge, "RequestTooLarge"},
	fault.Unsupported:  {http.StatusUnsupportedMediaType, "UnsupportedMediaType"},
	fault.TooMany:      {http.StatusTooManyRequests, "TooManyRequests"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "ServiceUnavailable"},
	fault.Timeout:      {http.StatusGatewayTimeout, "Timeout"},
	fault.SlowBody:     {http.StatusRequestTimeout, "RequestTimeout"},
	fault.Misdirected:  {http.StatusMisdirectedRequest, "MisdirectedRequest"},
	fault.TokenExpired: {http.StatusUnauthorized, "TokenExpired"},
	fault.Gone:         {http.StatusGone, "ResyncRequired"},
	fault.Stopped:      {http.StatusServiceUnavailable, wire.CaptureStopped},

	fault.NotImplemented: {http.StatusNotImplemented, "NotImplemented"},
}

// The challenges. Many programs, such as wget and those in Python, PHP and VBA, send a
// password only after basicChallenge. Browsers never get it: they would prompt for the
// password and remember it.
const (
	challenge      = `credentials realm="/auth/credentials"`
	basicChallenge = `Basic realm="whd"`
)

// browserHeaders are sent by browsers and rarely by programs. Over plain HTTP browsers
// send no Sec-Fetch headers.
var browserHeaders = []string{
	"X-Requested-With", "Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode",
	"Sec-Fetch-Dest", "Sec-Fetch-User",
}

// programAgents are parts of the User-Agent of programs that otherwise resemble browsers:
// PowerShell, and WinHTTP and MSXML as used by VBA.
var programAgents = []string{"PowerShell/", "(compatible;"}

// fromBrowser reports whether a browser may have sent the request, also for a script or
// an image of a page.
func fromBrowser(r *http.Request) bool {
	sent := func(name string) bool { return r.Header.Get(name) != "" }
	agent := r.UserAgent()
	inAgent := func(part string) bool { return strings.Contains(agent, part) }
	isBrowser := strings.HasPrefix(agent, "Mozilla/") && !slices.ContainsFunc(programAgents, inAgent)
	return isBrowser || slices.ContainsFunc(browserHeaders, sent) || acceptsHTML(r)
}

// acceptsHTML reports whether Accept names text/html, as that of a browser does for a page.
func acceptsHTML(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/html")
}

// ClearResponse removes the headers of a response that was replaced by an error.
func ClearResponse(h http.Header) {
	for _, name := range []string{
		"Trailer", "Content-Disposition", "Content-Length",
		wire.HeaderRowCount, wire.HeaderDigest, wire.HeaderOffset, wire.HeaderTotal, wire.HeaderNextToken,
	} {
		h.Del(name)
	}
}

// Fail sends an error response. stack is empty if the client may not see it.
func (x *Context) Fail(f *fault.Error, stack string) {
	h := x.Response.Header()
	ClearResponse(h)
	if !x.hasFormatForFailures() {
		x.Format.Format = JSONFormat()
	}
	h.Set("Content-Type", x.Format.ContentType)
	h.Add("Link", "<"+x.Base+encode.ErrorsPath+"#"+failures[f.Kind].code+`>; rel="help"`)
	if StatusOf(f) == http.StatusUnauthorized {
		h["Www-Authenticate"] = x.challenges()
	}
	if f.Kind == fault.TooMany || StatusOf(f) == http.StatusServiceUnavailable {
		h.Set("Retry-After", RetryAfter(f.RetryAfter))
	}

	status := x.LogFailure(f)
	if completed := h.Get(wire.HeaderListCompleted); completed != "" {
		status.Meta["AutoBatchIndex"] = completed
	}
	status.StackTrace = stack
	body := x.encodeFailure(status)
	err := x.Write(StatusOf(f), body)
	hasSentNothing := err != nil && x.Response.Status == 0
	if hasSentNothing && len(body) > replyFree {
		x.failShort(fault.From(err))
	}
}

// FailOnPage makes the error of a download a page, if a browser follows a link to it. If the rows do
// not fit into a workbook, the page offers them as CSV, which has no limit.
func (x *Context) FailOnPage(err error) {
	isDownload := x.Format.Binary && x.Request.Method == http.MethodGet && acceptsHTML(x.Request)
	if !isDownload {
		return
	}
	page, _ := encode.ByName("html")
	x.Format.Format = page
	if errors.Is(err, encode.ErrWorkbook) {
		x.instead = encode.Link{Name: "Export as CSV", URL: csvURL(x)}
	}
}

// csvURL returns the address of the requested rows as CSV. It leaves out the total, with which
// pages link to a workbook: it is counted for the limit.
func csvURL(x *Context) string {
	u := WithoutPairs(x.Request.URL, func(pair string) bool {
		text, _ := url.QueryUnescape(pair) // invalid escapes were rejected before
		name, value, _ := strings.Cut(text, "=")
		isTotal := query.SameName(name, query.Include) && strings.EqualFold(value, "Total")
		return isTotal || query.SameName(name, query.Format)
	})
	u = withoutCredentials(&u)
	pairs := strings.Trim(u.RawQuery+"&"+query.Format+"=csv", "&")
	return PathWithoutSuffix(x) + "?" + pairs
}

// hasFormatForFailures reports whether the client can read errors in the format of the response. A
// client that accepts CSV, for the rows, and JSON expects errors in JSON.
func (x *Context) hasFormatForFailures() bool {
	if x.Format.Binary {
		return false
	}
	if x.Format.Name != "csv" {
		return true
	}
	accept := strings.ToLower(strings.Join(x.Request.Header.Values("Accept"), ","))
	takesBoth := strings.Contains(accept, "text/csv") && strings.Contains(accept, "application/json")
	return !takesBoth
}

// challenges returns the values of WWW-Authenticate.
func (x *Context) challenges() []string {
	if x.Route != nil && x.Route.Exact() {
		return []string{basicChallenge} // the programs of feeds, such as Excel, resemble browsers
	}
	if fromBrowser(x.Request) {
		return []string{challenge}
	}
	return []string{challenge, basicChallenge}
}

// encodeFailure returns the body of an error response.
func (x *Context) encodeFailure(status wire.ResponseStatus) []byte {
	var shape *encode.Shape
	if x.Kind != nil {
		shape = &encode.Shape{Operation: x.Kind.Operation(), Record: x.Kind.Name}
	}
	body := x.Format.Open(x.Response.Header(), nil)
	body = x.Output().Failure(body, status, shape)
	return x.Format.Close(body)
}

// failShort sends an error without texts from the request. It is so short that it needs no memory
// of the budget for responses.
func (x *Context) failShort(f *fault.Error) {
	h := x.Response.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Retry-After", RetryAfter(f.RetryAfter))
	x.Coding = nil
	_ = x.Write(StatusOf(f), []byte(f.Message+"\n")) // the client may be gone
}

// LogFailure returns the description of an error for a response, and adds it to the request
// log.
func (x *Context) LogFailure(f *fault.Error) wire.ResponseStatus {
	code := failures[f.Kind].code
	status := wire.ResponseStatus{
		ErrorCode: code,
		Message:   f.Message,
		Meta:      map[string]string{"RequestId": x.ID},
	}
	for _, field := range f.Fields {
		status.Errors = append(status.Errors, wire.FieldError{
			ErrorCode: code,
			FieldName: field.Name,
			Message:   field.Message,
		})
	}
	x.Logged.Failure = new(status)
	return status
}

// StatusOf returns the HTTP status of a failure.
func StatusOf(f *fault.Error) int { return failures[f.Kind].status }

// RetryAfter returns the value of the header in whole seconds, at least one.
func RetryAfter(d time.Duration) string {
	return strconv.FormatInt(max(1, int64(math.Ceil(d.Seconds()))), 10)
}

// maxCleaned is the maximum length of part of a request in a header or a message.
const maxCleaned = 500

// Clean returns part of a request as text for a header or a message: printable
// ASCII, on one line, of limited length.
func Clean(text string) string {
	safe := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(safe) > maxCleaned {
		safe = safe[:maxCleaned] + "..."
	}
	return safe
}
