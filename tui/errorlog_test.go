package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// Errors are listed with their request IDs, and copied with them.
func TestErrorLogShowsRequestIDs(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Resize(100, 24)
	for _, id := range []string{"r1", "r2"} {
		d.App.ShowError("retry", &client.Error{
			Kind:      client.Rejected,
			Message:   "Conflict: a text that is long enough to take more than one line of the list of the errors",
			RequestID: id,
			Fields:    []wire.FieldError{{FieldName: "MessageID", Message: "is gone"}},
		})
	}
	d.Press("ctrl+e")
	d.WantText("Errors (", "(request r2)", "(request r1)", "MessageID: is gone")

	d.Press("j")
	d.Copied.Reset()
	d.Press("y")
	const start, end = "2026-07-01T14:02:06Z  retry: Conflict", "(request r1)"
	if text := d.LastCopied(); !strings.HasPrefix(text, start) || !strings.HasSuffix(text, end) {
		t.Errorf("copied %q, want %q at the start and %q at the end", text, start, end)
	}
	d.Press("Y", "esc")
	if d.App.Overlay() != nil {
		t.Error("esc does not close the error log")
	}
}
