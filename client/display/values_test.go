package display

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                         "0s",
		30 * time.Second:          "30s",
		10 * time.Minute:          "10m",
		90 * time.Minute:          "1h30m",
		10 * time.Hour:            "10h",
		time.Hour + 5*time.Second: "1h0m5s",
		250 * time.Millisecond:    "250ms",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestResponse(t *testing.T) {
	for _, c := range []struct {
		code          int
		message, want string
	}{
		{0, "timeout", "timeout"},
		{404, "Not Found", "404 Not Found"},
		{404, "", "404"},
		{404, "404", "404"},
		{404, "404 unknown shop", "404 unknown shop"},
		{404, "4040 shops", "404 4040 shops"},
	} {
		if got := Response(&c.code, c.message); got != c.want {
			t.Errorf("%d, %q: got %q, want %q", c.code, c.message, got, c.want)
		}
	}
	if got := Response(nil, "timeout"); got != "timeout" {
		t.Errorf("without a response: got %q, want timeout", got)
	}
}
