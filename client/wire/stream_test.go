package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimeSpanJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`null`:           0,
		`"PT0.0123S"`:    12300 * time.Microsecond,
		`"PT0.0000001S"`: 100 * time.Nanosecond,
		`"P1DT2H"`:       26 * time.Hour,
		`"-PT1M"`:        -time.Minute,
	} {
		written, err := json.Marshal(TimeSpan(want))
		if err != nil || string(written) != text {
			t.Errorf("JSON of %v is %s, %v; want %s", want, written, err, text)
		}
		checkDecoded(t, text, want)
	}
	checkDecoded(t, `"00:00:01.5"`, 1500*time.Millisecond)

	for _, text := range []string{`1`, `"soon"`, `"P106752D"`, `"-P106752D"`} {
		if err := json.Unmarshal([]byte(text), new(TimeSpan)); err == nil {
			t.Errorf("decoding %s returned no error", text)
		}
	}
}

// checkDecoded checks that JSON is decoded as a duration.
func checkDecoded(t *testing.T, text string, want time.Duration) {
	t.Helper()
	got := TimeSpan(-1)
	if err := json.Unmarshal([]byte(text), &got); err != nil || time.Duration(got) != want {
		t.Errorf("%s is decoded as %v, %v; want %v", text, time.Duration(got), err, want)
	}
}
