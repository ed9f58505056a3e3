package odata

import (
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Clock converts between dates and instants.
//
// A date is a time of a record: the reading of a clock on the wall, without a zone. An instant is a
// time in UTC. The offset of a zone is how far its clock is ahead of UTC. Both dates and instants
// are values of time.Time; a date looks as if it were in UTC. Examples from Europe/Berlin:
//
//	date                 instant               text of the instant
//	2024-07-01T12:00:00  2024-07-01T10:00:00Z  2024-07-01T12:00:00+02:00
//	2024-03-31T02:30:00  2024-03-31T01:00:00Z  2024-03-31T02:00:00+01:00
//	2024-10-27T02:30:00  2024-10-27T00:30:00Z  2024-10-27T02:30:00+02:00
//
// In March the clock is put forward from 02:00 to 03:00. It skips the dates between these, and
// each of them is converted to the instant of the change. In October the clock is put back from
// 03:00 to 02:00. It shows the dates between these twice, and each of them is converted to the
// first of its two instants; no date is converted to the second one, here 01:30:00Z. So a later
// date is never an earlier instant.
//
// An instant before the year 1 is replaced by the first instant of that year, and one after the
// year 9999 by the last instant of that year. Old dates are a case of their own: see standardTime.
//
// A Clock is used by one goroutine.
type Clock struct {
	zone     *time.Location
	standard standardTime
	recent   period // of the last date that was converted; the next one is probably in it, too
}

// NewClock returns the clock of a zone.
func NewClock(zone *time.Location) *Clock {
	standard, ok := standardTimes.Load(zone)
	if !ok {
		standard, _ = standardTimes.LoadOrStore(zone, newStandardTime(zone, time.Now()))
	}
	return &Clock{zone: zone, standard: standard.(standardTime)}
}

// period is a range of dates in which a zone has one offset. The zero period has no dates.
type period struct {
	from   time.Time // first date
	to     time.Time // after the last date
	offset time.Duration
}

func (p period) contains(date time.Time) bool {
	return !date.Before(p.from) && date.Before(p.to)
}

// standardTime is the start of the standard time of a zone: the end of its last offset that was not
// in whole minutes. The dates before are old. They are converted by the present standard offset
// instead of the offset of their time, for two reasons:
//   - The offset of their time has seconds, which the text of an instant cannot have.
//   - The blank dates of many programs are 1753-01-01 and 1900-01-01, and readers such as .NET
//     convert them back by the present offset. With another one they may be on another day.
//
// In Europe/Paris, for example, the standard time started at 1911-03-10T23:50:39Z, and the clock
// then showed 1911-03-10T23:50:39. The present standard offset is one hour:
//
//	date                 instant
//	1753-01-01T00:00:00  1752-12-31T23:00:00Z
//	1911-03-10T23:50:38  1911-03-10T22:50:38Z  the last old second
//	1911-03-10T23:50:39  1911-03-10T23:50:39Z  the start
//
// No date is converted to an instant between the last two.
//
// In other zones the old dates overlap the standard time. In America/Goose_Bay it started at
// 1935-03-30T03:30:52Z, the clock then showed 1935-03-30T00:00:52, and the present standard offset
// is -4 hours. By this offset the old dates from 1935-03-29T23:30:52 are instants after the start.
// The clock skips them: they are converted to the start.
type standardTime struct {
	start     time.Time     // the instant
	startDate time.Time     // the date that the clock showed at the start
	oldOffset time.Duration // the present standard offset, for old dates
}

// standardTimes has the standardTime of each zone that was used, by *time.Location.
var standardTimes sync.Map

// newStandardTime finds the start of the standard time of a zone. The first offset of a zone is not
// a standard time, even if it is in whole minutes. A zone that never had another has no old dates.
func newStandardTime(zone *time.Location, now time.Time) standardTime {
	s := standardTime{start: distantPast, startDate: distantPast}
	t := firstDate.Add(-maxOffset).In(zone)
	_, end := t.ZoneBounds()
	isFirst := true
	for !end.IsZero() && !end.After(now) {
		if isFirst || offsetAt(t)%time.Minute != 0 {
			s.start = end.UTC()
			s.startDate = s.start.Add(offsetAt(end))
		}
		isFirst = false
		t = end
		_, end = t.ZoneBounds()
	}

	winter := offsetAt(time.Date(now.Year(), 1, 1, 0, 0, 0, 0, zone))
	summer := offsetAt(time.Date(now.Year(), 7, 1, 0, 0, 0, 0, zone))
	s.oldOffset = min(winter, summer)
	return s
}

// offsetAt returns the offset of the zone of t at that instant.
func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// tick is the precision of dates.
const tick = 100 * time.Nanosecond

// The first and last date, and also the first and last instant.
var (
	firstDate = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-tick)
)

// distantPast is before all dates and instants that a text can have.
var distantPast = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)

// maxOffset is greater than the offset of any zone.
const maxOffset = 26 * time.Hour

// instant returns the instant to which a date is converted. If the clock skips the date, that is
// the instant of the change.
func (c *Clock) instant(date time.Time) (instant time.Time, skipped bool) {
	if date.Before(c.standard.startDate) {
		return c.standard.oldInstant(date)
	}

	// Try one period of the zone after the other, from one that starts before the date.
	t := date.Add(-maxOffset).In(c.zone)
	if t.Before(c.standard.start) {
		t = c.standard.start.In(c.zone)
	}
	for {
		start, end := t.ZoneBounds()
		if !end.IsZero() && !end.After(t) {
			// ZoneBounds counts 365 days in each year that follows a rule, so that on the
			// last day of a leap year the end is in the past.
			end = end.Add(24 * time.Hour)
		}
		instant = date.Add(-offsetAt(t))
		if !end.IsZero() && !instant.Before(end) {
			t = end
			continue
		}
		if !start.IsZero() && instant.Before(start) {
			return start.UTC(), true
		}
		c.recent = newPeriod(start, end, offsetAt(t))
		return instant, false
	}
}

// oldInstant returns the instant of an old date, as instant does.
func (s standardTime) oldInstant(date time.Time) (instant time.Time, skipped bool) {
	instant = date.Add(-s.oldOffset)
	if !instant.Before(s.start) {
		return s.start, true
	}
	return instant, false
}

// newPeriod returns the dates between two changes of a zone, which are zero for none. All of them
// are instants in the years 1 to 9999.
func newPeriod(start, end time.Time, offset time.Duration) period {
	p := period{
		from:   firstDate.Add(offset),
		to:     lastDate.Add(tick + offset),
		offset: offset,
	}
	if !start.IsZero() {
		// Dates that the clock shows twice are in the period before.
		before := offsetAt(start.Add(-time.Second))
		p.from = start.UTC().Add(max(offset, before))
	}
	if !end.IsZero() && end.Before(lastDate) {
		p.to = end.UTC().Add(offset)
	}
	return p
}

// Append appends the instant of a date as text with an offset. The date has the form of package
// row. Other text is appended unchanged.
func (c *Clock) Append(dst, text []byte) []byte {
	date, ok := readDate(text)
	if !ok {
		return append(dst, text...)
	}
	if c.recent.contains(date) {
		dst = append(dst, text...)
		return appendOffset(dst, c.recent.offset)
	}

	instant, skipped := c.instant(date)
	switch {
	case instant.Before(firstDate):
		return append(firstDate.AppendFormat(dst, wire.DateLayout), 'Z')
	case instant.After(lastDate):
		return append(lastDate.AppendFormat(dst, wire.DateLayout), 'Z')
	case skipped:
		return c.appendChange(dst, instant, date)
	}
	dst = append(dst, text...)
	return appendOffset(dst, date.Sub(instant))
}

// appendOffset appends an offset in whole minutes, such as +01:00, or Z for none.
func appendOffset(dst []byte, offset time.Duration) []byte {
	if offset == 0 {
		return append(dst, 'Z')
	}
	sign := byte('+')
	if offset < 0 {
		sign = '-'
		offset = -offset
	}
	hours, minutes := byte(offset/time.Hour), byte(offset/time.Minute%60)
	return append(dst, sign, '0'+hours/10, '0'+hours%10, ':', '0'+minutes/10, '0'+minutes%10)
}

// appendChange appends the instant at which the clock skipped a date. The text has the offset
// before the change, or the one after it if only that has the day of the date.
func (c *Clock) appendChange(dst []byte, change, date time.Time) []byte {
	before := offsetAt(change.Add(-time.Second).In(c.zone))
	if change.Equal(c.standard.start) {
		before = c.standard.oldOffset
	}
	shown := change.In(time.FixedZone("", int(before/time.Second)))
	if shown.Format(time.DateOnly) != date.Format(time.DateOnly) {
		shown = change.In(c.zone)
	}
	return shown.AppendFormat(dst, wire.DateLayout+"Z07:00")
}

// readDate reads a date in the form of package row without the fraction of its second, which
// makes no difference to the offset. It fails for another text, and for a date or a time that
// does not exist.
func readDate(text []byte) (date time.Time, ok bool) {
	if !hasLayout(text) {
		return time.Time{}, false
	}
	year := wholeNumber(text[0:4])
	month := wholeNumber(text[5:7])
	day := wholeNumber(text[8:10])
	hour := wholeNumber(text[11:13])
	minute := wholeNumber(text[14:16])
	second := wholeNumber(text[17:19])
	if month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	date = time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return date, date.Day() == day // time.Date makes 2 March of 30 February
}

// wholeNumber returns the value of digits.
func wholeNumber(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// hasLayout reports whether a text has the digits and separators of wire.DateLayout in their places.
func hasLayout(text []byte) bool {
	if len(text) != len(wire.DateLayout) {
		return false
	}
	for i, c := range text {
		if isDigit(wire.DateLayout[i]) {
			if !isDigit(c) {
				return false
			}
		} else if c != wire.DateLayout[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// dateRange has the dates that are converted to one instant. If there are none, the range is empty,
// and the instant lies between those of two adjacent dates.
type dateRange struct {
	isEmpty bool
	first   time.Time // of an empty range: the date after it
	last    time.Time // of an empty range: the date before it
}

// oneDate returns the range of one date.
func oneDate(date time.Time) dateRange {
	return dateRange{first: date, last: date}
}

// noDate returns the empty range before a date.
func noDate(next time.Time) dateRange {
	return dateRange{isEmpty: true, first: next, last: next.Add(-tick)}
}

// dates returns the dates that are converted to an instant, which must be in whole ticks.
func (c *Clock) dates(instant time.Time) dateRange {
	if instant.Before(firstDate) {
		return noDate(firstDate)
	}
	if instant.After(lastDate) {
		return noDate(lastDate.Add(tick))
	}

	var dates dateRange
	if instant.After(c.standard.start) {
		dates = c.standardDates(instant)
	} else {
		dates = c.standard.oldDates(instant)
	}

	// The first instant replaces all instants before it, and the last one all after it. So they
	// have all dates up to, or from, the one that the clock shows, if that is in the years 1 to 9999.
	if instant.Equal(firstDate) {
		if dates.last.Before(firstDate) {
			return noDate(firstDate)
		}
		dates.first = firstDate
	}
	if instant.Equal(lastDate) {
		if dates.first.After(lastDate) {
			return noDate(lastDate.Add(tick))
		}
		dates.last = lastDate
	}
	return dates
}

// standardDates is dates for an instant after the start of the standard time.
func (c *Clock) standardDates(instant time.Time) dateRange {
	instant = instant.In(c.zone)
	offset := offsetAt(instant)
	date := instant.UTC().Add(offset)
	change, _ := instant.ZoneBounds() // the last one before the instant, or at it
	if change.IsZero() || !change.After(c.standard.start) {
		return oneDate(date)
	}

	offsetBefore := offsetAt(change.Add(-time.Second))
	dateBefore := change.UTC().Add(offsetBefore) // from which the clock was put forward or back
	if instant.Sub(change) < offsetBefore-offset {
		// The clock was put back, and shows a date that it has shown before the change. The next
		// date that it shows for the first time is the one from which it was put back.
		return noDate(dateBefore)
	}
	if instant.Equal(change) && offset > offsetBefore {
		// The clock is put forward. The dates that it skips are converted to this instant, too.
		return dateRange{first: dateBefore, last: date}
	}
	return oneDate(date)
}

// oldDates is dates for an instant before the start of the standard time, or at it.
func (s standardTime) oldDates(instant time.Time) dateRange {
	date := instant.UTC().Add(s.oldOffset)
	isOld := date.Before(s.startDate)
	isStart := instant.Equal(s.start)
	switch {
	case isStart && isOld:
		// The old dates that the clock skips are converted to this instant, too.
		return dateRange{first: date, last: s.startDate}
	case isStart:
		return oneDate(s.startDate)
	case isOld:
		return oneDate(date)
	}
	// The last old date was an earlier instant, and the next date is the one at the start.
	return noDate(s.startDate)
}
