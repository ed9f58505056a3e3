package query

import (
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// The first and the last value of a date.
const (
	firstDate = "0001-01-01T00:00:00.0000000"
	lastDate  = "9999-12-31T23:59:59.9999999"
)

// dateCondition returns the condition that compares a field with dates. Fields have seven
// fraction digits. A date with more lies between two of their values: it equals none of them,
// and is compared as the value before it.
func dateCondition(o record.Operator, texts []string, zone *time.Location) (Condition, error) {
	c := Condition{Operator: o}
	allExact := true
	for i, text := range texts {
		date, isExact, err := wire.FloorDate(text, zone)
		if err != nil {
			return Condition{}, err
		}
		allExact = allExact && isExact
		if o == record.In && !isExact {
			continue
		}
		isStart := o == record.Between && i == 0
		if isStart && !isExact {
			date = dateAfter(date)
		}
		c.Operands = append(c.Operands, wire.Value{Text: date})
	}
	if allExact {
		return c, nil
	}

	none := Condition{Operator: record.Between, Operands: []wire.Value{{Text: lastDate}, {Text: firstDate}}}
	switch o {
	case record.GreaterThanOrEqualTo:
		c.Operator = record.GreaterThan
	case record.LessThan:
		c.Operator = record.LessThanOrEqualTo
	case record.NotEqualTo:
		c = Condition{Operator: record.GreaterThanOrEqualTo, Operands: []wire.Value{{Text: firstDate}}}
	case record.Equal:
		c = none
	case record.In:
		if len(c.Operands) == 0 {
			c = none
		}
	case record.Between:
		if c.Operands[0].Text == "" {
			c = none
		}
	}
	return c, nil
}

// dateAfter returns the value after a date in the form of wire.DateLayout, empty for the last one.
func dateAfter(date string) string {
	t, err := time.Parse(wire.DateLayout, date)
	if err != nil || date == lastDate {
		return ""
	}
	return t.Add(100 * time.Nanosecond).Format(wire.DateLayout)
}
