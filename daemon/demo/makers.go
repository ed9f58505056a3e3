package demo

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// key generates the primary keys of a kind.
func key(id func(table string, n int) string) maker {
	return func(r row) any { return id(r.kind, r.n) }
}

// numbered generates ascending texts such as KST-000123.
func numbered(format string) maker {
	return func(r row) any { return fmt.Sprintf(format, r.n+1) }
}

// each generates the values of a list in their order, and then nil.
func each(values []any) maker {
	return func(r row) any {
		if r.n >= len(values) {
			return nil
		}
		return values[r.n]
	}
}

// memberOf generates the id of a random member of a list.
func memberOf(l list) maker {
	return func(r row) any { return l.at(r.fieldRandom().IntN(l.size)) }
}

// oneOf generates a random text of a list.
func oneOf(from []string) maker {
	return func(r row) any { return pick(r.fieldRandom(), from) }
}

// phrase generates a sentence from a random template.
func phrase(templates []string) maker {
	return func(r row) any {
		d := r.fieldRandom()
		return expandTemplate(d, pick(d, templates))
	}
}

// expandTemplate replaces the placeholders of a template by names and numbers.
func expandTemplate(d *rand.Rand, template string) string {
	return strings.NewReplacer(
		"{name}", pick(d, names),
		"{company}", pick(d, companies),
		"{town}", pick(d, towns),
		"{class}", pick(d, classes),
		"{no}", strconv.Itoa(10000+d.IntN(90000)),
		"{few}", strconv.Itoa(2+d.IntN(18)),
	).Replace(template)
}

// optional replaces some values by nil.
func optional(percent int, m maker) maker {
	return instead(percent, nil, m)
}

// blank replaces some values by empty text.
func blank(percent int, m maker) maker {
	return instead(percent, "", m)
}

func instead(percent int, value any, m maker) maker {
	return func(r row) any {
		if r.random(fmt.Sprint(r.field, " instead ", value)).IntN(100) < percent {
			return value
		}
		return m(r)
	}
}

// randomBool generates true for a percentage of the rows.
func randomBool(percent int) maker {
	return func(r row) any { return boolToInt(r.fieldRandom().IntN(100) < percent) }
}

func boolToInt(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// number generates integers from lo to hi.
func number(lo, hi int) maker {
	return func(r row) any { return int64(lo + r.fieldRandom().IntN(hi-lo+1)) }
}

// amount is a decimal with four fractional digits, as in decimal(19,4).
type amount int64

// Units of amounts.
const (
	cent amount = 100
	unit amount = 10000
)

// String returns the amount with four fractional digits.
func (a amount) String() string {
	sign := ""
	if a < 0 {
		sign = "-"
		a = -a
	}
	return fmt.Sprintf("%s%d.%04d", sign, a/unit, a%unit)
}

// money generates amounts from lo to hi.
func money(lo, hi, step amount) maker {
	return func(r row) any { return between(r.fieldRandom(), lo, hi, step).String() }
}

func between(d *rand.Rand, lo, hi, step amount) amount {
	return lo + step*amount(d.Int64N(int64((hi-lo)/step)+1))
}

// The period of the records.
var (
	opened = time.Date(2019, 1, 7, 0, 0, 0, 0, time.UTC)
	closed = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
)

// workday returns the date of a row's transaction: ascending by row within a fortnight, and
// not at weekends.
func workday(r row) time.Time {
	const fortnight = 14
	days := int(closed.Sub(opened).Hours())/24 - 2*fortnight
	day := opened.AddDate(0, 0, r.n*days/r.of+r.random("workday").IntN(2*fortnight))
	switch day.Weekday() {
	case time.Saturday:
		return day.AddDate(0, 0, -1)
	case time.Sunday:
		return day.AddDate(0, 0, 1)
	}
	return day
}

// day generates the date of a row's transaction.
func day(r row) any { return workday(r).Format(wire.DateLayout) }

// saved generates the time at which a row was last saved, at most ten days after the
// transaction, in the 1/300 s steps of SQL Server's datetime.
func saved(r row) any {
	d := r.random("saved")
	tick := pick(d, []int{0, 3, 7})
	return savedAt(r, time.Duration(d.IntN(100)*10+tick)*time.Millisecond)
}

// savedExactly is saved in the 100 ns steps of datetime2.
func savedExactly(r row) any {
	return savedAt(r, time.Duration(r.random("saved exactly").IntN(10_000_000))*100)
}

func savedAt(r row, fraction time.Duration) string {
	d := r.random("saved at")
	at := workday(r).AddDate(0, 0, d.IntN(2)*d.IntN(11))
	at = at.Add(7*time.Hour + time.Duration(d.IntN(11*3600))*time.Second)
	return at.Add(fraction).Format(wire.DateLayout)
}

// group assigns rows to groups, such as the lines of a document: row n is the line, from 1,
// of the group, from 0. The sizes of the groups repeat.
func group(n int, sizes ...int) (group, line int) {
	round := 0
	for _, size := range sizes {
		round += size
	}
	group = n / round * len(sizes)
	n %= round
	for _, size := range sizes {
		if n < size {
			break
		}
		group++
		n -= size
	}
	return group, n + 1
}

// parent generates the id of the record of which a row is a line.
func parent(l list, sizes []int) maker {
	return func(r row) any {
		g, _ := group(r.n, sizes...)
		return l.at(g)
	}
}

// line generates the number of a row within its parent.
func line(sizes []int) maker {
	return func(r row) any {
		_, line := group(r.n, sizes...)
		return int64(line)
	}
}

// rowVersion generates the eight bytes of SQL Server's rowversion, a counter of all changes
// in the database.
func rowVersion(r row) any {
	return binary.BigEndian.AppendUint64(nil, uint64(2_000_000+r.n*37+r.fieldRandom().IntN(37)))
}
