package erptest

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
)

// groups groups the rows that match a generated filter, and compares the counts, sums,
// minimums and maximums of each group with those of a simple evaluation.
func groups(t *testing.T, s *suite) {
	rapid.Check(t, func(t *rapid.T) {
		kind := s.registry.Kinds()[rapid.IntRange(0, len(s.registry.Kinds())-1).Draw(t, "kind")]
		field := rapid.IntRange(0, len(kind.Fields)-1).Draw(t, "field")
		computed := rapid.IntRange(0, len(kind.Fields)-1).Draw(t, "of")
		f, g := kind.Fields[field], kind.Fields[computed]
		hasNoMin := g.Type == record.Bytes || g.Type == record.Guid || g.Type == record.Bool
		if f.Type == record.Bytes || hasNoMin {
			return
		}
		by := f.Name
		length := len("2019-05-01T00:00:00.0000000")
		if f.Type == record.DateTime && rapid.Bool().Draw(t, "period") {
			period := rapid.SampledFrom([]string{"day", "month", "year"}).Draw(t, "of days")
			by += ":" + period
			length = periodLengths[period]
		}
		include := fmt.Sprintf("COUNT(*),COUNT(%[1]s),COUNT(DISTINCT %[1]s),MIN(%[1]s),MAX(%[1]s)", g.Name)
		number := g.Type.Number() && g.Type != record.Double
		if number {
			include += ",SUM(" + g.Name + ")"
		}
		members := query.Members{member(query.GroupBy, by), member(query.Include, include), member(query.OrderBy, "-Count")}
		var from, to any = "-1000", "1000" // a sum of these fits in every column
		if g.Type.Integer() {
			from, to = int64(0), int64(100)
		}
		if number {
			members = append(members, member(g.Name+record.Between.Suffix(), operandText(from), operandText(to)))
		}
		req, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(req, true)
		if err != nil {
			t.Fatal(err)
		}
		got, tail := executortest.Read(t, s.store, plan)
		want := make(map[string]*group)
		for _, r := range s.stored(kind).rows {
			if !number || r[computed] != nil && s.matches(g.Type, r[computed], record.Between, []any{from, to}) {
				key := s.groupKey(f.Type, r[field], length)
				if want[key] == nil {
					want[key] = &group{sum: new(big.Rat), distinct: make(map[string]bool)}
				}
				want[key].add(s, g.Type, r[computed], number)
			}
		}
		if len(got) != len(want) || tail.Total != int64(len(want)) {
			t.Fatalf("%s by %s: %d groups and total %d, want %d: %q",
				kind.Name, by, len(got), tail.Total, len(want), got)
		}
		last := int64(1 << 62)
		for _, text := range got {
			row := cellTexts(t, text)
			expected := want[s.groupKey(f.Type, typed(f.Type, row[0]), length)]
			if expected == nil || !expected.equals(s, g.Type, row[1:]) {
				t.Fatalf("%s by %s of %s: %q, want %+v", kind.Name, by, g.Name, text, expected)
			}
			count := typed(record.Long, row[1]).(int64)
			if count > last {
				t.Fatalf("%d after %d: not in the requested order", count, last)
			}
			last = count
		}
	})
}

// periodLengths are the numbers of characters of a date that have a period.
var periodLengths = map[string]int{"day": 10, "month": 7, "year": 4}

// group is the simple evaluation of one group.
type group struct {
	rows, values int64
	distinct     map[string]bool
	low, high    any
	sum          *big.Rat
}

func (g *group) add(s *suite, t record.Type, v any, number bool) {
	g.rows++
	if v == nil {
		return
	}
	g.values++
	g.distinct[s.groupKey(t, v, 0)] = true
	if g.low == nil || s.compare(t, v, g.low) < 0 {
		g.low = v
	}
	if g.high == nil || s.compare(t, v, g.high) > 0 {
		g.high = v
	}
	if number {
		value, _ := new(big.Rat).SetString(operandText(v))
		g.sum.Add(g.sum, value)
	}
}

// equals compares a group with the columns of a result.
func (g *group) equals(s *suite, t record.Type, row []*string) bool {
	counts := []int64{g.rows, g.values, int64(len(g.distinct))}
	for i, n := range counts {
		if *row[i] != strconv.FormatInt(n, 10) {
			return false
		}
	}
	for i, v := range []any{g.low, g.high} {
		if s.compareNulls(t, v, typed(t, row[3+i])) != 0 {
			return false
		}
	}
	if len(row) < 6 || g.values == 0 {
		return len(row) < 6 || row[5] == nil
	}
	sum, ok := new(big.Rat).SetString(*row[5])
	return ok && sum.Cmp(g.sum) == 0
}

// groupKey returns the same text for values in the same group. length is that of dates.
func (s *suite) groupKey(t record.Type, v any, length int) string {
	switch {
	case v == nil:
		return "\x00null" // null is also a stored text
	case s.ranks[t] != nil:
		return strconv.Itoa(s.ranks[t][equalText(t, v)])
	case t == record.Decimal:
		number, _ := new(big.Rat).SetString(v.(string))
		return number.RatString()
	case t == record.DateTime && length > 0:
		return v.(string)[:min(length, len(v.(string)))]
	}
	return equalText(t, v)
}

// cellTexts divides a row of package executortest; nil is null.
func cellTexts(t *rapid.T, row string) (cells []*string) {
	for row != "" {
		if after, isNull := strings.CutPrefix(row, "null;"); isNull {
			cells = append(cells, nil)
			row = after
			continue
		}
		quoted, err := strconv.QuotedPrefix(row)
		if err != nil {
			t.Fatal(err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, &text)
		row = strings.TrimPrefix(row[len(quoted):], ";")
	}
	return slices.Clip(cells)
}

// typed returns a value as it is stored.
func typed(t record.Type, text *string) any {
	if text == nil {
		return nil
	}
	if n, err := strconv.ParseInt(*text, 10, 64); err == nil && (t.Integer() || t == record.Bool) {
		return n
	}
	return *text
}
