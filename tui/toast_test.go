package tui

import (
	"testing"
	"time"
)

// What matters more is seen, and nothing is lost.
func TestToasts(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	var all toasts
	sees := func(want string) {
		t.Helper()
		got := ""
		if one := all.shown(); one != nil {
			got = one.text
		}
		if got != want {
			t.Errorf("%q is shown, want %q", got, want)
		}
	}
	add := func(text string, l level, link bool) {
		all.add(toast{level: l, text: text, at: now, link: link})
	}
	add("away", failure, true)
	sees("away")
	add("done", info, false)
	sees("done") // what came of the last key
	if all.dismiss() {
		t.Error("esc takes away a failure that is not seen")
	}
	now = now.Add(stays[info])
	all.expire(now)
	sees("away")
	add("refused", failure, false)
	sees("refused")
	add("away again", failure, true)
	sees("refused") // the user asked for it
	all.reached()
	sees("refused")
	now = now.Add(time.Hour)
	all.expire(now)
	sees("refused")
	if !all.dismiss() {
		t.Error("esc takes nothing away")
	}
	sees("")
	add("away", failure, true)
	all.reached()
	sees("")
	if len(all.failed) != 4 {
		t.Errorf("%d failures are remembered", len(all.failed))
	}
}
