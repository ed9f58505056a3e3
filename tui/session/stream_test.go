package session

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// The label matches the state of the connection.
func TestConnectionLabel(t *testing.T) {
	at := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	refused := &client.Error{Kind: client.Unreachable, Message: "refused"}
	var c Connection
	steps := []struct {
		after int // seconds
		apply func(now time.Time)
		want  string
	}{
		{0, func(time.Time) {}, "CONNECTING"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Connected: true}, now) }, "CONNECTING"},
		{0, func(now time.Time) { c.addOutcome(nil, now) }, "POLL 2s"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Beat: true}, now) }, "LIVE"},
		{19, func(time.Time) {}, "LIVE"},
		{1, func(time.Time) {}, "STALE 20s"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Lost: refused, Retry: 4 * time.Second}, now) }, "POLL 2s"},
		{1, func(now time.Time) { c.addOutcome(refused, now) }, "OFFLINE retry in 3s"},
		{4, func(time.Time) {}, "OFFLINE"},
		{1, func(now time.Time) { c.addOutcome(nil, now) }, "POLL 2s"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Connected: true, Beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { c.addOutcome(&client.Error{Kind: client.Unauthorized, Status: 401}, now) }, "SIGN IN"},
		{1, func(now time.Time) { c.addOutcome(errors.New("anything else"), now) }, "SIGN IN"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Beat: true}, now) }, "SIGN IN"}, // a stream can outlive its session for a moment
		{1, func(now time.Time) { c.addBatch(LiveMsg{Connected: true, Beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { c.paused = true; c.addBatch(LiveMsg{Requests: 37}, now) }, "PAUSED +37"},
	}
	for i, s := range steps {
		at = at.Add(time.Duration(s.after) * time.Second)
		s.apply(at)
		if got := c.Label(at); got != s.want {
			t.Errorf("step %d: %s, want %s", i+1, got, s.want)
		}
	}
}

// In any order of events, the label is LIVE only if the last event of the stream is a
// heartbeat within HeartbeatLimit.
func TestLiveRequiresHeartbeat(t *testing.T) {
	gone := &client.Error{Kind: client.Unreachable, Message: "refused"}
	rapid.Check(t, func(t *rapid.T) {
		var c Connection
		now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
		var beat time.Time
		var out bool // the last response was 401
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, 30_000).Draw(t, "milliseconds")) * time.Millisecond)
			},
			"connected":   func(*rapid.T) { c.addBatch(LiveMsg{Connected: true}, now); out = false },
			"a heartbeat": func(*rapid.T) { c.addBatch(LiveMsg{Beat: true}, now); beat = now },
			"lost":        func(*rapid.T) { c.addBatch(LiveMsg{Lost: gone, Retry: time.Second}, now); beat = time.Time{} },
			"refused":     func(*rapid.T) { c.addBatch(LiveMsg{Final: errors.New("no")}, now); beat = time.Time{} },
			"a response":  func(*rapid.T) { c.addOutcome(nil, now); out = false },
			"no response": func(*rapid.T) { c.addOutcome(gone, now) },
			"signed out":  func(*rapid.T) { c.addOutcome(&client.Error{Kind: client.Unauthorized, Status: 401}, now); out = true },
			"": func(t *rapid.T) {
				if c.Label(now) == "LIVE" && (beat.IsZero() || now.Sub(beat) >= ui.HeartbeatLimit) {
					t.Errorf("LIVE, but the last heartbeat was at %v, now %v", beat, now)
				}
				if c.Label(now) == "LIVE" && out {
					t.Error("LIVE, but not signed in")
				}
			},
		})
	})
}
