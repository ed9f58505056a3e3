package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// The help shows only matching lines while searching; cancelling the search restores
// the lines.
func TestHelpSearchFiltersLines(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Press("?", "/", "'list err")
	d.WantText("list errors", "ctrl+e")
	if strings.Contains(d.Text(), "list all actions") {
		t.Errorf("other lines are visible:\n%s", d.Text())
	}
	d.Press("enter")
	d.WantText("list errors")
	d.Press("/", "'zzz")
	d.WantText("no match for list errzzz")
	d.Press("esc")
	d.WantText("list errors")
	d.Press("esc")
	if d.App.Overlay() != nil {
		t.Error("esc does not close the help")
	}
}

// A list that was filtered while typing is restored when the search is cancelled.
func TestCancelledSearchIsReset(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Press("2", "/", "'zzz")
	if strings.Contains(d.Text(), "SO_Totals") {
		t.Fatalf("not filtered:\n%s", d.Text())
	}
	d.Press("esc")
	d.WantText("SO_Totals")
	if strings.Contains(d.Text(), "zzz") {
		t.Errorf("the search remains:\n%s", d.Text())
	}
}

// The equivalent command uses the same profile.
func TestEquivalentCommandNamesProfile(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "test"})
	d.Press("4", "c")
	d.WantText("whctl messages list --order-by -AddedDateTime --profile", `"test"`)
	d.Copied.Reset()
	d.Press("y")
	if text := d.LastCopied(); !strings.HasSuffix(text, `--profile "test"`) {
		t.Errorf("copied %q", text)
	}
}
