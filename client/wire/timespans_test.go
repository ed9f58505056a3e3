package wire

import (
	"math"
	"testing"
	"time"
)

func TestTimeSpanForms(t *testing.T) {
	const second = ticksPerSecond
	for _, test := range []struct {
		ticks int64
		text  string
		other []string // other forms of the same time span
	}{
		{0, "PT0S", []string{"00:00:00", "P0D", "PT0M", "-PT0S"}},
		{1, "PT0.0000001S", []string{"00:00:00.0000001", "PT0.000000100S"}},
		{12_000, "PT0.0012S", []string{" pt0.0012s ", "00:00:00.0012"}},
		{123_000, "PT0.0123S", nil},
		{second, "PT1S", []string{"00:00:01", "PT1.000S"}},
		{60 * second, "PT1M", []string{"PT60S", "00:01:00"}},
		{3_661 * second, "PT1H1M1S", []string{"01:01:01", "1:1:1"}},
		{26 * 3600 * second, "P1DT2H", []string{"PT26H", "1.02:00:00"}},
		{86_400 * second, "P1D", []string{"PT24H"}},
		{86_400*second + 5, "P1DT0.0000005S", nil},
		{-5 * second, "-PT5S", []string{"-00:00:05"}},
		{-26 * 3600 * second, "-P1DT2H", nil},
		{math.MaxInt64, "P10675199DT2H48M5.4775807S", []string{"10675199.02:48:05.4775807"}},
	} {
		if got := string(AppendTimeSpan(nil, test.ticks)); got != test.text {
			t.Errorf("AppendTimeSpan(%d) = %s, want %s", test.ticks, got, test.text)
		}
		for _, text := range append(test.other, test.text) {
			if got, err := ParseTimeSpan(text); err != nil || got != test.ticks {
				t.Errorf("ParseTimeSpan(%q) = %d, %v, want %d", text, got, err, test.ticks)
			}
		}
	}
	const shortest = "-P10675199DT2H48M5.4775808S"
	if got := string(AppendTimeSpan(nil, math.MinInt64)); got != shortest {
		t.Errorf("AppendTimeSpan(MinInt64) = %s, want %s", got, shortest)
	}
}

func TestParseTimeSpanRejectsInvalidForms(t *testing.T) {
	for _, text := range []string{
		"", "-", "P", "PT", "PT.", // no number
		"1", "5s", "P1", "PT5", "PTS", // no unit
		"P1Y", "P1M", "P1W", "PT1.5M", // other units
		"PT1S1M", "P1D1D", "P1DT", "--PT1S", "PT1S ...", // not in order
		"PT1.S", "PT0.00000001S", // fractions
		"00:00", "24:00:00", "00:60:00", "00:00:60", "000:00:00", ".00:00:00", "x.00:00:00",
		"P10675199DT2H48M5.4775808S", "P99999999999999999999D", // too long
	} {
		if got, err := ParseTimeSpan(text); err == nil {
			t.Errorf("ParseTimeSpan(%q) = %d, want an error", text, got)
		}
	}
}

func FuzzParseTimeSpan(f *testing.F) {
	for _, seed := range []string{"PT0.0123S", "P1DT2H3M4.5S", "-1.02:03:04.0000005", "PT", "P9223372036854775807D"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ticks, err := ParseTimeSpan(text)
		if err != nil {
			return
		}
		written := string(AppendTimeSpan(nil, ticks))
		if reparsed, err := ParseTimeSpan(written); err != nil || reparsed != ticks {
			t.Errorf("%q is %d, formatted as %s, which is %d, %v", text, ticks, written, reparsed, err)
		}
	})
}

func TestAppendEpoch(t *testing.T) {
	for date, want := range map[string]string{
		"2018-07-04T00:40:12.0000000": "/Date(1530664812000+0000)/",
		"2018-07-04T00:40:12.1239999": "/Date(1530664812123+0000)/",
		"1970-01-01T00:00:00.0000000": "/Date(0+0000)/",
		"0001-01-01T00:00:00.0000000": "/Date(-62135596800000+0000)/",
		"9999-12-31T23:59:59.9999999": "/Date(253402300799999+0000)/",
		"2024-02-29T12:00:00.0000000": "/Date(1709208000000+0000)/",
	} {
		got, ok := AppendEpoch(nil, []byte(date))
		if !ok || string(got) != want {
			t.Errorf("AppendEpoch(%s) = %s, %v, want %s", date, got, ok, want)
		}
		const milliseconds = len("2018-07-04T00:40:12.123")
		parsed, err := ParseDate(want, time.UTC)
		if err != nil || parsed[:milliseconds] != date[:milliseconds] {
			t.Errorf("ParseDate(%s) = %s, %v, want %s without fractions of a millisecond", want, parsed, err, date)
		}
	}
	for _, text := range []string{
		"",
		"2018-07-04",
		"2018-07-04 00:40:12.0000000",
		"2018-07-04T00:40:12.000000x",
		"2018-00-04T00:40:12.0000000",
		"2018-13-04T00:40:12.0000000",
		"2023-02-29T00:00:00.0000000",
		"2018-07-04T24:00:00.0000000",
	} {
		if got, ok := AppendEpoch([]byte("x"), []byte(text)); ok || string(got) != "x" {
			t.Errorf("AppendEpoch(%q) = %s, want an error", text, got)
		}
	}
}
