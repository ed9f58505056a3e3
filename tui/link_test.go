package tui

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// Whatever happens in whatever order, LIVE is said only where the last thing
// that is known of the stream is a heartbeat of the last 20 seconds.
func TestLiveTakesAHeartbeat(t *testing.T) {
	gone := &client.Error{Kind: client.Unreachable, Message: "refused"}
	rapid.Check(t, func(t *rapid.T) {
		var l link
		now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
		var beat time.Time
		var out bool // the last answer was that we are not signed in
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, 30_000).Draw(t, "milliseconds")) * time.Millisecond)
			},
			"connected":   func(*rapid.T) { l.Take(liveMsg{connected: true}, now); out = false },
			"a heartbeat": func(*rapid.T) { l.Take(liveMsg{beat: true}, now); beat = now },
			"lost":        func(*rapid.T) { l.Take(liveMsg{lost: gone, retry: time.Second}, now); beat = time.Time{} },
			"refused":     func(*rapid.T) { l.Take(liveMsg{final: errors.New("no")}, now); beat = time.Time{} },
			"an answer":   func(*rapid.T) { l.heard(nil, now); out = false },
			"no answer":   func(*rapid.T) { l.heard(gone, now) },
			"signed out":  func(*rapid.T) { l.heard(&client.Error{Kind: client.Unauthorized, Status: 401}, now); out = true },
			"": func(t *rapid.T) {
				if l.word(now) == "LIVE" && (beat.IsZero() || now.Sub(beat) >= ui.HeartbeatLimit) {
					t.Errorf("LIVE, and the last heartbeat was at %v, now %v", beat, now)
				}
				if l.word(now) == "LIVE" && out {
					t.Error("LIVE, and we are not signed in")
				}
			},
		})
	})
}

// Clocks that differ are told of, and ages are those of the service's clock.
func TestClocksDiffer(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	at := d.clock.Add(-time.Minute)
	for ahead, want := range map[time.Duration]string{0: "", 1900 * time.Millisecond: "", 3 * time.Second: " +3s there", -2 * time.Hour: " -2h there"} {
		d.send(liveMsg{session: d.app.link.session, connected: true, beat: true, ahead: ahead})
		if got := d.app.link.clocks(); got != want {
			t.Errorf("%v ahead: %q, want %q", ahead, got, want)
		}
		if got, want := d.app.Moment(at), ui.Age(time.Minute+ahead); got != want {
			t.Errorf("%v ahead: %s ago, want %s", ahead, got, want)
		}
	}
	d.send(liveMsg{session: d.app.link.session, connected: true, beat: true, ahead: 3 * time.Second})
	d.sees("+3s there")
}
