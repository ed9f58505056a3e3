package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// The help shows only the lines with a word while that is typed; leaving the
// line shows what was shown before.
func TestHelpIsSearched(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Press("?", "/", "'errors so")
	d.WantText("the errors so far", "ctrl+e")
	if strings.Contains(d.Text(), "everything that can be done") {
		t.Errorf("other lines are shown too:\n%s", d.Text())
	}
	d.Press("enter")
	d.WantText("the errors so far")
	d.Press("/", "'zzz")
	d.WantText("nothing holds errors sozzz")
	d.Press("esc")
	d.WantText("the errors so far")
	d.Press("esc")
	if d.App.Overlay() != nil {
		t.Error("esc does not close the help")
	}
}

// A list that was narrowed while a word was typed is whole again where the line
// is left.
func TestLeftSearchNarrowsNothing(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Press("2", "/", "'zzz")
	if strings.Contains(d.Text(), "SO_Totals") {
		t.Fatalf("nothing is narrowed:\n%s", d.Text())
	}
	d.Press("esc")
	d.WantText("SO_Totals")
	if strings.Contains(d.Text(), "zzz") {
		t.Errorf("the word stays:\n%s", d.Text())
	}
}

// The command that does the same asks the same service.
func TestTwinNamesTheProfile(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "test"})
	d.Press("4", "c")
	d.WantText("whctl messages list --order-by -AddedDateTime --profile", `"test"`)
	d.Copied.Reset()
	d.Press("y")
	if text := d.LastCopied(); !strings.HasSuffix(text, `--profile "test"`) {
		t.Errorf("copied %q", text)
	}
}
