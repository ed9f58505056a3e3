package logtest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
)

// timedEntry is an entry by its ID.
type timedEntry struct {
	id int64
	at time.Time
}

// addTimed adds entries that are not in the order of their times: within a part of a second, and
// from the half on by a clock that was set back. It returns them by time.
func (s *logSuite) addTimed(t *testing.T, n int) []timedEntry {
	t.Helper()
	var byTime []timedEntry
	for start := 0; start < n; start += 20 {
		var batch []requestlog.Entry
		for i := start; i < start+20; i++ {
			e := logEntry(i)
			e.At = logStart.Add(time.Duration(i*100+i*7919%300) * time.Millisecond)
			if i >= n/2 {
				e.At = e.At.Add(-3 * time.Second)
			}
			batch = append(batch, e)
			byTime = append(byTime, timedEntry{int64(i + 1), e.At})
		}
		s.add(t, batch...)
	}
	slices.SortFunc(byTime, func(a, b timedEntry) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	return byTime
}

// idsOf returns the IDs of the entries for which keep is true.
func idsOf(entries []timedEntry, keep func(timedEntry) bool) (ids []string) {
	for _, e := range entries {
		if keep(e) {
			ids = append(ids, executortest.RowText([]any{e.id}))
		}
	}
	return ids
}

// logTimes queries periods, in the order of times and of IDs, with totals.
func logTimes(t *testing.T, s *logSuite) {
	entries := s.addTimed(t, 200)
	for _, seconds := range []int{-1, 0, 5, 8, 10, 15, 17, 30} {
		logged := logStart.Add(time.Duration(seconds) * time.Second)
		text := logged.Format(wire.DateLayout)
		since := idsOf(entries, func(e timedEntry) bool { return !e.at.Before(logged) })
		until := idsOf(entries, func(e timedEntry) bool { return e.at.Before(logged) })
		sinceMember := executortest.Member("DateTimeGreaterThanOrEqualTo", text)
		untilMember := executortest.Member("DateTimeLessThan", text)

		s.comparePage(t, since, query.OrderBy, "DateTime", sinceMember)
		s.comparePage(t, until, query.OrderBy, "DateTime", untilMember)
		slices.Reverse(since)
		slices.Reverse(until)
		s.comparePage(t, since, query.OrderByDesc, "DateTime,Id", sinceMember)
		s.comparePage(t, until, query.OrderByDesc, "DateTime,Id", untilMember)
	}
}

// comparePage compares a page and its total with all IDs of a list.
func (s *logSuite) comparePage(t *testing.T, want []string, order, fields string, filter query.Member) {
	t.Helper()
	const skip, take = 3, 10
	members := query.Members{
		executortest.Member(order, fields),
		executortest.Member(query.Fields, "Id"),
		executortest.Member(query.Skip, "3"),
		executortest.Member(query.Take, "10"),
		executortest.Member(query.Include, "Total"),
		filter,
	}
	page := want[min(skip, len(want)):min(skip+take, len(want))]
	rows, tail := executortest.Run(t, s.store, s.kind, members)
	got := strings.Join(rows, " ")
	if got != strings.Join(page, " ") || tail.Total != int64(len(want)) {
		t.Errorf("%s %s with %v: got the IDs %s and a total of %d, want %v and %d",
			order, fields, filter, got, tail.Total, page, len(want))
	}
}

// logPages reads the log by time in pages by cursor.
func logPages(t *testing.T, s *logSuite) {
	entries := s.addTimed(t, 200)
	want := idsOf(entries, func(timedEntry) bool { return true })
	for _, desc := range []bool{false, true} {
		if got := s.pagesByTime(t, desc); !slices.Equal(got, want) {
			t.Errorf("descending %v: got the IDs\n%v, want\n%v", desc, got, want)
		}
		slices.Reverse(want)
	}
}

// pagesByTime returns the IDs of all pages.
func (s *logSuite) pagesByTime(t *testing.T, desc bool) (ids []string) {
	t.Helper()
	at, _ := s.kind.Column("DateTime")
	cursor := ""
	for {
		request := &query.Request{
			Kind:   s.kind,
			Fields: []int{s.kind.KeyField()},
			Order:  []query.Order{{Field: at, Desc: desc}, {Field: s.kind.KeyField(), Desc: desc}},
			Take:   7,
			Cursor: &cursor,
		}
		if err := s.store.SetPlace(t.Context(), request, nil); err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(request, true)
		if err != nil {
			t.Fatal(err)
		}
		rows, tail := executortest.Read(t, s.store, plan)
		ids = append(ids, rows...)
		if tail.Next == "" {
			return ids
		}
		cursor = tail.Next
	}
}
