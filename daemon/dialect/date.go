package dialect

import (
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Values of SQL Server's datetime are multiples of 1/300 s, shown with 0, 3 or 7 as last
// digit of the milliseconds. Since 2016 the server compares the exact fraction with
// datetime2 values, so that a shown value is not equal to its column. Such columns are
// therefore compared with a datetime, which must be an existing value.
const datetimeType = "datetime"

const (
	datetimeLayout  = "2006-01-02T15:04:05.000" // of datetime literals
	minDatetimeYear = 1753
	maxDatetimeYear = 9999
)

// Date converts the operand of a comparison with a date column, and returns the type to
// cast it to, if any. For columns that hold every date it returns the operand itself.
func (d *Dialect) Date(c Column, op record.Operator, operand string) (castTo, fitted string) {
	date, err := time.Parse(wire.DateLayout, operand)
	if c.Type != datetimeType || err != nil {
		return d.DateType, operand
	}
	below, above := datetimeNeighbours(date)
	if below.Year() < minDatetimeYear {
		return d.DateType, operand
	}
	if below.Equal(date) {
		return datetimeType, below.Format(datetimeLayout)
	}
	if above.Year() > maxDatetimeYear {
		return d.DateType, operand
	}
	switch op {
	case record.Equal, record.NotEqualTo:
		return d.DateType, noDatetime(date)
	case record.GreaterThanOrEqualTo, record.LessThan:
		return datetimeType, above.Format(datetimeLayout)
	}
	return datetimeType, below.Format(datetimeLayout)
}

// datetimeNeighbours returns the datetime values around a date: the last that is not after it,
// and the next.
func datetimeNeighbours(date time.Time) (below, above time.Time) {
	start := date.Truncate(10 * time.Millisecond)
	below = start
	for _, ms := range []time.Duration{3, 7, 10} {
		above = start.Add(ms * time.Millisecond)
		if date.Before(above) {
			break
		}
		below = above
	}
	return below, above
}

// noDatetime returns a date close to another one that does not equal any datetime, however its last
// digit is interpreted.
func noDatetime(date time.Time) string {
	return date.Truncate(time.Second).Add(time.Millisecond).Format(wire.DateLayout)
}
