// Package logtest is the conformance test suite of the stored request log.
package logtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/storage"
)

// Run runs the suite. open returns a store with an empty request log with IDs that
// start at 1.
func Run(t *testing.T, open func(*testing.T) *storage.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *logSuite)
	}{
		{"RoundTrip", logRoundTrip},
		{"Filters", logFilters},
		{"Order", logOrder},
		{"Times", logTimes},
		{"Pages", logPages},
		{"Batches", logBatches},
		{"PruneByAge", logPruneByAge},
		{"PruneByAgeAfterClockWasAhead", logPruneAfterClockWasAhead},
		{"PruneBySize", logPruneBySize},
		{"PruneAnonymous", logPruneAnonymous},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind, ok := record.System().Lookup("RequestLog")
			if !ok {
				t.Fatal("no record kind RequestLog")
			}
			s := &logSuite{store: open(t), kind: kind}
			test.run(t, s)
		})
	}
}

type logSuite struct {
	store *storage.Store
	kind  *record.Kind
}

func (s *logSuite) add(t *testing.T, entries ...requestlog.Entry) {
	t.Helper()
	if err := s.store.RequestLog().Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// values returns the values of one field of a query's rows.
func (s *logSuite) values(t *testing.T, field string, members ...query.Member) []string {
	t.Helper()
	rows, _ := executortest.Run(t, s.store, s.kind,
		append(query.Members{executortest.Member(query.Fields, field)}, members...))
	for i, row := range rows {
		rows[i] = strings.Trim(row, `";`)
	}
	return rows
}

// logStart has microseconds only, the resolution of Babelfish.
var logStart = time.Date(2030, 1, 2, 23, 59, 59, 123456000, time.UTC)

// logEntry returns an entry with n in all fields.
func logEntry(n int) requestlog.Entry {
	e := requestlog.Entry{
		At:       logStart.Add(time.Duration(n) * time.Second),
		Status:   200 + n,
		Duration: time.Duration(n) * time.Millisecond,
	}
	for i := range e.Texts {
		e.Texts[i] = strconv.Itoa(n)
	}
	return e
}

// wideTexts are the columns for thousands of characters.
var wideTexts = []int{
	requestlog.AbsoluteURI, requestlog.RequestBody, requestlog.RequestDto,
	requestlog.Headers, requestlog.FormData, requestlog.Items,
	requestlog.Session, requestlog.ResponseDto, requestlog.ErrorResponse, requestlog.ExceptionData,
}

// logRoundTrip stores special texts in every column, and an empty entry.
func logRoundTrip(t *testing.T, s *logSuite) {
	texts := []string{
		`{"a":"b"}`, `"`, `\`, `\"`, "^", "^1", "^0^2", "'; DROP TABLE x --", "%_[a]", "@p1",
		"é", "日本語", "😀", "\u00a0", "＾１", "^\u03011", strings.Repeat("x", 3000),
	}
	var entries []requestlog.Entry
	for _, text := range texts {
		e := logEntry(1)
		for i := range e.Texts {
			e.Texts[i] = text
			if len(text) > 8 && !slices.Contains(wideTexts, i) {
				e.Texts[i] = "short"
			}
		}
		entries = append(entries, e)
	}
	entries = append(entries, requestlog.Entry{At: logStart})
	s.add(t, entries...)
	byID := query.Members{executortest.Member(query.OrderBy, "Id")}
	rows, tail := executortest.Run(t, s.store, s.kind, byID)
	if tail.Total != int64(len(entries)) || len(rows) != len(entries) {
		t.Fatalf("got %d rows and a total of %d, want %d", len(rows), tail.Total, len(entries))
	}
	for n, e := range entries {
		if want := s.rowText(int64(n+1), e); rows[n] != want {
			t.Errorf("row %d\n got %.500s\nwant %.500s", n, rows[n], want)
		}
	}
}

// rowText formats the row of an entry as executortest does.
func (s *logSuite) rowText(id int64, e requestlog.Entry) string {
	values := []any{id, e.At.Format(wire.DateLayout), int64(e.Status)}
	for _, text := range e.Texts {
		if text == "" {
			values = append(values, nil)
		} else {
			values = append(values, text)
		}
	}
	const tick = 100 * time.Nanosecond // unit of stored durations
	return executortest.RowText(append(values, int64(e.Duration/tick)))
}

// logFilters queries with conditions on fields of each type.
func logFilters(t *testing.T, s *logSuite) {
	var entries []requestlog.Entry
	for n := range 10 {
		entries = append(entries, logEntry(n))
	}
	entries[3].Texts[requestlog.Headers] = `{"User-Agent":"curl/8","Accept":"*/*"}`
	entries[4].Texts[requestlog.RequestDto] = `{"Take":"5"}`
	s.add(t, entries...)
	for _, test := range []struct {
		want    string
		members query.Members
	}{
		{"205", query.Members{executortest.Member("StatusCode", "205")}},
		{"209 208", query.Members{executortest.Member("StatusCodeGreaterThan", "207")}},
		{"209 208", query.Members{executortest.Member("RequestDurationGreaterThanOrEqualTo", "PT0.008S")}},
		{"203", query.Members{executortest.Member("RequestDuration", "00:00:00.003")}},
		{"202 201", query.Members{executortest.Member("RequestDurationIn", "PT0.001S", "PT0.002S")}},
		{"203", query.Members{executortest.Member("HeadersContains", `"User-Agent":"CURL`)}},
		{"204", query.Members{executortest.Member("RequestDto", `{"Take":"5"}`)}},
		{"209", query.Members{executortest.Member("DateTimeGreaterThanOrEqualTo", "2030-01-03T00:00:08")}},
		{"200", query.Members{executortest.Member("DateTimeLessThan", "2030-01-03T01:00:00+01:00")}},
		{"206", query.Members{executortest.Member("UserAuthIdIn", "6", "66")}},
		{"207", query.Members{executortest.Member("IdBetween", "8", "8")}},
		{"209 208", query.Members{executortest.Member(query.Take, "2")}},
		{"201 200", query.Members{executortest.Member(query.Skip, "8")}},
		{"200 201", query.Members{
			executortest.Member(query.OrderBy, "RequestDuration"),
			executortest.Member(query.Take, "2"),
		}},
	} {
		if got := strings.Join(s.values(t, "StatusCode", test.members...), " "); got != test.want {
			t.Errorf("%v: got %s, want %s", test.members, got, test.want)
		}
	}

	aggregates := executortest.Member(query.Include,
		"MAX(RequestDuration) as Longest, COUNT(DISTINCT IpAddress) as Hosts")
	_, tail := executortest.Run(t, s.store, s.kind, query.Members{aggregates})
	const want = "[{Longest PT0.009S} {Hosts 10}]"
	if got := fmt.Sprint(tail.Meta); got != want {
		t.Errorf("%v: got %s, want %s", aggregates, got, want)
	}
}

// logOrder checks that the newest entries come first by default, with and without
// paging.
func logOrder(t *testing.T, s *logSuite) {
	for n := range 5 {
		s.add(t, logEntry(n))
	}
	for _, test := range []struct {
		want    string
		members query.Members
	}{
		{"5 4 3 2 1", nil},
		{"4 3", query.Members{executortest.Member(query.Skip, "1"), executortest.Member(query.Take, "2")}},
		{"1 2 3 4 5", query.Members{executortest.Member(query.OrderBy, "Id")}},
		{"5 4 3 2 1", query.Members{executortest.Member(query.OrderByDesc, "DateTime")}},
	} {
		if got := strings.Join(s.values(t, "Id", test.members...), " "); got != test.want {
			t.Errorf("%v: got %s, want %s", test.members, got, test.want)
		}
	}
	if got := len(s.values(t, "DISTINCT HttpMethod")); got != 5 {
		t.Errorf("got %d distinct values of HttpMethod, want 5", got)
	}
}

// logBatches checks the order of large batches, and an empty batch.
func logBatches(t *testing.T, s *logSuite) {
	s.add(t)
	var entries []requestlog.Entry
	var want []string
	for n := range 700 {
		entries = append(entries, logEntry(n))
		want = append(want, strconv.Itoa(n))
	}
	s.add(t, entries[:600]...)
	s.add(t, entries[600:]...)
	if got := s.values(t, "PathInfo", executortest.Member(query.OrderBy, "Id")); !slices.Equal(got, want) {
		t.Errorf("got %d rows, or in another order, want %d by their IDs", len(got), len(want))
	}
}

// pruned prunes until nothing is left to prune, and returns the number of calls.
func (s *logSuite) pruned(t *testing.T, before time.Time, maxBytes int64) (times int) {
	t.Helper()
	log := s.store.RequestLog()
	for {
		times++
		hasMore, err := log.Prune(t.Context(), before, maxBytes)
		if err != nil {
			t.Fatal(err)
		}
		if !hasMore {
			return times
		}
	}
}

func logPruneByAge(t *testing.T, s *logSuite) {
	var entries []requestlog.Entry
	for n := range 600 {
		entries = append(entries, logEntry(n))
	}
	s.add(t, entries...)
	s.pruned(t, logStart, 0)
	if n := len(s.values(t, "Id")); n != 600 {
		t.Errorf("after pruning without old entries: got %d entries, want 600", n)
	}

	if times := s.pruned(t, logStart.Add(590*time.Second), 0); times < 3 {
		t.Errorf("590 entries were pruned in %d calls, want at least 3", times)
	}
	if got := s.values(t, "PathInfo"); len(got) != 10 || got[0] != "599" || got[9] != "590" {
		t.Errorf("after pruning 590 entries: got %s, want 599 to 590", got)
	}

	s.pruned(t, logStart.Add(time.Hour), 0)
	s.add(t, logEntry(0))
	if got := s.values(t, "Id"); got[0] != "601" {
		t.Errorf("the next entry has the ID %s, want 601", got[0])
	}
}

// logPruneAfterClockWasAhead prunes old entries that have been added after many with a time in the
// next year, when the clock was ahead.
func logPruneAfterClockWasAhead(t *testing.T, s *logSuite) {
	const ahead, right = 600, 300
	entries := make([]requestlog.Entry, 0, ahead+right)
	for n := range ahead + right {
		e := logEntry(n)
		if n < ahead {
			e.At = e.At.AddDate(1, 0, 0)
		}
		entries = append(entries, e)
	}
	s.add(t, entries...)
	const old = 290
	s.pruned(t, logStart.Add((ahead+old)*time.Second), 0)
	remain := s.values(t, "PathInfo", executortest.Member(query.OrderBy, "-Id"))
	if len(remain) != ahead+right-old || remain[right-old-1] != strconv.Itoa(ahead+old) {
		t.Errorf("after pruning %d old entries behind %d of the next year: got %d entries %.100s, want %d",
			old, ahead, len(remain), strings.Join(remain, " "), ahead+right-old)
	}
}

func logPruneBySize(t *testing.T, s *logSuite) {
	var entries []requestlog.Entry
	for n := range 1000 {
		e := logEntry(n)
		e.Texts[requestlog.AbsoluteURI] = strings.Repeat("x", 1000)
		entries = append(entries, e)
	}
	s.add(t, entries...)
	s.pruned(t, time.Time{}, 10<<20)
	if n := len(s.values(t, "Id")); n != 1000 {
		t.Errorf("after pruning within the size: got %d entries, want 1000", n)
	}

	s.pruned(t, time.Time{}, 500<<10)
	left := s.values(t, "PathInfo")
	if len(left) < 100 || len(left) > 500 || left[0] != "999" {
		t.Errorf("%d of 1,000 are left in 500 KB, the newest %s", len(left), left[0])
	}
}

// logPruneAnonymous checks that anonymous entries are pruned to their share of the size, the
// oldest first, and that older ones with a user stay.
func logPruneAnonymous(t *testing.T, s *logSuite) {
	const (
		maxBytes = 4 << 20
		users    = 300
		others   = 3000 // about 3 MB
	)
	entries := make([]requestlog.Entry, 0, users+others)
	for n := range users + others {
		e := logEntry(n)
		e.Texts[requestlog.AbsoluteURI] = strings.Repeat("x", 1000)
		if n >= users {
			e.Texts[requestlog.UserAuthID] = ""
		}
		entries = append(entries, e)
	}
	s.add(t, entries...)
	s.pruned(t, time.Time{}, maxBytes)
	left := s.values(t, "PathInfo")
	newest, oldest := left[0], left[len(left)-1]
	anonymous := len(left) - users
	if newest != strconv.Itoa(users+others-1) || oldest != "0" {
		t.Errorf("the newest entry is %s and the oldest %s, want %d and 0", newest, oldest, users+others-1)
	}
	if share := maxBytes / requestlog.AnonymousShare / 1000; anonymous < share/2 || anonymous > share {
		t.Errorf("%d of %d anonymous entries are left, want at most %d", anonymous, others, share)
	}
	if got := left[anonymous]; got != strconv.Itoa(users-1) {
		t.Errorf("the newest entry with a user is %s, want %d", got, users-1)
	}
}
