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
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	refused := &client.Error{Kind: client.Unreachable, Message: "refused"}
	expired := &client.Error{Kind: client.Unauthorized, Status: 401}
	broken := &client.Error{Kind: client.Rejected, Status: 503}
	var c Connection
	for i, step := range []struct {
		after int // seconds after the previous step
		apply func(now time.Time)
		want  string // label after the step
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
		{1, func(now time.Time) { c.addOutcome(expired, now) }, "SIGN IN"},
		{1, func(now time.Time) { c.addOutcome(errors.New("anything else"), now) }, "SIGN IN"},
		// A stream can outlive its session for a moment.
		{1, func(now time.Time) { c.addBatch(LiveMsg{Beat: true}, now) }, "SIGN IN"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Connected: true, Beat: true}, now) }, "LIVE"},
		// The stream lives next to lists that fail.
		{1, func(now time.Time) { c.addOutcome(nil, now) }, "LIVE"},
		{3, func(now time.Time) { c.addOutcome(broken, now) }, "STALE 3s"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Beat: true}, now) }, "STALE 4s"},
		{1, func(now time.Time) { c.addOutcome(&client.Error{Kind: client.Cancelled}, now) }, "STALE 5s"},
		{1, func(now time.Time) { c.addOutcome(&client.Error{Kind: client.NotFound, Status: 404}, now) }, "LIVE"},
		{0, func(time.Time) { c.paused = true }, "PAUSED +0"},
		{1, func(now time.Time) { c.addBatch(LiveMsg{Requests: 37}, now) }, "PAUSED +37"},
	} {
		now = now.Add(time.Duration(step.after) * time.Second)
		step.apply(now)
		if got := c.Label(now); got != step.want {
			t.Errorf("step %d: label %q, want %q", i+1, got, step.want)
		}
	}
}

// In any order of events, the label is LIVE only if the last event of the stream is a
// heartbeat within HeartbeatLimit.
func TestLiveRequiresHeartbeat(t *testing.T) {
	refused := &client.Error{Kind: client.Unreachable, Message: "refused"}
	expired := &client.Error{Kind: client.Unauthorized, Status: 401}
	rapid.Check(t, func(t *rapid.T) {
		var c Connection
		now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
		var beat time.Time // time of the last heartbeat, zero after the stream has ended
		var isSignedOut bool
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, 30_000).Draw(t, "milliseconds")) * time.Millisecond)
			},
			"connected": func(*rapid.T) {
				c.addBatch(LiveMsg{Connected: true}, now)
				isSignedOut = false
			},
			"a heartbeat": func(*rapid.T) {
				c.addBatch(LiveMsg{Beat: true}, now)
				beat = now
			},
			"lost": func(*rapid.T) {
				c.addBatch(LiveMsg{Lost: refused, Retry: time.Second}, now)
				beat = time.Time{}
			},
			"refused": func(*rapid.T) {
				c.addBatch(LiveMsg{Final: errors.New("no")}, now)
				beat = time.Time{}
			},
			"a response": func(*rapid.T) {
				c.addOutcome(nil, now)
				isSignedOut = false
			},
			"no response": func(*rapid.T) {
				c.addOutcome(refused, now)
			},
			"signed out": func(*rapid.T) {
				c.addOutcome(expired, now)
				isSignedOut = true
			},
			"": func(t *rapid.T) { // after each action
				if c.Label(now) != "LIVE" {
					return
				}
				if beat.IsZero() || now.Sub(beat) >= ui.HeartbeatLimit {
					t.Errorf("LIVE, but the last heartbeat was at %v, now %v", beat, now)
				}
				if isSignedOut {
					t.Error("LIVE, but not signed in")
				}
			},
		})
	})
}
