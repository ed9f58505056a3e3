package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// observer reports finished requests: to metrics, traces, both logs, and the live
// stream of requests.
type observer struct {
	metrics  *metrics.Metrics
	log      *slog.Logger
	requests *requestlog.Recorder // nil for none
	streams  *live.Hub
	trace    func(ctx context.Context, part string, from, to time.Time) // nil for none
}

// finished reports a finished request.
func (o *observer) finished(x *edge.Context) {
	operation := "unknown"
	if x.Route != nil {
		operation = x.Route.Operation
	}
	duration := time.Since(x.Timing.Start)
	o.metrics.Observe(operation, x.Response.FinalStatus(), duration, x.Response.Bytes, x.Response.Aborted)
	if x.Logged.Ignored != "" {
		// The metrics are public: they name no kinds that require a role.
		if x.Kind != nil && account.RoleOf(x.Kind).Allows(account.NoRole) {
			operation = x.Kind.Operation()
		}
		o.metrics.Ignored(operation, x.Identity.Name)
	}
	o.tracePhases(x)
	o.logRequest(x)
	o.broadcastRequest(x)
	o.logAccess(x)
}

// tracePhases records the phases of a query: reading it, waiting for the first row,
// and sending the rows.
func (o *observer) tracePhases(x *edge.Context) {
	if o.trace == nil || x.Timing.Parsed.IsZero() {
		return
	}
	ctx := x.Request.Context()
	o.trace(ctx, "read the query", x.Timing.Start, x.Timing.Parsed)
	if !x.Timing.FirstRow.IsZero() {
		o.trace(ctx, "wait for the first row", x.Timing.Parsed, x.Timing.FirstRow)
		o.trace(ctx, "send the rows", x.Timing.FirstRow, time.Now())
	}
}

// isUnlogged reports whether a request is so frequent that it is not logged, such as a health check.
func isUnlogged(x *edge.Context) bool { return x.Route != nil && x.Route.Always }

// logRequest adds an entry to the request log, which is written asynchronously.
func (o *observer) logRequest(x *edge.Context) {
	if o.requests == nil || isUnlogged(x) {
		return
	}
	now := time.Now()
	d := requestlog.NewEntryBuilder()
	d.At = now
	d.Status = x.Response.FinalStatus()
	d.Duration = now.Sub(x.Timing.Start)
	d.Texts[requestlog.HTTPMethod] = x.Request.Method
	d.Texts[requestlog.UserAuthID] = x.Identity.Name
	d.Texts[requestlog.SessionID] = sessionTag(x)
	d.Texts[requestlog.IPAddress] = x.Origin.Address
	d.Texts[requestlog.ForwardedFor] = strings.Join(x.Request.Header["X-Forwarded-For"], ", ")
	d.Texts[requestlog.Referer] = requestlog.MaskURL(x.Request.Header.Get("Referer"))
	d.Headers(x.Request)
	describeAddress(x, d)
	describeMembers(x, d)
	describeOutcome(x, d)
	if x.Options.LogBodies {
		describeBodies(x, d)
	}
	o.requests.Record(d)
}

// describeAddress records the URL of a request.
func describeAddress(x *edge.Context, d *requestlog.EntryBuilder) {
	scheme := "http://"
	if x.Origin.Secure {
		scheme = "https://"
	}
	path, query := edge.LoggedURL(x)
	mark := ""
	if query != "" {
		mark = "?"
	}
	d.Texts[requestlog.PathInfo] = path
	d.SetText(requestlog.AbsoluteURI, scheme, x.Origin.Host, path, mark, query)
}

// sessionTag identifies a session in logs: the start of its stored hash.
func sessionTag(x *edge.Context) string {
	switch x.Identity.AuthMethod {
	case account.Header:
		return account.SessionTag(accounts.Credentials(x).SessionHeader)
	case account.Cookie:
		return account.SessionTag(accounts.Credentials(x).SessionCookie)
	}
	return ""
}

// describeMembers records the members of the URL, and those of a form body, which are
// texts.
func describeMembers(x *edge.Context, d *requestlog.EntryBuilder) {
	if x.Route == nil || x.Route.Redacted {
		return
	}
	o := d.Object(requestlog.RequestDto)
	for _, m := range x.Members {
		o.AddMember(x.Request.URL.Path, m.Name, m.Texts...)
	}
	o.Close()

	contentType := strings.ToLower(x.Request.Header.Get("Content-Type"))
	isForm := strings.HasPrefix(contentType, "application/x-www-form-urlencoded") ||
		strings.HasPrefix(contentType, "multipart/form-data")
	if !isForm {
		return
	}
	o = d.Object(requestlog.FormData)
	for _, m := range x.Logged.InBody {
		isJSON := m.Raw != "" && !m.Empty
		if !isJSON {
			o.AddMember(x.Request.URL.Path, m.Name, strings.Join(m.Texts, ","))
		}
	}
	o.Close()
}

// describeOutcome records the response, without its body.
func describeOutcome(x *edge.Context, d *requestlog.EntryBuilder) {
	d.Texts[requestlog.StatusDescription] = http.StatusText(d.Status)
	if d.Status == edge.StatusGone {
		d.Texts[requestlog.StatusDescription] = "Client Closed Request"
	}
	items := d.Object(requestlog.Items)
	items.Set("RequestId", x.ID)
	if x.Response.Aborted {
		items.Set("Aborted", "after "+strconv.FormatInt(x.Response.Bytes, 10)+" bytes")
	}
	if x.Logged.Ignored != "" {
		items.Add("IgnoredMembers", x.Logged.Ignored)
	}
	items.Close()
	if x.Logged.Failure == nil {
		return
	}
	d.Texts[requestlog.ErrorResponse] = failureText(*x.Logged.Failure)
	if d.Status >= http.StatusInternalServerError {
		d.Texts[requestlog.ExceptionSource] = x.Logged.Failure.ErrorCode
		d.CopyText(requestlog.ExceptionData, requestlog.Items)
	}
}

// maxFailure is the maximum length of an error response in the request log, in bytes.
const maxFailure = 4 << 10

// failureText returns an error response for the request log, without the stack
// trace, and without invalid input that may contain a secret.
func failureText(s wire.ResponseStatus) string {
	s.StackTrace = ""
	quotesSecret := strings.Contains(s.Message, "=") && requestlog.IsSensitive(s.Message)
	if quotesSecret || requestlog.HoldsKey(s.Message) {
		s.Message = "***"
	}
	holdsKey := func(e wire.FieldError) bool { return requestlog.HoldsKey(e.FieldName + " " + e.Message) }
	if slices.ContainsFunc(s.Errors, holdsKey) {
		s.Errors = nil
	}

	text := failureJSON(s)
	if len(text) > maxFailure {
		s.Errors = nil
		text = failureJSON(s)
	}
	if len(text) > maxFailure {
		return ""
	}
	return text
}

// failureJSON returns a failure as in a response, empty if JSON cannot express it.
func failureJSON(s wire.ResponseStatus) string {
	text, err := json.Marshal(wire.Failure{ResponseStatus: s})
	if err != nil {
		return ""
	}
	return string(text)
}

// describeBodies records bodies if requestlog.bodies is set, except bodies that may
// contain secrets.
func describeBodies(x *edge.Context, d *requestlog.EntryBuilder) {
	if x.Route == nil || x.Route.Redacted {
		return
	}
	d.Texts[requestlog.RequestBody] = loggedBody(x.Body)
	d.Texts[requestlog.ResponseDto] = loggedBody(x.Logged.Body)
	if x.Identity.Name != "" {
		session := d.Object(requestlog.Session)
		session.Set("Name", x.Identity.Name)
		session.Set("Role", x.Identity.Role.String())
		session.Close()
	}
}

// loggedBody returns a body for the request log, masked if it may contain a secret.
func loggedBody(body []byte) string {
	text := requestlog.BodyText(body)
	// An escaped letter could hide the name of a secret.
	if requestlog.IsSensitive(text) || strings.Contains(text, `\u00`) {
		return "***"
	}
	return text
}

// logAccess logs one line for each request. Health checks are logged at debug level.
func (o *observer) logAccess(x *edge.Context) {
	level := slog.LevelInfo
	if isUnlogged(x) {
		level = slog.LevelDebug
	}
	ctx := x.Request.Context()
	if !x.Options.LogLines || !o.log.Enabled(ctx, level) {
		return
	}
	path, query := edge.LoggedURL(x)
	o.log.LogAttrs(ctx, level, "request",
		slog.String("id", x.ID),
		slog.String("method", x.Request.Method),
		slog.String("path", edge.Truncate(path)),
		slog.String("query", edge.Truncate(query)),
		slog.Int("status", x.Response.FinalStatus()),
		slog.Int64("bytes", x.Response.Bytes),
		slog.Bool("aborted", x.Response.Aborted),
		slog.Float64("ms", float64(time.Since(x.Timing.Start).Microseconds())/1000),
		slog.String("user", x.Identity.Name),
		slog.String("address", x.Origin.Address))
}

// broadcastRequest sends a finished request to the readers of its topic.
func (o *observer) broadcastRequest(x *edge.Context) {
	if !o.streams.Wanted(live.Requests) || isUnlogged(x) {
		return
	}
	now := time.Now()
	o.streams.Broadcast(live.Requests, wire.EventRequest, wire.HandledRequest{
		At:                   wire.Timestamp(now),
		Method:               edge.Clean(x.Request.Method),
		PathInfo:             edge.LogPath(x),
		StatusCode:           x.Response.FinalStatus(),
		DurationMilliseconds: float64(now.Sub(x.Timing.Start).Microseconds()) / 1000,
		UserName:             x.Identity.Name,
		RequestID:            x.ID,
	})
}

// publicError returns the error as the client may see it. The log has the details of
// internal errors, with the request's id.
func publicError(x *edge.Context, err error) *fault.Error {
	f := fault.From(err)
	switch f.Kind {
	case fault.Internal:
		x.Log.Error("internal error", "id", x.ID, "method", x.Request.Method, "path", edge.LogPath(x),
			"error", err.Error())
		return &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case fault.Unavailable, fault.Timeout:
		x.Log.Warn("request failed", "id", x.ID, "path", edge.LogPath(x), "error", err.Error())
	}
	return f
}
