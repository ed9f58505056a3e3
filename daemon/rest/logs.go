package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// The members of a query of the request log, in addition to those of every query.
const (
	memberDate       = "Date"       // one UTC day
	memberViewErrors = "ViewErrors" // failed requests only
	memberWithoutOwn = "WithoutOwn" // no requests of the caller's program
)

// logQuery is the operation of the routes that query the request log.
const logQuery = "QueryRequestLogsGETManyRequest"

// firstError is the lowest status of a failed request.
const firstError = http.StatusBadRequest

// logs has the handlers of the request log.
type logs struct {
	queries  *queries.Handler
	recorder *requestlog.Recorder // nil for none
}

// logView is a query of the request log with the conditions of its path.
type logView struct {
	*logs
	day        func(now time.Time) time.Time // nil: the members determine the day
	failedOnly bool
}

func today(now time.Time) time.Time     { return now }
func yesterday(now time.Time) time.Time { return now.AddDate(0, 0, -1) }

// list answers a query of the request log.
func (h *logs) list(x *edge.Context) error { return logView{logs: h}.serve(x) }

// during returns the handler of a path for the requests of one day.
func (h *logs) during(day func(time.Time) time.Time, failedOnly bool) func(*edge.Context) error {
	return logView{logs: h, day: day, failedOnly: failedOnly}.serve
}

// serve answers the query.
func (v logView) serve(x *edge.Context) error {
	plan, err := v.plan(x, time.Now())
	if err != nil {
		return err
	}
	if v.recorder != nil { // so that finished requests appear in the log
		ctx, cancel := context.WithTimeout(x.Request.Context(), flushTimeout)
		defer cancel()
		v.recorder.Flush(ctx)
	}
	return v.queries.Rows(x, plan)
}

// flushTimeout limits the wait for recently recorded entries.
const flushTimeout = time.Second

// plan plans a query with the members that only the request log has. The path of a day such as today
// names another one after midnight: a cursor of the day before, which has the conditions of its day,
// continues there.
func (v logView) plan(x *edge.Context, now time.Time) (*query.Plan, error) {
	members, err := form.Members(x)
	if err != nil {
		return nil, err
	}
	plan, err := v.planAt(x, members, now)
	if v.day == nil || !errors.Is(err, query.ErrOtherQuery) {
		return plan, err
	}
	continued, dayErr := v.planAt(x, members, now.AddDate(0, 0, -1))
	if dayErr != nil {
		return nil, err
	}
	return continued, nil
}

// planAt plans a query at a time, of which the path may name the day.
func (v logView) planAt(x *edge.Context, members query.Members, now time.Time) (*query.Plan, error) {
	where, err := v.where(x, members, now)
	if err != nil {
		return nil, err
	}
	return v.queries.Plan(x, form.Without(members, memberDate, memberViewErrors, memberWithoutOwn), where...)
}

// where returns the conditions of the path and of the members that only the request log has. Members
// that the path overrides are validated too, and reported.
func (v logView) where(x *edge.Context, members query.Members, now time.Time) ([]query.Condition, error) {
	var wrong []fault.Field
	pathDay := v.pathDay(x, now, &wrong)
	date := form.Or(form.MemberValue(members, memberDate, &wrong, parseDay), nil)
	viewErrors := form.MemberValue(members, memberViewErrors, &wrong, form.Bool)
	withoutOwn := form.Or(form.MemberValue(members, memberWithoutOwn, &wrong, form.Bool), false)
	if err := form.Invalid(wrong); err != nil {
		return nil, err
	}

	var overridden []string
	if pathDay != nil && date != nil && !date.Equal(*pathDay) {
		overridden = append(overridden, memberDate)
	}
	if v.failedOnly && !form.Or(viewErrors, true) {
		overridden = append(overridden, memberViewErrors)
	}
	if err := form.ReportUnused(x, overridden); err != nil {
		return nil, err
	}

	var where []query.Condition
	day := cmp.Or(pathDay, date)
	isLimited := filtersTime(x.Kind, members) || continues(members)
	if day == nil && !isLimited && x.Options.LogToday {
		day = startOf(today(now.UTC()))
	}
	if day != nil {
		where = duringDay(x.Kind, *day)
	}
	if v.failedOnly || form.Or(viewErrors, false) {
		failed := queries.Condition(x.Kind, "StatusCode", record.GreaterThanOrEqualTo, wire.Value{Int: firstError})
		where = append(where, failed)
	}
	if withoutOwn {
		where = append(where, query.Not(ownRequests(x)))
	}
	return where, nil
}

// pathDay returns the start of the day that the path has, nil if it has none.
func (v logView) pathDay(x *edge.Context, now time.Time, wrong *[]fault.Field) *time.Time {
	if v.day != nil {
		return startOf(v.day(now.UTC()))
	}
	day, err := parseDay(x.Params.Get(memberDate))
	if err != nil {
		*wrong = append(*wrong, fault.Field{Name: memberDate, Message: err.Error()})
	}
	return day
}

// startOf returns the start of the day of a time in UTC.
func startOf(t time.Time) *time.Time {
	day := t.Truncate(24 * time.Hour)
	return &day
}

// lastYear is the last year that a condition can have on both engines.
const lastYear = 9999

// duringDay returns the conditions of the requests of a day. The last day has no end: SQL Server
// rejects the start of the next one.
func duringDay(kind *record.Kind, day time.Time) []query.Condition {
	dateTime := func(op record.Operator, bound time.Time) query.Condition {
		return queries.Condition(kind, "DateTime", op, wire.Value{Text: bound.Format(wire.DateLayout)})
	}
	where := []query.Condition{dateTime(record.GreaterThanOrEqualTo, day)}
	end := day.AddDate(0, 0, 1)
	if end.Year() <= lastYear {
		where = append(where, dateTime(record.LessThan, end))
	}
	return where
}

// ownRequests returns the condition of the requests of the caller's program: those of the same user
// or API key in the same session, or without one, and with the same User-Agent.
func ownRequests(x *edge.Context) query.Condition {
	equalTo := func(field, text string) query.Condition {
		if text == "" { // stored as null
			c := queries.Condition(x.Kind, field, record.IsNull, wire.Value{})
			c.Operands = nil
			return c
		}
		return queries.Condition(x.Kind, field, record.Equal, wire.Value{Text: text})
	}
	return query.Condition{Join: query.And, Parts: []query.Condition{
		equalTo("UserAuthId", x.Identity.Name),
		equalTo("SessionId", sessionTag(x)),
		sameAgent(x),
	}}
}

// sameAgent returns the condition of the requests with the same User-Agent, or without one.
func sameAgent(x *edge.Context) query.Condition {
	hasAgent := func(text string) query.Condition {
		return queries.Condition(x.Kind, "Headers", record.Contains, wire.Value{Text: text})
	}
	if agent := requestlog.UserAgent(x.Request); agent != "" {
		return hasAgent(agent)
	}
	return query.Not(hasAgent(requestlog.AnyUserAgent))
}

// filtersTime reports whether the members have a condition on the time of requests.
func filtersTime(kind *record.Kind, members query.Members) bool {
	return slices.ContainsFunc(members, func(m query.Member) bool {
		target, ok := kind.Member(m.Name)
		return ok && !m.Empty && kind.Fields[target.Field].Name == "DateTime"
	})
}

// continues reports whether the members have a cursor of a page before. It has the day of that page.
func continues(members query.Members) bool {
	cursor := members.Text(query.Cursor)
	return cursor != "" && cursor != query.NoCursor
}

// parseDay parses the start of a day. An empty text returns nil.
func parseDay(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	date, err := queries.ParseDate(text)
	if err != nil {
		return nil, err
	}
	day, err := time.Parse(time.DateOnly, date[:len(time.DateOnly)])
	return &day, err
}
