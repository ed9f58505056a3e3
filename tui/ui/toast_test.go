package ui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/tui/ui"
)

// Errors of user actions take precedence over connection errors, and all errors are
// logged.
func TestUserErrorsTakePrecedence(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	var all ui.Toasts
	wantShown := func(want string) {
		t.Helper()
		got := ""
		if toast := all.Shown(); toast != nil {
			got = toast.Text
		}
		if got != want {
			t.Errorf("%q is shown, want %q", got, want)
		}
	}
	add := func(text string, l ui.Level, connection bool) {
		all.Add(ui.Toast{Level: l, Text: text, At: now, Connection: connection})
	}
	add("unreachable", ui.Failure, true)
	wantShown("unreachable")
	add("done", ui.Info, false)
	wantShown("done") // outcome of the last key
	if all.Dismiss() {
		t.Error("Dismiss removed an error that is not visible")
	}
	now = now.Add(ui.ToastDuration[ui.Info])
	all.Expire(now)
	wantShown("unreachable")
	add("refused", ui.Failure, false)
	wantShown("refused")
	add("unreachable again", ui.Failure, true)
	wantShown("refused") // requested by the user
	all.ClearConnection()
	wantShown("refused")
	now = now.Add(time.Hour)
	all.Expire(now)
	wantShown("refused")
	if !all.Dismiss() {
		t.Error("Dismiss removed nothing")
	}
	wantShown("")
	add("unreachable", ui.Failure, true)
	all.ClearConnection()
	wantShown("")
	if len(all.Errors) != 4 {
		t.Errorf("%d errors are logged", len(all.Errors))
	}
}
