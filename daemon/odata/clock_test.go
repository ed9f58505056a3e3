package odata

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// shown returns the text and the instant of a date.
func shown(t rapid.TB, c *Clock, date time.Time) (string, time.Time) {
	text := string(c.Append(nil, []byte(date.Format(wire.DateLayout))))
	at, err := time.Parse("2006-01-02T15:04:05Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return text, at
}

func TestDates(t *testing.T) {
	for _, c := range []struct{ zone, date, want string }{
		{
			zone: "Australia/Sydney",
			date: "2019-05-01T10:11:12.1230000",
			want: "2019-05-01T10:11:12.1230000+10:00",
		},
		{
			zone: "Australia/Sydney",
			date: "2019-01-01T00:00:00.0000000",
			want: "2019-01-01T00:00:00.0000000+11:00",
		},
		// Exists twice.
		{
			zone: "Australia/Sydney",
			date: "2019-04-07T02:30:00.5000000",
			want: "2019-04-07T02:30:00.5000000+11:00",
		},
		{
			zone: "Australia/Sydney",
			date: "2019-04-07T03:00:00.0000000",
			want: "2019-04-07T03:00:00.0000000+10:00",
		},
		// Does not exist.
		{
			zone: "Australia/Sydney",
			date: "2019-10-06T02:30:00.5000000",
			want: "2019-10-06T02:00:00.0000000+10:00",
		},
		{
			zone: "Australia/Sydney",
			date: "2019-10-06T03:00:00.0000000",
			want: "2019-10-06T03:00:00.0000000+11:00",
		},
		{
			zone: "Europe/Berlin",
			date: "2024-07-01T12:00:00.0000000",
			want: "2024-07-01T12:00:00.0000000+02:00",
		},
		{
			zone: "Europe/Berlin",
			date: "2024-03-31T02:30:00.0000000",
			want: "2024-03-31T02:00:00.0000000+01:00",
		},
		{
			zone: "Europe/Berlin",
			date: "2024-10-27T02:30:00.0000000",
			want: "2024-10-27T02:30:00.0000000+02:00",
		},
		{
			zone: "Europe/Berlin",
			date: "2040-07-01T00:00:00.0000000",
			want: "2040-07-01T00:00:00.0000000+02:00",
		},
		// The last day of a leap year.
		{
			zone: "Australia/Sydney",
			date: "2040-12-31T23:00:00.0000000",
			want: "2040-12-31T23:00:00.0000000+11:00",
		},
		{
			zone: "America/New_York",
			date: "2040-12-31T23:00:00.0000000",
			want: "2040-12-31T23:00:00.0000000-05:00",
		},
		{
			zone: "America/St_Johns",
			date: "2024-01-31T23:59:59.9999999",
			want: "2024-01-31T23:59:59.9999999-03:30",
		},
		// A day that does not exist.
		{
			zone: "Pacific/Apia",
			date: "2011-12-30T12:00:00.0000000",
			want: "2011-12-30T00:00:00.0000000-10:00",
		},
		{zone: "Australia/Sydney", date: "0001-01-01T00:00:00.0000000", want: "0001-01-01T00:00:00.0000000Z"},
		{zone: "America/New_York", date: "9999-12-31T23:59:59.9999999", want: "9999-12-31T23:59:59.9999999Z"},
		// 53 min 28 s ahead.
		{
			zone: "Europe/Berlin",
			date: "1890-01-01T00:00:00.0000001",
			want: "1890-01-01T00:00:00.0000001+01:00",
		},
		{
			zone: "Europe/Berlin",
			date: "1753-01-01T00:00:00.0000000",
			want: "1753-01-01T00:00:00.0000000+01:00",
		},
		{
			zone: "Europe/Paris",
			date: "1900-01-01T00:00:00.0000000",
			want: "1900-01-01T00:00:00.0000000+01:00",
		},
		{
			zone: "Europe/Paris",
			date: "1911-03-10T23:50:38.0000000",
			want: "1911-03-10T23:50:38.0000000+01:00",
		},
		// Its clock then showed the time of Greenwich.
		{
			zone: "Europe/Paris",
			date: "1911-03-10T23:50:39.0000000",
			want: "1911-03-10T23:50:39.0000000Z",
		},
		// Its first standard time was ahead of the present one, so that the clock skips 30 minutes
		// of dates, from the first fraction of their first second.
		{
			zone: "America/Goose_Bay",
			date: "1935-03-29T23:30:52.5000000",
			want: "1935-03-29T23:30:52.0000000-04:00",
		},
		{zone: "Africa/Monrovia", date: "1972-01-06T23:59:59.0000000", want: "1972-01-06T23:59:59.0000000Z"},
		{zone: "UTC", date: "2024-01-31T00:00:00.0000000", want: "2024-01-31T00:00:00.0000000Z"},
		{zone: "UTC", date: "no date", want: "no date"},
	} {
		if got := string(NewClock(mustZone(t, c.zone)).Append(nil, []byte(c.date))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.date, c.zone, got, c.want)
		}
	}
}

// aDate draws a date, in most cases close to a change of the clock.
func aDate(t *rapid.T, name string) time.Time {
	changes := []string{
		"2019-04-07T02:00:00Z", "2019-10-06T02:00:00Z", "2024-10-27T02:00:00Z",
		"2024-03-31T02:00:00Z", "2011-12-30T00:00:00Z", "2024-11-03T01:00:00Z",
		"2024-03-10T02:00:00Z", "1995-01-01T00:00:00Z", "2040-12-31T00:00:00Z",
		"2041-01-01T00:00:00Z", "0001-01-01T12:00:00Z", "9999-12-31T12:00:00Z",
		"1911-03-11T00:00:00Z", "1905-06-01T00:00:00Z", "1972-01-07T00:00:00Z",
		"1906-01-01T00:00:00Z", "1912-02-12T00:00:00Z", "1893-04-01T00:00:00Z",
		"1935-03-29T23:30:52Z", "1935-03-30T00:00:52Z",
	}
	base, _ := time.Parse(time.RFC3339, rapid.SampledFrom(changes).Draw(t, name))
	steps := []time.Duration{tick, time.Second, time.Minute, 20 * time.Minute, time.Hour}
	n := rapid.IntRange(-40, 40).Draw(t, name+" steps")
	step := rapid.SampledFrom(steps).Draw(t, name+" step")
	at := base.Add(time.Duration(n) * step)
	if at.Before(firstDate) {
		return firstDate
	} else if at.After(lastDate) {
		return lastDate
	}
	return at
}

var zones = []string{
	"UTC", "Australia/Sydney", "Australia/Lord_Howe", "Europe/Berlin",
	"America/New_York", "Pacific/Apia", "Pacific/Kiritimati",
	"Europe/Paris", "Asia/Singapore", "Africa/Monrovia", "Asia/Kolkata",
	"America/Caracas", "America/Goose_Bay",
}

// TestDatesNeverDecrease: a later date is not an earlier instant, with and without cached
// offsets.
func TestDatesNeverDecrease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		used := NewClock(zone)
		a, b := aDate(t, "a"), aDate(t, "b")
		textA, atA := shown(t, used, a)
		textB, atB := shown(t, used, b)
		isOrdered := !a.Before(b) || !atA.After(atB)
		isReverseOrdered := !b.Before(a) || !atB.After(atA)
		if !isOrdered || !isReverseOrdered {
			t.Fatalf("%s is %s and %s is %s, want instants in the order of the dates", a, textA, b, textB)
		}
		if fresh, _ := shown(t, NewClock(zone), b); fresh != textB {
			t.Fatalf("%s is %s, but %s after another date", b, fresh, textB)
		}
	})
}

// holds reports whether a condition on dates is true for one.
func holds(c query.Condition, date string) bool {
	isTrue := func(part query.Condition) bool { return holds(part, date) }
	isFalse := func(part query.Condition) bool { return !holds(part, date) }
	if c.Join == query.And {
		return !slices.ContainsFunc(c.Parts, isFalse)
	}
	if c.Join == query.Or {
		return slices.ContainsFunc(c.Parts, isTrue)
	}

	o := c.Operands
	isMet := false
	switch c.Operator {
	case record.Equal:
		isMet = date == o[0].Text
	case record.Between:
		isMet = date >= o[0].Text && date <= o[1].Text
	case record.GreaterThan:
		isMet = date > o[0].Text
	case record.GreaterThanOrEqualTo:
		isMet = date >= o[0].Text
	case record.LessThan:
		isMet = date < o[0].Text
	case record.LessThanOrEqualTo:
		isMet = date <= o[0].Text
	case record.IsNotNull:
		isMet = true
	}
	return isMet != c.Negated
}

// TestFiltersCompareInstants: a comparison of a date with a literal is true if that of the
// instants is.
func TestFiltersCompareInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}

		clock := NewClock(zone)
		date := aDate(t, "date")
		_, at := shown(t, clock, date)
		literal := aDate(t, "literal").Add(-time.Duration(rapid.IntRange(-14, 14).Draw(t, "hours")) * time.Hour)
		if rapid.Bool().Draw(t, "equal") {
			literal = at
		}

		literal = literal.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 99}).Draw(t, "ns")))
		if literal.Year() < 1 || literal.Year() > 9999 {
			literal = firstDate
		}

		for op, want := range map[record.Operator]bool{
			record.Equal:                at.Equal(literal),
			record.NotEqualTo:           !at.Equal(literal),
			record.LessThan:             at.Before(literal),
			record.LessThanOrEqualTo:    !at.After(literal),
			record.GreaterThan:          at.After(literal),
			record.GreaterThanOrEqualTo: !at.Before(literal),
		} {
			s, err := clock.dateSpan(literal.UTC().Format("2006-01-02T15:04:05.999999999Z"))
			if err != nil {
				t.Fatal(err)
			}
			c := s.compare(0, op)
			if got := holds(c, date.Format(wire.DateLayout)); got != want {
				t.Fatalf("%s (%s) %s %s: %t by %+v", date.Format(wire.DateLayout), at, op, literal, got, c)
			}
			if holds(query.Not(c), date.Format(wire.DateLayout)) == want {
				t.Fatalf("not (%s %s %s) is the same", date, op, literal)
			}
		}
	})
}

// TestZonelessLiterals: a date without a zone equals the same date of a record.
func TestZonelessLiterals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		date := aDate(t, "date").Format(wire.DateLayout)
		s, err := NewClock(zone).dateSpan(date)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []record.Operator{
			record.Equal,
			record.LessThanOrEqualTo,
			record.GreaterThanOrEqualTo,
		} {
			if c := s.compare(0, op); !holds(c, date) {
				t.Fatalf("%s %s itself is false: %+v", date, op, c)
			}
		}
	})
}

// blankZones are zones of all continents, with times before their standard time that differ
// from it in both directions.
var blankZones = []string{
	"UTC", "Europe/London", "Europe/Dublin", "Europe/Paris",
	"Europe/Berlin", "Europe/Athens", "Europe/Moscow", "Europe/Amsterdam",
	"Europe/Lisbon", "Europe/Istanbul", "Asia/Kolkata", "Asia/Singapore",
	"Asia/Tokyo", "Asia/Shanghai", "Asia/Kathmandu", "Asia/Dubai",
	"Asia/Tehran", "Asia/Manila", "Asia/Jakarta", "Australia/Sydney",
	"Australia/Adelaide", "Pacific/Auckland", "Pacific/Apia",
	"Pacific/Honolulu", "America/New_York", "America/Los_Angeles",
	"America/Sao_Paulo", "America/Caracas", "America/St_Johns",
	"Africa/Johannesburg", "Africa/Monrovia", "Africa/Cairo",
	"America/Nuuk",
}

// changesOf returns the first instants of the last two offsets of a zone until the end of a year:
// those of the nights of this year in which its clock is changed, or else of the last ones.
func changesOf(zone *time.Location, year int) (changes []time.Time) {
	for at := time.Date(1990, 1, 1, 0, 0, 0, 0, zone); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.Year() > year {
			return changes[max(len(changes)-2, 0):]
		}
		changes = append(changes, end)
		at = end
	}
}

// datesOfZone returns blank dates, 1970-01-01 and today, and each 10 minutes of the nights in which
// the clock of the zone is changed, in their order.
func datesOfZone(zone *time.Location, now time.Time) (dates []time.Time) {
	blank := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	dates = []time.Time{blank(1753), blank(1900), blank(1970), now.UTC().Truncate(24 * time.Hour)}
	for _, change := range changesOf(zone, now.Year()) {
		_, ahead := change.Add(-time.Second).Zone()
		night := change.UTC().Add(time.Duration(ahead) * time.Second)
		for minutes := -240; minutes <= 240; minutes += 10 {
			dates = append(dates, night.Add(time.Duration(minutes)*time.Minute))
		}
	}
	slices.SortFunc(dates, time.Time.Compare)
	return dates
}

// TestDatesOfZones: the text of a date has its day, the instants never decrease, and each date is
// found by eq and by one of adjacent partitions. A conversion by the present standard offset, as
// in .NET, keeps the day of blank dates, and of others if the zone then had that offset: it
// moves midnight in summer time to the day before.
func TestDatesOfZones(t *testing.T) {
	now := time.Now()
	for _, name := range blankZones {
		zone := mustZone(t, name)
		clock := NewClock(zone)
		present := time.FixedZone("present", int(clock.standard.oldOffset.Seconds()))
		dates := datesOfZone(zone, now)
		var last time.Time
		var instants []time.Time
		for _, date := range dates {
			day := date.Format(time.DateOnly)
			text, at := shown(t, clock, date)
			if text[:len(day)] != day {
				t.Errorf("%s in %s: the text is %s", date.Format(wire.DateLayout), name, text)
			}
			if at.Before(last) {
				t.Errorf("%s in %s: the instant %s is before %s of an earlier date",
					date.Format(wire.DateLayout), name, at, last)
			}
			last = at
			instants = append(instants, at)
			hasPresentOffset := date.Sub(at) == clock.standard.oldOffset
			converted := at.In(present).Format(time.DateOnly)
			if converted != day && (date.Year() <= 1900 || hasPresentOffset) {
				t.Errorf("%s in %s: %s is on %s by the present standard offset",
					date.Format(wire.DateLayout), name, text, converted)
			}
			equal := mustSpan(t, clock, at).compare(0, record.Equal)
			if !holds(equal, date.Format(wire.DateLayout)) {
				t.Errorf("%s in %s: eq %s does not find it: %+v", date.Format(wire.DateLayout), name, text, equal)
			}
		}

		checkPartitions(t, name, clock, dates, instants)
	}
}

// checkPartitions reads dates by adjacent partitions with bounds close to instants.
func checkPartitions(t *testing.T, zone string, clock *Clock, dates, instants []time.Time) {
	t.Helper()
	bounds := []time.Time{firstDate, lastDate}
	for _, at := range instants {
		bounds = append(bounds, at.UTC().Add(-7*time.Minute), at.UTC(), at.UTC().Add(tick))
	}
	slices.SortFunc(bounds, time.Time.Compare)
	found := make([]int, len(dates))
	for i, bound := range bounds[1:] {
		from := mustSpan(t, clock, bounds[i]).compare(0, record.GreaterThanOrEqualTo)
		until := mustSpan(t, clock, bound).compare(0, record.LessThan)
		for n, date := range dates {
			text := date.Format(wire.DateLayout)
			if holds(from, text) && holds(until, text) {
				found[n]++
			}
		}
	}
	for n, date := range dates {
		if found[n] != 1 {
			t.Errorf("%s in %s: %d of %d adjacent partitions find it, want 1",
				date.Format(wire.DateLayout), zone, found[n], len(bounds)-1)
		}
	}
}

func mustSpan(t *testing.T, clock *Clock, at time.Time) span {
	t.Helper()
	s, err := clock.dateSpan(at.UTC().Format("2006-01-02T15:04:05.0000000Z"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
