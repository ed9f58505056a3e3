package query

import (
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
)

// meets reports whether a date meets a condition on dates, which have the order of their texts.
func meets(c Condition, date string) bool {
	operand := func(i int) string { return c.Operands[i].Text }
	switch c.Operator {
	case record.Equal:
		return date == operand(0)
	case record.NotEqualTo:
		return date != operand(0)
	case record.GreaterThan:
		return date > operand(0)
	case record.GreaterThanOrEqualTo:
		return date >= operand(0)
	case record.LessThan:
		return date < operand(0)
	case record.LessThanOrEqualTo:
		return date <= operand(0)
	case record.Between:
		return date >= operand(0) && date <= operand(1)
	}
	for i := range c.Operands {
		if date == operand(i) {
			return true
		}
	}
	return false
}

// TestDatesWithMoreDigits checks that a condition on a date with nine fraction digits is met by the
// dates that it is true of, which have seven.
func TestDatesWithMoreDigits(t *testing.T) {
	dates := []string{
		firstDate,
		"2026-01-02T10:11:12.1234566",
		"2026-01-02T10:11:12.1234567",
		"2026-01-02T10:11:12.1234568",
		lastDate,
	}
	const (
		between = "2026-01-02t10:11:12.123456789z" // between dates 2 and 3
		exact   = "2026-01-02T10:11:12.123456700"  // date 2
	)
	for _, c := range []struct {
		operator record.Operator
		texts    []string
		want     []int // indexes of dates
	}{
		{record.Equal, []string{between}, nil},
		{record.Equal, []string{exact}, []int{2}},
		{record.NotEqualTo, []string{between}, []int{0, 1, 2, 3, 4}},
		{record.GreaterThan, []string{between}, []int{3, 4}},
		{record.GreaterThanOrEqualTo, []string{between}, []int{3, 4}},
		{record.LessThan, []string{between}, []int{0, 1, 2}},
		{record.LessThanOrEqualTo, []string{between}, []int{0, 1, 2}},
		{record.LessThan, []string{"9999-12-31T23:59:59.99999999"}, []int{0, 1, 2, 3, 4}},
		{record.In, []string{between, exact}, []int{2}},
		{record.In, []string{between}, nil},
		{record.Between, []string{exact, between}, []int{2}},
		{record.Between, []string{between, lastDate}, []int{3, 4}},
		{record.Between, []string{between, between}, nil},
		{record.Between, []string{"9999-12-31T23:59:59.99999999", lastDate}, nil},
	} {
		condition, err := dateCondition(c.operator, c.texts, time.UTC)
		if err != nil {
			t.Errorf("%s %v: %v", c.operator, c.texts, err)
			continue
		}
		var got []int
		for i, date := range dates {
			if meets(condition, date) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %v is %+v: it finds the dates %v, want %v", c.operator, c.texts, condition, got, c.want)
		}
	}
}
