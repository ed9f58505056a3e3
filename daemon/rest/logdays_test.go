package rest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// TestLogOfADay checks the bounds of a day. SQL Server rejects a bound after the year 9999, with which
// the last day would end.
func TestLogOfADay(t *testing.T) {
	kind, _ := record.System().Lookup("RequestLog")
	for date, want := range map[string][]string{
		"2026-02-28": {"2026-02-28T00:00:00.0000000", "2026-03-01T00:00:00.0000000"},
		"9999-12-30": {"9999-12-30T00:00:00.0000000", "9999-12-31T00:00:00.0000000"},
		"9999-12-31": {"9999-12-31T00:00:00.0000000"},
	} {
		x := &edge.Context{Call: edge.Call{Kind: kind}}
		members := query.Members{{Name: memberDate, Texts: []string{date}}}
		where, err := logView{}.where(x, members, time.Now())
		if err != nil || len(where) != len(want) {
			t.Errorf("%s: got the conditions %v (%v), want %d", date, where, err, len(want))
			continue
		}
		for i, text := range want {
			if got := where[i].Operands[0].Text; got != text {
				t.Errorf("%s: bound %d is %s, want %s", date, i, got, text)
			}
		}
	}
}

// places is a store that only sets the places of requests with a cursor.
type places struct{ queries.Store }

func (places) SetPlace(_ context.Context, r *query.Request, path []query.Condition) error {
	cursors := query.NewCursors([32]byte{})
	if *r.Cursor != "" {
		return cursors.Continue(r, path)
	}
	return cursors.Start(r, path, []int{r.Kind.KeyField()})
}

// planLog plans a request to a view of the log at a time, with a cursor.
func planLog(t *testing.T, v logView, logToday bool, cursor string, now time.Time) (*query.Plan, error) {
	t.Helper()
	kind, _ := record.System().Lookup("RequestLog")
	members := url.Values{"Cursor": {cursor}, "Take": {"10"}}
	request := httptest.NewRequest(http.MethodGet, "/Logs?"+members.Encode(), nil)
	x := &edge.Context{
		Request:  request,
		Response: &edge.Response{ResponseWriter: httptest.NewRecorder()},
		Options:  &edge.Options{LogToday: logToday},
		Call: edge.Call{
			Kind: kind,
			URLMembers: query.Members{
				{Name: "Cursor", Texts: []string{cursor}, Empty: cursor == ""},
				{Name: "Take", Texts: []string{"10"}},
			},
		},
	}
	v.logs = &logs{queries: &queries.Handler{Store: places{}}}
	return v.plan(x, now)
}

// TestCursorOfDayBefore checks that a cursor of a path such as that of today continues on its day after
// midnight, and is refused for the path of another day.
func TestCursorOfDayBefore(t *testing.T) {
	evening := time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)
	last := []query.Position{{Int: 7}}
	for name, c := range map[string]struct {
		first    logView
		next     logView
		logToday bool
		after    time.Duration // from the first page to the next
		wantDay  string        // of the next page; empty if the cursor is refused
	}{
		"today, the same day":     {first: logView{day: today}, next: logView{day: today}, wantDay: "2026-02-28"},
		"today, after midnight":   {logView{day: today}, logView{day: today}, false, 2 * time.Second, "2026-02-28"},
		"today, two days later":   {logView{day: today}, logView{day: today}, false, 48 * time.Hour, ""},
		"yesterday, after it":     {logView{day: yesterday}, logView{day: yesterday}, false, 2 * time.Second, "2026-02-27"},
		"the day's own name":      {logView{day: today}, logView{day: yesterday}, false, 2 * time.Second, "2026-02-28"},
		"errors of today, too":    {logView{day: today, failedOnly: true}, logView{day: today, failedOnly: true}, false, time.Hour, "2026-02-28"},
		"not from all to errors":  {logView{day: today}, logView{day: today, failedOnly: true}, false, time.Hour, ""},
		"yesterday, not of today": {logView{day: today}, logView{day: yesterday}, false, 0, ""},
		"by default":              {logView{}, logView{}, true, 48 * time.Hour, "2026-02-28"},
	} {
		plan, err := planLog(t, c.first, c.logToday, "", evening)
		if err != nil {
			t.Errorf("%s: the first page: %v", name, err)
			continue
		}
		plan, err = planLog(t, c.next, c.logToday, plan.Place.Next(last), evening.Add(c.after))
		if c.wantDay == "" {
			if !errors.Is(err, query.ErrOtherQuery) {
				t.Errorf("%s: got the error %v, want %v", name, err, query.ErrOtherQuery)
			}
			continue
		}
		if err != nil || !startsOn(plan, c.wantDay) {
			t.Errorf("%s: got the plan %+v and the error %v, want the requests of %s", name, plan, err, c.wantDay)
		}
	}
}

// startsOn reports whether a plan has the condition that requests are not before a day.
func startsOn(plan *query.Plan, day string) bool {
	return slices.ContainsFunc(plan.Where, func(c query.Condition) bool {
		isFirst := c.Operator == record.GreaterThanOrEqualTo && len(c.Operands) == 1
		return isFirst && c.Operands[0].Text == day+"T00:00:00.0000000"
	})
}
