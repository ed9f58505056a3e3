package wire

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without a zone database
)

// tenEast is a zone ten hours east of UTC.
var tenEast = time.FixedZone("ten east", 10*3600)

// dateForms has results of ParseDate in tenEast; "" is an error.
var dateForms = []struct{ text, want string }{
	// Without zone: unchanged.
	{"2019-05-01T10:11:12.1230000", "2019-05-01T10:11:12.1230000"},
	{"2019-05-01T10:11:12", "2019-05-01T10:11:12.0000000"},
	{"2019-05-01T10:11:12.5", "2019-05-01T10:11:12.5000000"},
	{"2019-05-01T10:11:12,5", "2019-05-01T10:11:12.5000000"},
	{"2019-05-01T10:11:12.1234567", "2019-05-01T10:11:12.1234567"},
	{"2019-05-01T10:11", "2019-05-01T10:11:00.0000000"},
	{"2019-05-01", "2019-05-01T00:00:00.0000000"},
	{"2019-05-01 10:11:12.123", "2019-05-01T10:11:12.1230000"},
	{"2019-05-01 10:11", "2019-05-01T10:11:00.0000000"},
	{"  2019-05-01 ", "2019-05-01T00:00:00.0000000"},
	{"2024-02-29", "2024-02-29T00:00:00.0000000"},
	{"0001-01-01T00:00:00.0000000", "0001-01-01T00:00:00.0000000"},
	{"1753-01-01", "1753-01-01T00:00:00.0000000"},
	{"9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.9999999"},

	// With zone: converted.
	{"2019-05-01T10:11:12Z", "2019-05-01T20:11:12.0000000"},
	{"2019-05-01T10:11:12.1234567Z", "2019-05-01T20:11:12.1234567"},
	{"2019-05-01T10:11:12.5+10:00", "2019-05-01T10:11:12.5000000"},
	{"2019-05-01T10:11:12-05:30", "2019-05-02T01:41:12.0000000"},
	{"2019-05-01T10:11:12+0200", "2019-05-01T18:11:12.0000000"},
	{"2019-05-01T10:11Z", "2019-05-01T20:11:00.0000000"},
	{"2019-05-01 10:11:12Z", "2019-05-01T20:11:12.0000000"},
	{"2019-05-01 10:11:12+02:00", "2019-05-01T18:11:12.0000000"},
	{"2019-05-01T10:11:12 02:00", "2019-05-01T18:11:12.0000000"}, // a plus sign that was decoded as a blank
	{"2019-05-01T10:11:12.5 0200", "2019-05-01T18:11:12.5000000"},
	{"2019-05-01 10:11:12 02:00", "2019-05-01T18:11:12.0000000"},
	{"2019-05-01T10:11 02:00", "2019-05-01T18:11:00.0000000"},
	{"2019-12-31T20:00:00Z", "2020-01-01T06:00:00.0000000"},

	// Legacy form, with or without escaped slashes: an instant in UTC; the offset is
	// ignored.
	{"/Date(1530664812000+0000)/", "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812000+1000)/", "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812000 1000)/", "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812000-0730)/", "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812000-0000)/", "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812000)/", "2018-07-04T10:40:12.0000000"},
	{`\/Date(1530664812000+1000)\/`, "2018-07-04T10:40:12.0000000"},
	{"/Date(1530664812345)/", "2018-07-04T10:40:12.3450000"},
	{"/Date(0)/", "1970-01-01T10:00:00.0000000"},
	{"/Date(0+0000)/", "1970-01-01T10:00:00.0000000"},
	{"/Date(-1)/", "1970-01-01T09:59:59.9990000"},
	{"/Date(-1234)/", "1970-01-01T09:59:58.7660000"},
	{"/Date(-12345)/", "1970-01-01T09:59:47.6550000"},
	{"/Date(-1-0500)/", "1970-01-01T09:59:59.9990000"},
	{"/Date(-62135596800000)/", "0001-01-01T10:00:00.0000000"},

	// More than seven fraction digits: the rest must be zeros.
	{"2019-05-01T10:11:12.123456700", "2019-05-01T10:11:12.1234567"},
	{"2019-05-01T10:11:12.12345670000000", "2019-05-01T10:11:12.1234567"},
	{"2019-05-01T10:11:12.12345670000000Z", "2019-05-01T20:11:12.1234567"},
	{"2019-05-01T10:11:12.12345678", ""},
	{"2019-05-01T10:11:12.123456701", ""},
	{"2019-05-01T10:11:12.1234567001", ""},
	{"2019-05-01T10:11:12.12345670000001+10:00", ""},

	// Out of the range of DateTime before or after the conversion.
	{"0000-12-31", ""},
	{"10000-01-01", ""},
	{"9999-12-31T23:00:00Z", ""},
	{"0001-01-01T00:00:00+12:00", ""},
	{"/Date(-62135596800001-0000)/", "0001-01-01T09:59:59.9990000"},
	{"/Date(-62135632800001)/", ""},
	{"/Date(253402300799999)/", ""},
	{"/Date(9223372036854775807)/", ""},
	{"/Date(9223372036854775808)/", ""},

	// Invalid.
	{"", ""},
	{"2019-02-29", ""},
	{"2019-13-01", ""},
	{"2019-05-01T24:00:00", ""},
	{"2019-05-01T10:60:00", ""},
	{"2019-05-01T10:11:60", ""},
	{"2019-05-01T10:11:12.", ""},
	{"2019-05-01T", ""},
	{"2019-05-01T10:11:12 02", ""},
	{"2019-05-01T10:11:12  02:00", ""},
	{"2019-05-01 10:11 12 02:00", ""},
	{"2019-05", ""},
	{"01/05/2019", ""},
	{"20190501", ""},
	{"1 May 2019", ""},
	{"1530664812000", ""},
	{"/Date()/", ""},
	{"/Date(+1000)", ""},
	{"/Date(1.5)/", ""},
	{"/Date(1530664812000+10:00)/", ""},
	{"/Date(1530664812000", ""},
	{"Date(1530664812000)", ""},
	{"today", ""},
	{"NULL", ""},
}

func TestParseDateForms(t *testing.T) {
	for _, c := range dateForms {
		got, err := ParseDate(c.text, tenEast)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("ParseDate(%q) = %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

func TestParseDateAppliesDaylightSaving(t *testing.T) {
	zone, err := time.LoadLocation("Australia/Melbourne")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"2019-01-01T00:00:00Z", "2019-01-01T11:00:00.0000000"},
		{"2019-07-01T00:00:00Z", "2019-07-01T10:00:00.0000000"},
		{"2019-10-06T02:30:00", "2019-10-06T02:30:00.0000000"}, // does not exist in the zone, but is unchanged
	} {
		if got, err := ParseDate(c.text, zone); got != c.want {
			t.Errorf("ParseDate(%q) = %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

func TestLegacyDateRoundTrip(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.UnixMilli(1530664812000), "/Date(1530664812000+0000)/"},
		{time.UnixMilli(1530664812000).In(tenEast), "/Date(1530664812000+0000)/"},
		{time.Unix(0, 0), "/Date(0+0000)/"},
		{time.Unix(0, -1), "/Date(-1+0000)/"},
		{time.Time{}, "/Date(-62135596800000+0000)/"},
	} {
		got := LegacyDate(c.at)
		if got != c.want {
			t.Errorf("LegacyDate(%v) = %s, want %s", c.at, got, c.want)
		}
		parsed, err := ParseDate(got, time.UTC)
		if err != nil {
			t.Errorf("ParseDate(%s): %v", got, err)
		}
		isWhole := c.at.Nanosecond()%1e6 == 0 // milliseconds
		if want := c.at.UTC().Format(DateLayout); isWhole && parsed != want {
			t.Errorf("ParseDate(%s) = %s, want %s", got, parsed, want)
		}
	}
}

// FuzzParseDate checks that results parse as themselves and that their order as texts is
// their order as times, because SQLite sorts them as texts.
func FuzzParseDate(f *testing.F) {
	for _, c := range dateForms {
		f.Add(c.text, int64(1530664812000))
	}
	f.Fuzz(func(t *testing.T, text string, ms int64) {
		a, err := ParseDate(text, tenEast)
		if err != nil {
			return
		}
		at := parseCanonical(t, a)
		b, err := ParseDate(LegacyDate(time.UnixMilli(ms)), tenEast)
		if err != nil {
			return // a year beyond 9999
		}
		if strings.Compare(a, b) != at.Compare(parseCanonical(t, b)) {
			t.Fatalf("%q and %q have another order as times", a, b)
		}
	})
}

// parseCanonical parses a date in DateLayout and checks that ParseDate does not change it.
func parseCanonical(t *testing.T, date string) time.Time {
	t.Helper()
	at, err := time.Parse(DateLayout, date)
	if err != nil || at.Format(DateLayout) != date {
		t.Fatalf("%q is not in DateLayout: %v", date, err)
	}
	if got, err := ParseDate(date, tenEast); err != nil || got != date {
		t.Fatalf("ParseDate(%q) = %q, %v", date, got, err)
	}
	return at
}

// TestParseDateInLowerCase: ISO 8601 allows the letters of a date in lower case.
func TestParseDateInLowerCase(t *testing.T) {
	const want = "2019-05-01T10:11:12.0000000"
	for _, text := range []string{
		"2019-05-01t10:11:12z",
		"2019-05-01T10:11:12Z",
		"2019-05-01 10:11:12z",
	} {
		got, err := ParseDate(text, time.UTC)
		if err != nil || got != want {
			t.Errorf("ParseDate(%q) = %q, %v; want %s", text, got, err, want)
		}
	}
}
