package ui_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/bizhook/whd/tui/ui"
)

// Errors of user actions take precedence over connection errors, and all errors are
// logged.
func TestUserErrorsTakePrecedence(t *testing.T) {
	now := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	var toasts ui.Toasts
	wantShown := func(want string) {
		t.Helper()
		got := ""
		if toast := toasts.Shown(); toast != nil {
			got = toast.Text
		}
		if got != want {
			t.Errorf("the message %q is shown, want %q", got, want)
		}
	}
	add := func(text string, l ui.Level, connection bool) {
		toasts.Add(ui.Toast{Level: l, Text: text, At: now, Connection: connection})
	}

	// A message covers a connection error for a time.
	add("unreachable", ui.Failure, true)
	wantShown("unreachable")
	add("done", ui.Info, false)
	wantShown("done") // outcome of the last key
	if toasts.Dismiss() {
		t.Error("Dismiss removed an error that is not visible")
	}
	now = now.Add(ui.ToastDuration[ui.Info])
	toasts.Expire(now)
	wantShown("unreachable")

	// The error of an action of the user stays until it is dismissed.
	add("refused", ui.Failure, false)
	wantShown("refused")
	add("unreachable again", ui.Failure, true)
	wantShown("refused") // requested by the user
	toasts.ClearConnection()
	wantShown("refused")
	now = now.Add(time.Hour)
	toasts.Expire(now)
	wantShown("refused")
	if !toasts.Dismiss() {
		t.Error("Dismiss removed nothing")
	}
	wantShown("")

	// A connection error disappears when the service responds.
	add("unreachable", ui.Failure, true)
	toasts.ClearConnection()
	wantShown("")
	if len(toasts.Errors) != 4 {
		t.Errorf("%d errors are logged, want all 4", len(toasts.Errors))
	}
}

// The error of a fetch disappears when the same fetch succeeds or its screen closes, and hides
// neither the outcome of a change nor the error of an action.
func TestFetchErrorsEndWithFetch(t *testing.T) {
	names := ui.FetchID{Type: reflect.TypeFor[string]()}
	rows := ui.FetchID{Type: reflect.TypeFor[int]()}
	text := func(toasts *ui.Toasts) string {
		if toast := toasts.Shown(); toast != nil {
			return toast.Text
		}
		return ""
	}
	var toasts ui.Toasts
	want := func(after, shown string) {
		t.Helper()
		if got := text(&toasts); got != shown {
			t.Errorf("after %s, %q is shown, want %q", after, got, shown)
		}
	}
	toasts.Add(ui.Toast{Level: ui.Failure, Text: "rows", Fetch: rows})
	toasts.Recovered(names)
	want("another fetch has succeeded", "rows")
	toasts.Recovered(rows)
	want("the fetch has succeeded", "")

	toasts.Add(ui.Toast{Text: "changed"})
	toasts.Add(ui.Toast{Level: ui.Failure, Text: "rows", Fetch: rows})
	want("a fetch has failed after a change", "changed")
	toasts.Expire(time.Time{}.Add(time.Hour))
	want("the outcome has expired", "rows")
	toasts.Add(ui.Toast{Level: ui.Failure, Text: "refused"})
	toasts.Add(ui.Toast{Level: ui.Failure, Text: "rows", Fetch: rows})
	want("a fetch has failed after an action", "refused")

	toasts.Dismiss()
	toasts.Add(ui.Toast{Level: ui.Info, Text: "no z here", IsHint: true})
	toasts.ClearOnKey(time.Time{})
	want("the next key", "")

	toasts.Add(ui.Toast{Level: ui.Info, Text: "changed"})
	toasts.ClearOnKey(time.Time{}.Add(time.Second / 2))
	want("a key before it could be read", "changed")
	toasts.ClearOnKey(time.Time{}.Add(time.Second))
	want("a key after a second", "")
}
