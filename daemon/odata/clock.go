package odata

import (
	"math"
	"sync"
	"time"
)

// Clock converts the dates of records, which have no zone, to instants. The conversion never
// decreases: a time that exists twice is its first instant, and one that does not exist is the
// instant of the change. Dates outside of the years 1 to 9999 in UTC are the limits of these.
// A Clock is used by one goroutine.
//
// Before there was a standard time, zones differed from UTC by minutes and seconds, which a
// text cannot have. Readers such as .NET also convert old dates by the present offset, and the
// blank dates of many programs are 1753-01-01 and 1900-01-01. So these times have the present
// standard offset, as far as the instants do not follow the first one of the standard time.
type Clock struct {
	zone     *time.Location
	standard standardTime

	// The period of the zone that was used last: dates from from, before to, are ahead of UTC. All
	// three are in seconds. The range is empty before the first use.
	from, to, ahead int64
}

// standardTime is the start of the standard time of a zone. All fields are in seconds.
type standardTime struct {
	start   int64 // the instant of the start
	date    int64 // the date that the clock showed at the start
	present int64 // the offset of the present standard time
}

// standardTimes has the standardTime of each zone that was used, by *time.Location.
var standardTimes sync.Map

// NewClock returns the clock of a zone.
func NewClock(zone *time.Location) *Clock {
	standard, ok := standardTimes.Load(zone)
	if !ok {
		standard, _ = standardTimes.LoadOrStore(zone, newStandardTime(zone, time.Now()))
	}
	return &Clock{zone: zone, standard: standard.(standardTime)}
}

// newStandardTime finds the end of the last period of a zone with an offset that is not in whole
// minutes. The first period never is a standard time.
func newStandardTime(zone *time.Location, now time.Time) standardTime {
	s := standardTime{start: math.MinInt64, date: math.MinInt64}
	period := time.Unix(firstDate.Unix()-maxAhead, 0).In(zone)
	_, end := period.ZoneBounds()
	isFirst := true
	for !end.IsZero() && !end.After(now) {
		_, ahead := period.Zone()
		if isFirst || ahead%60 != 0 {
			_, next := end.Zone()
			s.start = end.Unix()
			s.date = end.Unix() + int64(next)
		}
		isFirst = false
		period = end
		_, end = period.ZoneBounds()
	}

	_, winter := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, zone).Zone()
	_, summer := time.Date(now.Year(), 7, 1, 0, 0, 0, 0, zone).Zone()
	s.present = int64(min(winter, summer))
	return s
}

const (
	tick       = 100 * time.Nanosecond
	dateLayout = "2006-01-02T15:04:05.0000000"
)

// The first and last date, as if it were in UTC, and also the first and last instant.
var (
	firstDate = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-tick)
)

// maxAhead is more seconds than any zone is ahead of UTC.
const maxAhead = 26 * 60 * 60

// instant returns the first instant at which the clock shows a date or a later one: that of a
// change if the clock skips the date. Dates and instants are in seconds.
func (c *Clock) instant(date int64) (instant int64, skipped bool) {
	if date >= c.from && date < c.to {
		return date - c.ahead, false
	}
	if date < c.standard.date {
		instant = date - c.standard.present
		skipped = instant >= c.standard.start
		return min(instant, c.standard.start), skipped
	}

	// Try one period of the zone after the other, from one that starts before the date.
	t := time.Unix(max(date-maxAhead, c.standard.start), 0).In(c.zone)
	for {
		start, end := t.ZoneBounds()
		if !end.IsZero() && !end.After(t) {
			// ZoneBounds counts 365 days in each year that follows a rule, so that on the
			// last day of a leap year the end is in the past.
			end = end.Add(24 * time.Hour)
		}
		_, ahead := t.Zone()
		instant = date - int64(ahead)
		if !end.IsZero() && instant >= end.Unix() {
			t = end
			continue
		}
		if !start.IsZero() && instant < start.Unix() {
			return start.Unix(), true
		}
		c.keepPeriod(start, end, int64(ahead))
		return instant, false
	}
}

// keepPeriod keeps the dates of a period of the zone, for the next dates. A period without
// a start or an end has no limit there.
func (c *Clock) keepPeriod(start, end time.Time, ahead int64) {
	c.ahead = ahead
	c.from = math.MinInt64
	if !start.IsZero() {
		// Dates that exist twice are those of the period before.
		_, before := start.Add(-time.Second).Zone()
		c.from = start.Unix() + max(ahead, int64(before))
	}
	c.to = math.MaxInt64
	if !end.IsZero() {
		c.to = end.Unix() + ahead
	}
}

// Append appends a date in the form of package row as an instant in the zone. Other text is
// appended unchanged.
func (c *Clock) Append(dst, date []byte) []byte {
	seconds, ok := readSeconds(date)
	if !ok {
		return append(dst, date...)
	}
	instant, skipped := c.instant(seconds)
	switch {
	case instant < firstDate.Unix():
		return append(firstDate.AppendFormat(dst, dateLayout), 'Z')
	case instant > lastDate.Unix():
		return append(lastDate.AppendFormat(dst, dateLayout), 'Z')
	case skipped:
		return c.appendChange(dst, instant, seconds)
	}
	dst = append(dst, date...)
	return appendOffset(dst, seconds-instant)
}

// appendOffset appends an offset from UTC in seconds, such as +01:00, or Z for none.
func appendOffset(dst []byte, ahead int64) []byte {
	if ahead == 0 {
		return append(dst, 'Z')
	}
	sign := byte('+')
	if ahead < 0 {
		sign = '-'
		ahead = -ahead
	}
	hours, minutes := byte(ahead/3600), byte(ahead/60%60)
	return append(dst, sign, '0'+hours/10, '0'+hours%10, ':', '0'+minutes/10, '0'+minutes%10)
}

// appendChange appends the instant at which the clock skipped a date, with the offset before or
// after the change, so that the text has the day of the date.
func (c *Clock) appendChange(dst []byte, instant, date int64) []byte {
	_, ahead := time.Unix(instant-1, 0).In(c.zone).Zone()
	if instant == c.standard.start {
		ahead = int(c.standard.present)
	}
	change := time.Unix(instant, 0).In(time.FixedZone("", ahead))
	if change.Format(time.DateOnly) != time.Unix(date, 0).UTC().Format(time.DateOnly) {
		change = change.In(c.zone)
	}
	return change.AppendFormat(dst, dateLayout+"Z07:00")
}

// readSeconds reads a date in the form of package row up to its seconds. It fails for another
// text, and for a date or a time that does not exist.
func readSeconds(date []byte) (int64, bool) {
	if !hasLayout(date) {
		return 0, false
	}
	year := wholeNumber(date[0:4])
	month := wholeNumber(date[5:7])
	day := wholeNumber(date[8:10])
	hour := wholeNumber(date[11:13])
	minute := wholeNumber(date[14:16])
	second := wholeNumber(date[17:19])
	if month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t.Unix(), t.Day() == day // time.Date makes 2 March of 30 February
}

// wholeNumber returns the value of digits.
func wholeNumber(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// hasLayout reports whether a text has the digits and separators of dateLayout in their places.
func hasLayout(date []byte) bool {
	if len(date) != len(dateLayout) {
		return false
	}
	for i, c := range date {
		if isDigit(dateLayout[i]) {
			if !isDigit(c) {
				return false
			}
		} else if c != dateLayout[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// dates returns the first date that is not before an instant, and the last one that is not
// after it, as if they were in UTC. No date is the instant if the first is after the last.
func (c *Clock) dates(instant time.Time) (first, last time.Time) {
	if instant.Before(firstDate) {
		return firstDate, firstDate.Add(-tick)
	}
	if instant.After(lastDate) {
		return lastDate.Add(tick), lastDate
	}
	if instant.Unix() <= c.standard.start {
		return c.oldDates(instant)
	}

	first, last = c.datesInPeriod(instant.In(c.zone))
	if instant.Equal(firstDate) {
		first = firstDate
	}
	if instant.Equal(lastDate) {
		last = lastDate
	}
	return first, last
}

// datesInPeriod is dates for an instant in the zone, after the first one of the standard time.
func (c *Clock) datesInPeriod(instant time.Time) (first, last time.Time) {
	_, ahead := instant.Zone()
	date := instant.UTC().Add(time.Duration(ahead) * time.Second)
	start, _ := instant.ZoneBounds()
	if start.IsZero() || start.Unix() <= c.standard.start {
		return date, date
	}

	_, before := start.Add(-time.Second).Zone()
	changedAt := start.UTC().Add(time.Duration(before) * time.Second) // the date at the change
	back := time.Duration(before-ahead) * time.Second
	if back > 0 && instant.Sub(start) < back {
		// The clock shows the dates of the hours before the change a second time.
		return changedAt, changedAt.Add(-tick)
	}
	if back < 0 && instant.Equal(start) {
		return changedAt, date // the dates that the clock skips are this instant, too
	}
	return date, date
}

// oldDates is dates for an instant up to the first one of the standard time.
func (c *Clock) oldDates(instant time.Time) (first, last time.Time) {
	date := instant.UTC().Add(time.Duration(c.standard.present) * time.Second)
	standard := time.Unix(c.standard.date, 0).UTC() // the first date with the standard time
	inFirstSecond := instant.Unix() == c.standard.start
	isStart := inFirstSecond && instant.Nanosecond() == 0
	switch {
	case isStart && date.Before(standard): // the clock skips the dates until then
		first, last = date, standard
	case isStart:
		first, last = standard, standard
	case inFirstSecond:
		first = standard.Add(time.Duration(instant.Nanosecond()))
		last = first
	case !date.Before(standard): // the clock does not show it
		first, last = standard, standard.Add(-tick)
	default:
		first, last = date, date
	}
	if instant.Equal(firstDate) {
		first = firstDate
	}
	return first, last
}
