package logtest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
)

// timedEntry is the ID and the time of an entry.
type timedEntry struct {
	id int64
	at time.Time
}

// timedBatch is the number of entries that addTimed adds at a time.
const timedBatch = 20

// addTimed adds a number of batches of entries, and returns all entries by time. The entries are
// logged about 100 ms apart. Those of the same few tenths of a second are not in the order of their
// times, as those of concurrent requests. Before the second half of the batches, the clock is set
// back by 3 seconds.
func (s *logSuite) addTimed(t *testing.T, batches int) []timedEntry {
	t.Helper()
	var byTime []timedEntry
	for batch := range batches {
		var entries []requestlog.Entry
		for n := batch * timedBatch; n < (batch+1)*timedBatch; n++ {
			jitter := n * 7919 % 300 // up to three intervals; a prime, so that it looks random
			e := logEntry(n)
			e.At = logStart.Add(time.Duration(n*100+jitter) * time.Millisecond)
			if batch >= batches/2 {
				e.At = e.At.Add(-3 * time.Second)
			}
			entries = append(entries, e)
			byTime = append(byTime, timedEntry{id: int64(n + 1), at: e.At})
		}
		s.add(t, entries...)
	}
	slices.SortFunc(byTime, func(a, b timedEntry) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	return byTime
}

// idsOf returns the IDs of the entries for which keep is true, as texts of rows.
func idsOf(entries []timedEntry, keep func(timedEntry) bool) []string {
	var ids []string
	for _, e := range entries {
		if keep(e) {
			ids = append(ids, executortest.RowText([]any{e.id}))
		}
	}
	return ids
}

// logTimes queries the entries before and after times, sorted by time, with totals.
func logTimes(t *testing.T, s *logSuite) {
	entries := s.addTimed(t, 10)
	for _, seconds := range []int{-1, 0, 5, 8, 10, 15, 17, 30} {
		limit := logStart.Add(time.Duration(seconds) * time.Second)
		text := limit.Format(wire.DateLayout)
		s.compareTimes(t,
			idsOf(entries, func(e timedEntry) bool { return !e.at.Before(limit) }),
			executortest.Member("DateTimeGreaterThanOrEqualTo", text))
		s.compareTimes(t,
			idsOf(entries, func(e timedEntry) bool { return e.at.Before(limit) }),
			executortest.Member("DateTimeLessThan", text))
	}
}

// compareTimes compares pages of the entries that meet a condition with their IDs by time, in both
// directions.
func (s *logSuite) compareTimes(t *testing.T, want []string, condition query.Member) {
	t.Helper()
	s.comparePage(t, want, query.OrderBy, "DateTime", condition)
	descending := slices.Clone(want)
	slices.Reverse(descending)
	s.comparePage(t, descending, query.OrderByDesc, "DateTime,Id", condition)
}

// comparePage compares a page and its total with all IDs of a list.
func (s *logSuite) comparePage(
	t *testing.T, want []string, order, fields string, condition query.Member,
) {
	t.Helper()
	const skip, take = 3, 10
	members := query.Members{
		executortest.Member(order, fields),
		executortest.Member(query.Fields, "Id"),
		executortest.Member(query.Skip, strconv.Itoa(skip)),
		executortest.Member(query.Take, strconv.Itoa(take)),
		executortest.Member(query.Include, "Total"),
		condition,
	}
	page := want[min(skip, len(want)):min(skip+take, len(want))]
	rows, tail := executortest.Run(t, s.store, s.kind, members)
	got := strings.Join(rows, " ")
	if got != strings.Join(page, " ") || tail.Total != int64(len(want)) {
		t.Errorf("%s %s with %v: got the IDs %s and a total of %d, want %v and %d",
			order, fields, condition, got, tail.Total, page, len(want))
	}
}

// logPages reads the log by time in pages by cursor.
func logPages(t *testing.T, s *logSuite) {
	ascending := idsOf(s.addTimed(t, 10), func(timedEntry) bool { return true })
	descending := slices.Clone(ascending)
	slices.Reverse(descending)
	for desc, want := range map[bool][]string{false: ascending, true: descending} {
		got := s.pagesByTime(t, desc)
		if !slices.Equal(got, want) {
			t.Errorf("descending %v: got the IDs\n%v, want\n%v", desc, got, want)
		}
	}
}

// pagesByTime returns the IDs of all pages.
func (s *logSuite) pagesByTime(t *testing.T, desc bool) []string {
	t.Helper()
	dateTime, ok := s.kind.Column("DateTime")
	if !ok {
		t.Fatal("the request log has no field DateTime")
	}
	var ids []string
	cursor := ""
	for {
		request := &query.Request{
			Kind:   s.kind,
			Fields: []int{s.kind.KeyField()},
			Order:  []query.Order{{Field: dateTime, Desc: desc}, {Field: s.kind.KeyField(), Desc: desc}},
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
