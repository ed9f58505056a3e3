package erptest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

func lookup(t *testing.T, registry *record.Registry, name string) *record.Kind {
	t.Helper()
	kind, ok := registry.Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

// roundTrip checks that every row is read as it was stored.
func roundTrip(t *testing.T, s *suite) {
	for _, kind := range s.registry.Kinds() {
		got, tail := s.run(t, s.store, kind, nil)
		want := slices.Clone(s.rowsOf(kind).texts)
		if tail.Total != int64(len(want)) || !tail.Known {
			t.Errorf("%s: got total %+v, want %d", kind.Name, tail, len(want))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows differ from what was stored", kind.Name)
		}
	}
}

// totals checks that the total is the number of all matching rows, independent of Skip and
// Take, and that it can be turned off.
func totals(t *testing.T, s *suite) {
	kind := lookup(t, s.registry, "IN_Colours")
	count := len(s.rowsOf(kind).stored)
	for _, c := range []struct {
		members   query.Members
		wantRows  int
		wantTotal int
		isKnown   bool // whether the reply has the total
	}{
		{nil, count, count, true},
		{query.Members{member("Take", "10")}, 10, count, true},
		{query.Members{member("Take", "0")}, 0, count, true},
		{query.Members{member("Skip", "5")}, count - 5, count, true},
		{query.Members{member("Skip", "1000")}, 0, count, true},
		{query.Members{member("Skip", strconv.Itoa(count-3)), member("Take", "10")}, 3, count, true},
		{query.Members{member("Take", "10"), member("Include", "NoTotal")}, 10, 0, false},
		{query.Members{member("Take", "1000"), member("Include", "NoTotal")}, count, count, true},
		{query.Members{member("Fields", "DISTINCT DisplayOrder"), member("Take", "2")}, 2, 8, true},
	} {
		rows, tail := s.run(t, s.store, kind, c.members)
		if len(rows) != c.wantRows || tail.Total != int64(c.wantTotal) || tail.Known != c.isKnown {
			t.Errorf("%v: got %d rows, total %d, known: %v, want %d, %d, %v",
				c.members, len(rows), tail.Total, tail.Known, c.wantRows, c.wantTotal, c.isKnown)
		}
	}
}

// paging reads all rows in pages, sorted by each field in both directions. No row may be
// missing or repeated, and the order must be that of the naive comparison.
func paging(t *testing.T, s *suite) {
	for _, kind := range s.registry.Kinds() {
		for i, f := range kind.Fields {
			for _, order := range []string{query.OrderBy, query.OrderByDesc} {
				got := s.readPages(t, kind, member(order, f.Name))
				want := s.sorted(kind, i, order == query.OrderByDesc)
				if difference := s.firstDifference(kind, i, got, want); difference != "" {
					t.Errorf("%s by %s %s: %s", kind.Name, order, f.Name, difference)
				}
			}
		}
	}
}

// readPages reads all rows of a kind in an order, in pages of 20 rows.
func (s *suite) readPages(t *testing.T, kind *record.Kind, order query.Member) []string {
	t.Helper()
	var rows []string
	for skip := 0; skip <= len(s.rowsOf(kind).stored); skip += 20 {
		members := query.Members{order, member("Skip", strconv.Itoa(skip)), member("Take", "20")}
		page, _ := s.run(t, s.store, kind, members)
		rows = append(rows, page...)
	}
	return rows
}

// sorted returns the rows of a kind by a field and the first field, which is always ascending.
func (s *suite) sorted(kind *record.Kind, field int, isDescending bool) [][]any {
	rows := slices.Clone(s.rowsOf(kind).stored)
	slices.SortStableFunc(rows, func(a, b []any) int {
		c := s.compareNulls(kind.Fields[field].Type, a[field], b[field])
		if isDescending {
			c = -c
		}
		if c == 0 {
			c = s.compareNulls(kind.Fields[0].Type, a[0], b[0])
		}
		return c
	})
	return rows
}

// firstDifference compares two sequences of rows. Rows with equal values in the sorted
// field and in the first field may be in any order.
func (s *suite) firstDifference(kind *record.Kind, field int, got []string, want [][]any) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d rows, want %d", len(got), len(want))
	}
	isEqual := func(field, i, j int) bool {
		return s.compareNulls(kind.Fields[field].Type, want[i][field], want[j][field]) == 0
	}
	excess := make(map[string]int) // by row: number of returned rows, less those that are expected
	start := 0
	for i := range want {
		excess[got[i]]++
		excess[s.valuesText(kind, want[i])]--
		next := i + 1
		if next < len(want) && isEqual(field, i, next) && isEqual(0, i, next) {
			continue
		}
		for text, n := range excess {
			if n != 0 {
				return fmt.Sprintf("rows %d to %d differ: %s", start, i, text)
			}
		}
		start = i + 1
	}
	return ""
}

func (s *suite) compareNulls(t record.Type, a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	if t == record.Bytes && s.caps.PaddedBytes {
		a = bytes.TrimRight(a.([]byte), "\x00")
		b = bytes.TrimRight(b.([]byte), "\x00")
	}
	return s.compare(t, a, b)
}

// aggregates checks sums of 38 digits, averages and counts.
func aggregates(t *testing.T, s *suite) {
	kind := lookup(t, s.registry, "SO_Totals")
	rows, tail := s.run(t, s.store, kind, query.Members{
		member("InvoiceTotalBetween", "1", "10"),
		member("Include", "COUNT(*) as n, SUM(InvoiceTotal) s, MIN(InvoiceTotal), MAX(InvoiceTotal) as m, "+
			"AVG(InvoiceTotal) as a, COUNT(DISTINCT InvoiceTotal) d"),
	})
	count := 0
	sum := 0
	distinct := make(map[string]bool)
	for _, r := range s.rowsOf(kind).stored {
		if s.matches(record.Decimal, r[1], record.Between, []any{"1", "10"}) {
			value, _ := strconv.ParseFloat(r[1].(string), 64) // 1, 9 and 10 only
			count++
			sum += int(value)
			distinct[strconv.Itoa(int(value))] = true
		}
	}
	got := make(map[string]string)
	for _, m := range tail.Meta {
		got[m.Name] = m.Value
	}
	if len(rows) != count || got["n"] != strconv.Itoa(count) || got["d"] != strconv.Itoa(len(distinct)) {
		t.Errorf("got %d rows, aggregates %v, want %d rows, %d distinct", len(rows), got, count, len(distinct))
	}
	for name, want := range map[string]float64{
		"s":                 float64(sum),
		"m":                 10,
		"MIN(InvoiceTotal)": 1,
		"a":                 float64(sum) / float64(count),
	} {
		v, err := strconv.ParseFloat(got[name], 64)
		if err != nil || math.Abs(v-want) > 1e-5 {
			t.Errorf("got %s = %q, want %v", name, got[name], want)
		}
	}
}
