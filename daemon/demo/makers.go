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

// key makes the ids of the kind itself; migrated is the pattern of those of
// the extreme rows.
func key(id func(table string, n int) string, migrated string) maker {
	return func(r row) any {
		if r.extreme > 0 {
			return fmt.Sprintf(migrated, r.extreme)
		}
		return id(r.kind, r.n)
	}
}

// numbered makes texts that count up, such as KST-000123.
func numbered(format string) maker {
	return func(r row) any { return fmt.Sprintf(format, r.n+1) }
}

// one makes the id of some member of a list.
func one(l list) maker {
	return func(r row) any { return l.at(r.own().IntN(l.size)) }
}

// words makes one of some texts.
func words(from []string) maker {
	return func(r row) any { return pick(r.own(), from) }
}

// phrase makes a sentence from one of some templates.
func phrase(templates []string) maker {
	return func(r row) any {
		d := r.own()
		return fill(d, pick(d, templates))
	}
}

// fill puts names and numbers in the places of a template.
func fill(d *rand.Rand, template string) string {
	return strings.NewReplacer(
		"{person}", pick(d, people),
		"{company}", pick(d, companies),
		"{town}", pick(d, towns),
		"{class}", pick(d, classes),
		"{no}", strconv.Itoa(10000+d.IntN(90000)),
		"{few}", strconv.Itoa(2+d.IntN(18)),
	).Replace(template)
}

// optional leaves some values out.
func optional(percent int, m maker) maker {
	return instead(percent, nil, m)
}

// blank empties some values.
func blank(percent int, m maker) maker {
	return instead(percent, "", m)
}

func instead(percent int, value any, m maker) maker {
	return func(r row) any {
		if r.dice(fmt.Sprint(r.field, " instead ", value)).IntN(100) < percent {
			return value
		}
		return m(r)
	}
}

// chance is true for some rows.
func chance(percent int) maker {
	return func(r row) any { return truth(r.own().IntN(100) < percent) }
}

func truth(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// number makes whole numbers from lo to hi.
func number(lo, hi int) maker {
	return func(r row) any { return int64(lo + r.own().IntN(hi-lo+1)) }
}

// amount is a decimal with four fraction digits, as decimal(19,4) holds it.
type amount int64

// The units that amounts are made of.
const (
	cent amount = 100
	unit amount = 10000
)

// String is the amount's digits, with all four of the fraction.
func (a amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	return fmt.Sprintf("%s%d.%04d", sign, a/unit, a%unit)
}

// money makes amounts from lo to hi.
func money(lo, hi, step amount) maker {
	return func(r row) any { return between(r.own(), lo, hi, step).String() }
}

func between(d *rand.Rand, lo, hi, step amount) amount {
	return lo + step*amount(d.Int64N(int64((hi-lo)/step)+1))
}

// The time that the records span.
var (
	opened = time.Date(2019, 1, 7, 0, 0, 0, 0, time.UTC)
	closed = time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC)
)

// workday is the day on which a row's business took place: later rows are
// later, give or take a fortnight, and nobody works at the weekend.
func workday(r row) time.Time {
	const fortnight = 14
	days := int(closed.Sub(opened).Hours())/24 - 2*fortnight
	day := opened.AddDate(0, 0, r.n*days/r.of+r.dice("workday").IntN(2*fortnight))
	switch day.Weekday() {
	case time.Saturday:
		return day.AddDate(0, 0, -1)
	case time.Sunday:
		return day.AddDate(0, 0, 1)
	}
	return day
}

// day makes the day of a row's business.
func day(r row) any { return workday(r).Format(wire.DateLayout) }

// saved makes the time at which a row was last saved, at most ten days after
// the business, in the 1/300 s steps of SQL Server's datetime.
func saved(r row) any {
	d := r.dice("saved")
	tick := pick(d, []int{0, 3, 7})
	return savedAt(r, time.Duration(d.IntN(100)*10+tick)*time.Millisecond)
}

// savedExactly is saved with the 100 ns steps of datetime2.
func savedExactly(r row) any {
	return savedAt(r, time.Duration(r.dice("saved exactly").IntN(10_000_000))*100)
}

func savedAt(r row, fraction time.Duration) string {
	d := r.dice("saved at")
	at := workday(r).AddDate(0, 0, d.IntN(2)*d.IntN(11))
	at = at.Add(7*time.Hour + time.Duration(d.IntN(11*3600))*time.Second)
	return at.Add(fraction).Format(wire.DateLayout)
}

// group makes rows come in groups, such as the lines of a document: row n is
// line number line, from 1, of group number group, from 0. The sizes of the
// groups repeat.
func group(n int, sizes ...int) (group, line int) {
	round := 0
	for _, size := range sizes {
		round += size
	}
	group, n = n/round*len(sizes), n%round
	for _, size := range sizes {
		if n < size {
			break
		}
		group, n = group+1, n-size
	}
	return group, n + 1
}

// parent makes the id of what a row is a line of.
func parent(l list, sizes []int) maker {
	return func(r row) any {
		g, _ := group(r.n, sizes...)
		return l.at(g)
	}
}

// line makes the number of a row within its parent.
func line(sizes []int) maker {
	return func(r row) any {
		_, line := group(r.n, sizes...)
		return int64(line)
	}
}

// rowVersion makes the eight bytes of SQL Server's rowversion, which counts
// every change in the database.
func rowVersion(r row) any {
	return binary.BigEndian.AppendUint64(nil, uint64(2_000_000+r.n*37+r.own().IntN(37)))
}
