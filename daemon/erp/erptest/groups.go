package erptest

import (
	"fmt"
	"math"
	"math/big"
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
		g, ok := drawGrouping(t, s.registry.Kinds())
		if !ok {
			return
		}
		req, err := query.Parse(g.kind, g.members(), query.Options{Zone: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(req, true)
		if err != nil {
			t.Fatal(err)
		}
		got, tail := executortest.Read(t, s.store, plan)
		want := s.evaluate(g)
		if len(got) != len(want) || tail.Total != int64(len(want)) {
			t.Fatalf("%s by %s: got %d groups and total %d, want %d: %q",
				g.kind.Name, g.by, len(got), tail.Total, len(want), got)
		}
		lastCount := int64(math.MaxInt64)
		for _, text := range got {
			row := cellTexts(t, text)
			value := typed(g.field().Type, row[0])
			if !s.isRanked(g.field().Type, value) {
				t.Fatalf("%s by %s: got the group %q, which no row has", g.kind.Name, g.by, text)
			}
			key := s.groupKey(g.field().Type, value, g.length)
			if want[key] == nil || !want[key].equals(s, g.value().Type, row[1:]) {
				t.Fatalf("%s by %s of %s: got %q, want %+v", g.kind.Name, g.by, g.value().Name, text, want[key])
			}
			delete(want, key) // a second one with this key is not expected
			count := typed(record.Long, row[1]).(int64)
			if count > lastCount {
				t.Fatalf("%s by %s: a group of %d rows follows one of %d, want them in descending order",
					g.kind.Name, g.by, count, lastCount)
			}
			lastCount = count
		}
	})
}

// grouping is a generated request that groups the rows of a kind by a field, and computes counts,
// minimum, maximum and, if isSummed, the sum of the values of another field.
type grouping struct {
	kind       *record.Kind
	fieldIndex int
	valueIndex int
	by         string // the field, with a period of dates
	length     int    // number of characters of a date that are the same in a group
	isSummed   bool
}

func (g grouping) field() record.Field { return g.kind.Fields[g.fieldIndex] }
func (g grouping) value() record.Field { return g.kind.Fields[g.valueIndex] }

// drawGrouping generates a grouping; ok is false if the drawn fields do not allow one.
func drawGrouping(t *rapid.T, kinds []*record.Kind) (g grouping, ok bool) {
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	index := rapid.IntRange(0, len(kind.Fields)-1)
	g = grouping{
		kind:       kind,
		fieldIndex: index.Draw(t, "field"),
		valueIndex: index.Draw(t, "field of values"),
		length:     len("2019-05-01T00:00:00.0000000"),
	}
	valueType := g.value().Type
	hasNoMin := valueType == record.Bytes || valueType == record.Guid || valueType == record.Bool
	if g.field().Type == record.Bytes || hasNoMin {
		return grouping{}, false
	}
	g.isSummed = valueType.Number() && valueType != record.Double
	g.by = g.field().Name
	if g.field().Type == record.DateTime && rapid.Bool().Draw(t, "has period") {
		period := rapid.SampledFrom([]string{"day", "month", "year"}).Draw(t, "period")
		g.by += ":" + period
		g.length = periodLengths[period]
	}
	return g, true
}

// periodLengths are the numbers of characters of a date that have a period.
var periodLengths = map[string]int{"day": 10, "month": 7, "year": 4}

// members returns the members of the request.
func (g grouping) members() query.Members {
	name := g.value().Name
	include := fmt.Sprintf("COUNT(*),COUNT(%[1]s),COUNT(DISTINCT %[1]s),MIN(%[1]s),MAX(%[1]s)", name)
	if g.isSummed {
		include += ",SUM(" + name + ")"
	}
	members := query.Members{
		member(query.GroupBy, g.by),
		member(query.Include, include),
		member(query.OrderBy, "-Count"),
	}
	if g.isSummed {
		bounds := g.bounds()
		between := member(name+record.Between.Suffix(), operandText(bounds[0]), operandText(bounds[1]))
		members = append(members, between)
	}
	return members
}

// bounds returns the bounds of summed values. A sum of values between them fits in every column.
func (g grouping) bounds() []any {
	if g.value().Type.Integer() {
		return []any{int64(0), int64(100)}
	}
	return []any{"-1000", "1000"}
}

// evaluate returns the expected groups by their keys.
func (s *suite) evaluate(g grouping) map[string]*group {
	groups := make(map[string]*group)
	for _, row := range s.rowsOf(g.kind).stored {
		v := row[g.valueIndex]
		isWithin := func() bool { return s.matches(g.value().Type, v, record.Between, g.bounds()) }
		if g.isSummed && (v == nil || !isWithin()) {
			continue
		}
		key := s.groupKey(g.field().Type, row[g.fieldIndex], g.length)
		if groups[key] == nil {
			groups[key] = &group{sum: new(big.Rat), distinct: make(map[string]bool)}
		}
		groups[key].add(s, g.value().Type, v, g.isSummed)
	}
	return groups
}

// group is the simple evaluation of one group.
type group struct {
	rows     int64
	values   int64           // number of values that are not null
	distinct map[string]bool // keys of the values
	low      any
	high     any
	sum      *big.Rat
}

// add adds a value of a type.
func (g *group) add(s *suite, t record.Type, v any, isSummed bool) {
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
	if isSummed {
		value, ok := new(big.Rat).SetString(operandText(v))
		if !ok {
			panic(fmt.Sprintf("erptest: the value %q of a number field is no number", operandText(v)))
		}
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
		got := typed(t, row[3+i])
		if !s.isRanked(t, got) || s.compareNulls(t, v, got) != 0 {
			return false
		}
	}
	if len(row) < 6 {
		return true // without a sum
	}
	sum, ok := new(big.Rat).SetString(*row[5])
	return ok && sum.Cmp(g.sum) == 0
}

// isRanked reports whether compare and groupKey know a value that the database has returned. Values
// of a type with ranks are known if a row has them.
func (s *suite) isRanked(t record.Type, v any) bool {
	ranks := s.ranks[t]
	if ranks == nil || v == nil {
		return true
	}
	_, ok := ranks[equalText(t, v)]
	return ok
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
	return cells
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
