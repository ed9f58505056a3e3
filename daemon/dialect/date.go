package dialect

import (
	"time"

	"github.com/bizhook/whd/client/record"
)

// Values of SQL Server's datetime lie 3 or 4 ms apart: their last digit is 0, 3
// or 7, which is how they are shown, though 3 stands for a third of a hundredth
// of a second. Since 2016 the server compares that third, so that a value as it
// was shown equals nothing, and is less than itself. Such columns are therefore
// compared with a datetime, which must be one that exists.
const oldDate = "datetime"

const (
	layout    = "2006-01-02T15:04:05.0000000" // that of operands
	oldLayout = "2006-01-02T15:04:05.000"     // that a datetime is read from
	oldYear   = 1753                          // the first of datetime
)

// Date fits the operand of a comparison to a column, and says which type it is
// cast to, if any. For a column that holds every date that is the operand
// itself.
func (d *Dialect) Date(c Column, op record.Operator, operand string) (castTo, fitted string) {
	at, err := time.Parse(layout, operand)
	if c.Type != oldDate || err != nil {
		return d.DateType, operand
	}
	below, above := oldNeighbours(at)
	exists := below.Equal(at)
	switch {
	case below.Year() < oldYear || above.Year() > 9999:
		return d.DateType, operand // so far out that the third makes no difference
	case !exists && (op == record.Equal || op == record.NotEqualTo):
		return d.DateType, neverOld(at)
	case !exists && (op == record.GreaterThanOrEqualTo || op == record.LessThan):
		return oldDate, above.Format(oldLayout)
	}
	return oldDate, below.Format(oldLayout)
}

// oldNeighbours are the datetimes around a date: the last that is not after it,
// and the next.
func oldNeighbours(at time.Time) (below, above time.Time) {
	start := at.Truncate(10 * time.Millisecond)
	below = start
	for _, ms := range []time.Duration{3, 7, 10} {
		if above = start.Add(ms * time.Millisecond); at.Before(above) {
			break
		}
		below = above
	}
	return below, above
}

// neverOld is a date near another that no datetime equals, whatever its last
// digit is taken for.
func neverOld(at time.Time) string {
	return at.Truncate(time.Second).Add(time.Millisecond).Format(layout)
}
