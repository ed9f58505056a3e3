package tui

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/theme"
)

// The help shows only the lines with a word while that is typed; leaving the
// line shows what was shown before.
func TestHelpIsSearched(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	d.press("?", "/", "'errors so")
	d.sees("the errors so far", "ctrl+e")
	if strings.Contains(d.text(), "everything that can be done") {
		t.Errorf("other lines are shown too:\n%s", d.text())
	}
	d.press("enter")
	d.sees("the errors so far")
	d.press("/", "'zzz")
	d.sees("nothing holds errors sozzz")
	d.press("esc")
	d.sees("the errors so far")
	d.press("esc")
	if d.app.over != nil {
		t.Error("esc does not close the help")
	}
}

// A list that was narrowed while a word was typed is whole again where the line
// is left.
func TestLeftSearchNarrowsNothing(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	d.press("2", "/", "'zzz")
	if strings.Contains(d.text(), "SO_Totals") {
		t.Fatalf("nothing is narrowed:\n%s", d.text())
	}
	d.press("esc")
	d.sees("SO_Totals")
	if strings.Contains(d.text(), "zzz") {
		t.Errorf("the word stays:\n%s", d.text())
	}
}

// The command that does the same asks the same service.
func TestTwinNamesTheProfile(t *testing.T) {
	d := drive(t, unreachable(t), Options{Profile: "test"})
	d.press("4", "c")
	d.sees("whctl messages list --order-by -AddedDateTime --profile", `"test"`)
	d.copied.Reset()
	d.press("y")
	if text := d.lastCopied(); !strings.HasSuffix(text, `--profile "test"`) {
		t.Errorf("copied %q", text)
	}
}

// What breaks long words does not break characters.
func TestWrappedWords(t *testing.T) {
	for _, line := range theme.Wrap(strings.Repeat("中", 30)+" "+strings.Repeat("é", 40), 16) {
		if strings.ContainsRune(line.Text, '\uFFFD') || len(line.Text) > 16 {
			t.Errorf("%q", line.Text)
		}
	}
}
