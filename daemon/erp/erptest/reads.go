package erptest

import (
	"bytes"
	"fmt"
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
		want := slices.Clone(s.stored(kind).texts)
		if tail.Total != int64(len(want)) || !tail.Known {
			t.Errorf("%s: total %v, want %d", kind.Name, tail, len(want))
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
	all := int64(len(s.edgeRows(kind)))
	for _, c := range []struct {
		members query.Members
		rows    int
		total   int64
		known   bool
	}{
		{nil, int(all), all, true},
		{query.Members{member("Take", "10")}, 10, all, true},
		{query.Members{member("Take", "0")}, 0, all, true},
		{query.Members{member("Skip", "5")}, int(all) - 5, all, true},
		{query.Members{member("Skip", "1000")}, 0, all, true},
		{query.Members{member("Skip", strconv.Itoa(int(all)-3)), member("Take", "10")}, 3, all, true},
		{query.Members{member("Take", "10"), member("Include", "NoTotal")}, 10, 0, false},
		{query.Members{member("Take", "1000"), member("Include", "NoTotal")}, int(all), all, true},
		{query.Members{member("Fields", "DISTINCT DisplayOrder"), member("Take", "2")}, 2, 8, true},
	} {
		rows, tail := s.run(t, s.store, kind, c.members)
		if len(rows) != c.rows || tail.Total != c.total || tail.Known != c.known {
			t.Errorf("%v: %d rows, tail %+v; want %d rows, total %d known %v",
				c.members, len(rows), tail, c.rows, c.total, c.known)
		}
	}
}

// paging reads all rows in pages, sorted by each field in both directions. No row may be
// missing or repeated, and the order must be that of the naive comparison.
func paging(t *testing.T, s *suite) {
	for _, kind := range s.registry.Kinds() {
		for i, f := range kind.Fields {
			for _, desc := range []bool{false, true} {
				order := query.OrderBy
				if desc {
					order = query.OrderByDesc
				}
				var got []string
				for skip := 0; skip <= len(s.edgeRows(kind)); skip += 20 {
					page, _ := s.run(t, s.store, kind,
						query.Members{member(order, f.Name), member("Skip", strconv.Itoa(skip)), member("Take", "20")})
					got = append(got, page...)
				}
				want := slices.Clone(s.edgeRows(kind))
				slices.SortStableFunc(want, func(a, b []any) int {
					c := s.compareNulls(f.Type, a[i], b[i])
					if desc {
						c = -c
					}
					if c == 0 {
						c = s.compareNulls(kind.Fields[0].Type, a[0], b[0])
					}
					return c
				})
				if at := s.firstDifference(kind, i, got, want); at != "" {
					t.Errorf("%s by %s %s: %s", kind.Name, order, f.Name, at)
				}
			}
		}
	}
}

// firstDifference compares two sequences of rows. Rows with equal values in the sorted
// field and in the first field may be in any order.
func (s *suite) firstDifference(kind *record.Kind, field int, got []string, want [][]any) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	left := make(map[string]int)
	start := 0
	for i := range want {
		left[got[i]]++
		left[s.valuesText(kind, want[i])]--
		tie := i+1 < len(want) && s.compareNulls(kind.Fields[field].Type, want[i][field], want[i+1][field]) == 0 &&
			s.compareNulls(kind.Fields[0].Type, want[i][0], want[i+1][0]) == 0
		if tie {
			continue
		}
		for text, n := range left {
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
		a, b = bytes.TrimRight(a.([]byte), "\x00"), bytes.TrimRight(b.([]byte), "\x00")
	}
	return s.compare(t, a, b)
}

// aggregates checks sums of 38 digits, averages and counts.
func aggregates(t *testing.T, s *suite) {
	kind := lookup(t, s.registry, "SO_Totals")
	rows, tail := s.run(t, s.store, kind, query.Members{
		member("InvoiceTotalBetween", "1", "10"),
		member("Include", "COUNT(*) as n, SUM(InvoiceTotal) s, MIN(InvoiceTotal), MAX(InvoiceTotal) as m, AVG(InvoiceTotal) as a, COUNT(DISTINCT InvoiceTotal) d"),
	})
	count, sum := 0, 0
	distinct := make(map[string]bool)
	for _, r := range s.edgeRows(kind) {
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
		t.Errorf("%d rows, meta %v; want %d rows, %d distinct", len(rows), got, count, len(distinct))
	}
	for name, want := range map[string]float64{"s": float64(sum), "m": 10, "MIN(InvoiceTotal)": 1, "a": float64(sum) / float64(count)} {
		if v, err := strconv.ParseFloat(got[name], 64); err != nil || v-want > 1e-5 || want-v > 1e-5 {
			t.Errorf("%s = %q, want %v", name, got[name], want)
		}
	}
}
