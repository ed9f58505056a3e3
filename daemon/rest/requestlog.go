package rest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/prometheus/client_golang/prometheus"
)

// shown is what a log may show of the request's path and query.
func shown(x *exchange) (path, query string) {
	if x.logged.path == "" {
		x.logged.path, x.logged.query = requestlog.MaskPath(x.r.URL.EscapedPath()), requestlog.MaskQuery(x.r.URL.RawQuery)
	}
	return x.logged.path, x.logged.query
}

// logPath is the path as a line of the daemon's own log shows it.
func logPath(x *exchange) string {
	path, _ := shown(x)
	return bounded(path)
}

// logRequest leaves an entry in the request log. Whoever writes it, it is not
// this request.
func (s *Server) logRequest(x *exchange) {
	if s.RequestLog == nil || x.route != nil && x.route.always {
		return
	}
	now := time.Now()
	d := requestlog.NewDraft()
	d.At, d.Status, d.Duration = now, x.w.finalStatus(), now.Sub(x.timing.start)
	d.Texts[requestlog.HTTPMethod] = x.r.Method
	d.Texts[requestlog.UserAuthID] = x.who.Name
	d.Texts[requestlog.SessionID] = sessionMark(x)
	d.Texts[requestlog.IPAddress] = x.origin.address
	d.Texts[requestlog.ForwardedFor] = strings.Join(x.r.Header["X-Forwarded-For"], ", ")
	d.Texts[requestlog.Referer] = requestlog.MaskURL(x.r.Header.Get("Referer"))
	d.Headers(x.r)
	describeAddress(x, d)
	describeMembers(x, d)
	describeOutcome(x, d)
	if x.options.LogBodies {
		describeBodies(x, d)
	}
	s.RequestLog.Record(d)
}

func describeAddress(x *exchange, d *requestlog.Draft) {
	scheme, mark := "http://", ""
	if x.origin.secure {
		scheme = "https://"
	}
	path, query := shown(x)
	if query != "" {
		mark = "?"
	}
	d.Texts[requestlog.PathInfo] = path
	d.Join(requestlog.AbsoluteURI, scheme, x.origin.host, path, mark, query)
}

// sessionMark tells sessions apart: the beginning of the hash that is stored.
func sessionMark(x *exchange) string {
	switch x.who.Via {
	case account.Header:
		return account.SessionMark(credentials(x).SessionHeader)
	case account.Cookie:
		return account.SessionMark(credentials(x).SessionCookie)
	}
	return ""
}

// describeMembers notes what was asked, and once more what a form said.
func describeMembers(x *exchange, d *requestlog.Draft) {
	if x.route == nil || x.route.secretive {
		return
	}
	noteMembers(d, requestlog.RequestDto, x.members)
	if len(x.body) == 0 || !strings.HasPrefix(strings.ToLower(x.r.Header.Get("Content-Type")), "application/x-www-form-urlencoded") {
		return
	}
	if said, err := parseMembers(x.body, "application/x-www-form-urlencoded", ""); err == nil && x.body[0] != '{' {
		noteMembers(d, requestlog.FormData, said)
	}
}

func noteMembers(d *requestlog.Draft, text int, members query.Members) {
	o := d.Object(text)
	for _, m := range members {
		o.Add(m.Name, m.Texts...)
	}
	o.Close()
}

func describeOutcome(x *exchange, d *requestlog.Draft) {
	d.Texts[requestlog.StatusDescription] = http.StatusText(d.Status)
	if d.Status == statusGone {
		d.Texts[requestlog.StatusDescription] = "Client Closed Request"
	}
	items := d.Object(requestlog.Items)
	items.Set("RequestId", x.id)
	if x.w.aborted {
		items.Set("Aborted", "after "+strconv.FormatInt(x.w.bytes, 10)+" bytes")
	}
	items.Close()
	if x.logged.failure == nil {
		return
	}
	d.Texts[requestlog.ErrorResponse] = failureText(*x.logged.failure)
	if d.Status >= http.StatusInternalServerError {
		d.Texts[requestlog.ExceptionSource] = x.logged.failure.ErrorCode
		d.Same(requestlog.ExceptionData, requestlog.Items)
	}
}

// failureText is an error reply as the request log keeps it: without what is
// for the program's authors, and without what a request has put into a place
// where no secret belongs.
func failureText(s wire.ResponseStatus) string {
	const most = 4 << 10
	s.StackTrace = ""
	if strings.Contains(s.Message, "=") && requestlog.SpeaksOfSecret(s.Message) {
		s.Message = "***"
	}
	text, err := json.Marshal(wire.Failure{ResponseStatus: s})
	if err == nil && len(text) > most {
		s.Errors = nil
		text, err = json.Marshal(wire.Failure{ResponseStatus: s})
	}
	if err != nil || len(text) > most {
		return ""
	}
	return string(text)
}

// describeBodies notes what requestlog.bodies asks for, but nothing that speaks
// of a secret.
func describeBodies(x *exchange, d *requestlog.Draft) {
	if x.route == nil || x.route.secretive {
		return
	}
	d.Texts[requestlog.RequestBody] = keptBody(x.body)
	d.Texts[requestlog.ResponseDto] = keptBody(x.logged.answer)
	if x.who.Name != "" {
		session := d.Object(requestlog.Session)
		session.Set("Name", x.who.Name)
		session.Set("Role", x.who.Role.String())
		session.Close()
	}
}

func keptBody(body []byte) string {
	text := requestlog.Plain(body)
	// An escaped letter could hide a word.
	if requestlog.SpeaksOfSecret(text) || strings.Contains(text, `\u00`) {
		return "***"
	}
	return text
}

// watchLog shows in /metrics how the request log keeps up.
func (m *metrics) watchLog(r *requestlog.Recorder) {
	counter := func(name, help string, value func(requestlog.Counts) int64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value(r.Counts())) }))
	}
	counter("whd_requestlog_entries_written_total", "Entries of the request log written.", func(c requestlog.Counts) int64 { return c.Written })
	counter("whd_requestlog_entries_dropped_total", "Entries of the request log dropped.", func(c requestlog.Counts) int64 { return c.Dropped })
	counter("whd_requestlog_write_failures_total", "Attempts to write the request log that failed.", func(c requestlog.Counts) int64 { return c.Failures })
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "whd_requestlog_buffered_entries", Help: "Entries of the request log that wait to be written."},
		func() float64 { return float64(r.Depth().Entries) }))
}
