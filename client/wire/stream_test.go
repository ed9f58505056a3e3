package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimeSpanJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`null`: 0, `"PT0.0123S"`: 12300 * time.Microsecond, `"PT0.0000001S"`: 100, `"P1DT2H"`: 26 * time.Hour, `"-PT1M"`: -time.Minute,
	} {
		written, err := json.Marshal(TimeSpan(want))
		if err != nil || string(written) != text {
			t.Errorf("JSON of %v is %s, %v; want %s", want, written, err, text)
		}
		read := TimeSpan(-1)
		if err := json.Unmarshal([]byte(text), &read); err != nil || time.Duration(read) != want {
			t.Errorf("%s is decoded as %v, %v; want %v", text, time.Duration(read), err, want)
		}
	}
	var read TimeSpan
	if err := json.Unmarshal([]byte(`"00:00:01.5"`), &read); err != nil || time.Duration(read) != 1500*time.Millisecond {
		t.Errorf("00:00:01.5 is decoded as %v, %v", time.Duration(read), err)
	}
	for _, text := range []string{`1`, `"soon"`, `"P106752D"`, `"-P106752D"`} {
		if err := json.Unmarshal([]byte(text), new(TimeSpan)); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
