package odata

import (
	"testing"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
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
	text := string(c.Append(nil, []byte(date.Format(dateLayout))))
	at, err := time.Parse("2006-01-02T15:04:05Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return text, at
}

func TestDates(t *testing.T) {
	for _, c := range []struct{ zone, date, want string }{
		{"Australia/Sydney", "2019-05-01T10:11:12.1230000", "2019-05-01T10:11:12.1230000+10:00"},
		{"Australia/Sydney", "2019-01-01T00:00:00.0000000", "2019-01-01T00:00:00.0000000+11:00"},
		{"Australia/Sydney", "2019-04-07T02:30:00.5000000", "2019-04-07T02:30:00.5000000+11:00"}, // exists twice
		{"Australia/Sydney", "2019-04-07T03:00:00.0000000", "2019-04-07T03:00:00.0000000+10:00"},
		{"Australia/Sydney", "2019-10-06T02:30:00.5000000", "2019-10-05T16:00:00.0000000Z"}, // does not exist
		{"Australia/Sydney", "2019-10-06T03:00:00.0000000", "2019-10-06T03:00:00.0000000+11:00"},
		{"Europe/Berlin", "2024-10-27T02:30:00.0000000", "2024-10-27T02:30:00.0000000+02:00"},
		{"Europe/Berlin", "2040-07-01T00:00:00.0000000", "2040-07-01T00:00:00.0000000+02:00"},
		{"Australia/Sydney", "2040-12-31T23:00:00.0000000", "2040-12-31T23:00:00.0000000+11:00"}, // the last day of a leap year
		{"America/New_York", "2040-12-31T23:00:00.0000000", "2040-12-31T23:00:00.0000000-05:00"},
		{"America/St_Johns", "2024-01-31T23:59:59.9999999", "2024-01-31T23:59:59.9999999-03:30"},
		{"Pacific/Apia", "2011-12-30T12:00:00.0000000", "2011-12-30T10:00:00.0000000Z"}, // a day that does not exist
		{"Australia/Sydney", "0001-01-01T00:00:00.0000000", "0001-01-01T00:00:00.0000000Z"},
		{"America/New_York", "9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.9999999Z"},
		{"Europe/Berlin", "1890-01-01T00:00:00.0000001", "1890-01-01T00:00:00.0000001+01:00"}, // 53 min 28 s ahead
		{"Europe/Berlin", "1753-01-01T00:00:00.0000000", "1753-01-01T00:00:00.0000000+01:00"},
		{"Europe/Paris", "1900-01-01T00:00:00.0000000", "1900-01-01T00:00:00.0000000+01:00"},
		{"Europe/Paris", "1911-03-10T23:50:38.0000000", "1911-03-10T23:50:38.0000000+01:00"},
		{"Europe/Paris", "1911-03-10T23:50:39.0000000", "1911-03-10T23:50:39.0000000Z"}, // its clock then showed the time of Greenwich
		{"Africa/Monrovia", "1972-01-06T23:59:59.0000000", "1972-01-06T23:59:59.0000000Z"},
		{"UTC", "2024-01-31T00:00:00.0000000", "2024-01-31T00:00:00.0000000Z"},
		{"UTC", "no date", "no date"},
	} {
		if got := string(NewClock(mustZone(t, c.zone)).Append(nil, []byte(c.date))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.date, c.zone, got, c.want)
		}
	}
}

// aDate draws a date, in most cases close to a change of the clock.
func aDate(t *rapid.T, name string) time.Time {
	changes := []string{"2019-04-07T02:00:00Z", "2019-10-06T02:00:00Z", "2024-10-27T02:00:00Z", "2024-03-31T02:00:00Z", "2011-12-30T00:00:00Z", "2024-11-03T01:00:00Z", "2024-03-10T02:00:00Z", "1995-01-01T00:00:00Z", "2040-12-31T00:00:00Z", "2041-01-01T00:00:00Z", "0001-01-01T12:00:00Z", "9999-12-31T12:00:00Z", "1911-03-11T00:00:00Z", "1905-06-01T00:00:00Z", "1972-01-07T00:00:00Z", "1906-01-01T00:00:00Z", "1912-02-12T00:00:00Z", "1893-04-01T00:00:00Z"}
	base, _ := time.Parse(time.RFC3339, rapid.SampledFrom(changes).Draw(t, name))
	steps := []time.Duration{tick, time.Second, time.Minute, 20 * time.Minute, time.Hour}
	at := base.Add(time.Duration(rapid.IntRange(-40, 40).Draw(t, name+" steps")) * rapid.SampledFrom(steps).Draw(t, name+" step"))
	if at.Before(firstDate) {
		return firstDate
	} else if at.After(lastDate) {
		return lastDate
	}
	return at
}

var zones = []string{"UTC", "Australia/Sydney", "Australia/Lord_Howe", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Pacific/Kiritimati", "Europe/Paris", "Asia/Singapore", "Africa/Monrovia", "Asia/Kolkata", "America/Caracas"}

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
		if a.Before(b) && atA.After(atB) || b.Before(a) && atB.After(atA) {
			t.Fatalf("%s is %s, %s is %s", a, textA, b, textB)
		}
		if fresh, _ := shown(t, NewClock(zone), b); fresh != textB {
			t.Fatalf("%s is %s, but %s after another date", b, fresh, textB)
		}
	})
}

// holds reports whether a condition on dates is true for one.
func holds(c query.Condition, date string) bool {
	switch {
	case c.Join == query.And:
		for _, part := range c.Parts {
			if !holds(part, date) {
				return false
			}
		}
		return true
	case c.Join == query.Or:
		for _, part := range c.Parts {
			if holds(part, date) {
				return true
			}
		}
		return false
	}
	var is bool
	switch o := c.Operands; c.Operator {
	case record.Equal:
		is = date == o[0].Text
	case record.Between:
		is = date >= o[0].Text && date <= o[1].Text
	case record.GreaterThan:
		is = date > o[0].Text
	case record.GreaterThanOrEqualTo:
		is = date >= o[0].Text
	case record.LessThan:
		is = date < o[0].Text
	case record.LessThanOrEqualTo:
		is = date <= o[0].Text
	case record.IsNotNull:
		is = true
	}
	return is != c.Negated
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
		if literal = literal.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 99}).Draw(t, "ns"))); literal.Year() < 1 || literal.Year() > 9999 {
			literal = firstDate
		}
		for op, want := range map[record.Operator]bool{
			record.Equal: at.Equal(literal), record.NotEqualTo: !at.Equal(literal), record.LessThan: at.Before(literal), record.LessThanOrEqualTo: !at.After(literal),
			record.GreaterThan: at.After(literal), record.GreaterThanOrEqualTo: !at.Before(literal),
		} {
			s, err := clock.dateSpan(literal.UTC().Format("2006-01-02T15:04:05.999999999Z"))
			if err != nil {
				t.Fatal(err)
			}
			c := s.compare(0, op)
			if got := holds(c, date.Format(dateLayout)); got != want {
				t.Fatalf("%s (%s) %s %s: %t by %+v", date.Format(dateLayout), at, op, literal, got, c)
			}
			if holds(query.Not(c), date.Format(dateLayout)) == want {
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
		date := aDate(t, "date").Format(dateLayout)
		s, err := NewClock(zone).dateSpan(date)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []record.Operator{record.Equal, record.LessThanOrEqualTo, record.GreaterThanOrEqualTo} {
			if c := s.compare(0, op); !holds(c, date) {
				t.Fatalf("%s %s itself is false: %+v", date, op, c)
			}
		}
	})
}

// blankZones are zones of all continents, with times before their standard time that differ
// from it in both directions.
var blankZones = []string{
	"UTC", "Europe/London", "Europe/Dublin", "Europe/Paris", "Europe/Berlin", "Europe/Athens", "Europe/Moscow", "Europe/Amsterdam", "Europe/Lisbon", "Europe/Istanbul",
	"Asia/Kolkata", "Asia/Singapore", "Asia/Tokyo", "Asia/Shanghai", "Asia/Kathmandu", "Asia/Dubai", "Asia/Tehran", "Asia/Manila", "Asia/Jakarta",
	"Australia/Sydney", "Australia/Adelaide", "Pacific/Auckland", "Pacific/Apia", "Pacific/Honolulu", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo", "America/Caracas", "America/St_Johns", "Africa/Johannesburg", "Africa/Monrovia", "Africa/Cairo",
}

// TestBlankDates: blank dates keep their day, in the text and after a conversion by the present
// offset of the zone.
func TestBlankDates(t *testing.T) {
	for _, name := range blankZones {
		zone := mustZone(t, name)
		now := time.Now()
		_, winter := time.Date(now.Year(), 1, 1, 0, 0, 0, 0, zone).Zone()
		_, summer := time.Date(now.Year(), 7, 1, 0, 0, 0, 0, zone).Zone()
		present := time.FixedZone("present", min(winter, summer))
		for _, text := range []string{"1753-01-01", "1900-01-01", "1970-01-01", now.Format("2006-01-02")} {
			date, err := time.Parse("2006-01-02", text)
			if err != nil {
				t.Fatal(err)
			}
			c := NewClock(zone)
			written, at := shown(t, c, date)
			if written[:len(text)] != text {
				t.Errorf("%s in %s: written as %s", text, name, written)
			}
			isBlank := date.Year() <= 1900 // later ones have the offset of their time
			if converted := at.In(present).Format("2006-01-02"); isBlank && converted != text {
				t.Errorf("%s in %s: %s is %s after a conversion by the present offset", text, name, written, converted)
			}
			first, last := c.dates(at)
			if first.After(date) || last.Before(date) {
				t.Errorf("%s in %s: eq %s finds %s to %s", text, name, written, first, last)
			}
		}
	}
}
