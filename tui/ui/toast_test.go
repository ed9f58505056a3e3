package ui

import (
	"testing"
	"time"
)

// Errors of user actions take precedence over connection errors, and all errors are
// logged.
func TestToastPrecedence(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	var all Toasts
	sees := func(want string) {
		t.Helper()
		got := ""
		if one := all.Shown(); one != nil {
			got = one.Text
		}
		if got != want {
			t.Errorf("%q is shown, want %q", got, want)
		}
	}
	add := func(text string, l Level, link bool) {
		all.Add(Toast{Level: l, Text: text, At: now, Connection: link})
	}
	add("away", Failure, true)
	sees("away")
	add("done", Info, false)
	sees("done") // outcome of the last key
	if all.Dismiss() {
		t.Error("Dismiss removed an error that is not visible")
	}
	now = now.Add(ToastDuration[Info])
	all.Expire(now)
	sees("away")
	add("refused", Failure, false)
	sees("refused")
	add("away again", Failure, true)
	sees("refused") // requested by the user
	all.ClearConnection()
	sees("refused")
	now = now.Add(time.Hour)
	all.Expire(now)
	sees("refused")
	if !all.Dismiss() {
		t.Error("Dismiss removed nothing")
	}
	sees("")
	add("away", Failure, true)
	all.ClearConnection()
	sees("")
	if len(all.Errors) != 4 {
		t.Errorf("%d errors are logged", len(all.Errors))
	}
}
