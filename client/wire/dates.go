package wire

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var errDate = errors.New("must be a date such as 2019-05-01T10:11:12.1230000 or 2019-05-01, from year 1 to 9999")

// dateLayouts has the forms that ParseDate accepts in addition to the legacy one. Go
// accepts a fraction after the seconds of each.
var dateLayouts = []struct {
	layout string
	zoned  bool
}{
	{"2006-01-02T15:04:05", false},
	{"2006-01-02T15:04:05Z07:00", true},
	{"2006-01-02T15:04:05-0700", true},
	{"2006-01-02", false},
	{"2006-01-02 15:04:05", false},
	{"2006-01-02 15:04:05Z07:00", true},
	{"2006-01-02T15:04", false},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-01-02 15:04", false},
}

// ParseDate parses a date and returns it in DateLayout. A date with a zone is converted
// to zone; a date without is unchanged. The plus sign of a zone may be a blank, as in a
// query string without escapes. More than seven fraction digits are only
// accepted if the rest are zeros, because dates are never rounded.
func ParseDate(text string, zone *time.Location) (string, error) {
	date, exact, err := FloorDate(text, zone)
	if err == nil && !exact {
		return "", errDate
	}
	return date, err
}

// FloorDate is ParseDate for dates with any number of fraction digits: it returns the last date
// in DateLayout that is not later, and whether it is the date itself.
func FloorDate(text string, zone *time.Location) (date string, exact bool, err error) {
	text = strings.TrimSpace(text)
	if t, ok := parseLegacyDate(text); ok {
		date, err = formatDate(t.In(zone))
		return date, true, err
	}
	text, exact = cutFraction(strings.ToUpper(text)) // ISO 8601 has t and z, too
	if i := strings.LastIndexByte(text, ' '); i > len("2006-01-02") {
		text = text[:i] + "+" + text[i+1:] // a zone with a plus sign that was decoded as a blank
	}
	for _, form := range dateLayouts {
		t, err := time.Parse(form.layout, text)
		if err != nil {
			continue
		}
		if form.zoned {
			t = t.In(zone)
		}
		date, err = formatDate(t)
		return date, exact, err
	}
	return "", false, errDate
}

// cutFraction removes the digits of a fraction of a second after the seventh and
// reports whether all of them were zeros. time.Parse would drop any digits after the
// ninth.
func cutFraction(text string) (string, bool) {
	start := strings.IndexAny(text, ".,") + 1
	if start == 0 {
		return text, true
	}
	end := start
	for end < len(text) && digitsOnly(text[end:end+1]) {
		end++
	}
	seventh := min(start+7, end)
	return text[:seventh] + text[end:], strings.Trim(text[seventh:end], "0") == ""
}

func formatDate(t time.Time) (string, error) {
	if t.Year() < 1 || t.Year() > 9999 {
		return "", errDate
	}
	return t.Format(DateLayout), nil
}

// parseLegacyDate parses /Date(1530664812000)/ and /Date(1530664812000+1000)/, with or
// without escaped slashes: milliseconds since 1970 in UTC. The offset does not affect the
// instant.
func parseLegacyDate(text string) (time.Time, bool) {
	text = strings.ReplaceAll(text, `\/`, "/")
	inner, ok := strings.CutPrefix(text, "/Date(")
	if !ok {
		return time.Time{}, false
	}
	inner, ok = strings.CutSuffix(inner, ")/")
	if !ok {
		return time.Time{}, false
	}
	inner = withoutOffset(inner)
	ms, err := strconv.ParseInt(inner, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// withoutOffset removes an offset such as +1000 or -0730 after milliseconds. The plus sign may be
// a blank, as in a query string without escapes.
func withoutOffset(text string) string {
	sign := len(text) - len("+1000")
	if sign <= 0 || strings.IndexByte("+- ", text[sign]) < 0 || !digitsOnly(text[sign+1:]) {
		return text
	}
	return text[:sign]
}

// LegacyDate formats an instant in the notation of the webhook resources.
func LegacyDate(t time.Time) string {
	return "/Date(" + strconv.FormatInt(t.UnixMilli(), 10) + "+0000)/"
}

// legacyDates matches dates of the webhook resources in JSON.
var legacyDates = regexp.MustCompile(`"/Date\(-?\d+[+]0000\)/"`)

// ISODates returns JSON of the service with the dates of the webhook resources in ISO 8601, in
// UTC with Z.
func ISODates(text []byte) []byte {
	return legacyDates.ReplaceAllFunc(text, func(quoted []byte) []byte {
		date, err := ParseDate(string(quoted[1:len(quoted)-1]), time.UTC)
		if err != nil {
			return quoted
		}
		return []byte(`"` + date + `Z"`)
	})
}

// AppendEpoch appends a UTC date in DateLayout in the notation of the webhook resources.
// It appends nothing for an invalid date.
func AppendEpoch(dst, date []byte) ([]byte, bool) {
	t, ok := readDate(date)
	if !ok {
		return dst, false
	}
	dst = strconv.AppendInt(append(dst, "/Date("...), t.UnixMilli(), 10)
	return append(dst, "+0000)/"...), true
}

// readDate parses a date in DateLayout. Unlike time.Parse it does not allocate.
func readDate(date []byte) (time.Time, bool) {
	if len(date) != len(DateLayout) {
		return time.Time{}, false
	}
	var parts [7]int
	index := 0
	for i, digits := range []int{4, 2, 2, 2, 2, 2, 7} {
		for range digits {
			if date[index] < '0' || date[index] > '9' {
				return time.Time{}, false
			}
			parts[i] = parts[i]*10 + int(date[index]-'0')
			index++
		}
		if index < len(date) && date[index] != DateLayout[index] {
			return time.Time{}, false
		}
		index++
	}

	// time.Date carries parts that are out of range over to the next larger one.
	month, day := time.Month(parts[1]), parts[2]
	t := time.Date(parts[0], month, day, parts[3], parts[4], parts[5], parts[6]*100, time.UTC)
	isSameDay := t.Month() == month && t.Day() == day
	isSameTime := t.Hour() == parts[3] && t.Minute() == parts[4] && t.Second() == parts[5]
	return t, isSameDay && isSameTime
}
