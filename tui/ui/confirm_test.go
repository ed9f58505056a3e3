package ui_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// openConfirm opens a confirmation about count objects; done reports whether it was accepted.
func openConfirm(t *testing.T, count int, o tui.Options) (d *tuitest.Driver, done func() bool) {
	t.Helper()
	d = tuitest.Drive(t, tuitest.Unreachable(t), o)
	accepted := false
	ui.OpenConfirmMany(d.App, count, "Delete?", "delete", []string{"one"}, func() tea.Cmd {
		accepted = true
		return nil
	})
	return d, func() bool { return accepted }
}

// A confirmation about many objects requires their number, and a protected profile its
// name; a paste, y or an empty input is not accepted.
func TestConfirmRequiresTypedWord(t *testing.T) {
	protected := tui.Options{Protected: true, Profile: "prod"}
	for _, test := range []struct {
		name     string
		count    int
		options  tui.Options
		keys     []string
		accepted bool
		open     bool
	}{
		{"y of 20", 20, tui.Options{}, []string{"y"}, true, false},
		{"enter of 20", 20, tui.Options{}, []string{"enter"}, false, false},
		{"y of 21", 21, tui.Options{}, []string{"y", "enter"}, false, true},
		{"the number", 1204, tui.Options{}, []string{"'1204", "enter"}, true, false},
		{"another number", 1204, tui.Options{}, []string{"'120", "enter"}, false, true},
		{"nothing", 1204, tui.Options{}, []string{"enter"}, false, false},
		{"esc", 1204, tui.Options{}, []string{"'1204", "esc"}, false, false},
		{"the profile", 1, protected, []string{"'prod", "enter"}, true, false},
		{"the number of a protected profile", 21, protected, []string{"'21", "enter"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, done := openConfirm(t, test.count, test.options)
			d.Press(test.keys...)
			isOpen := d.App.Overlay() != nil
			if done() != test.accepted || isOpen != test.open {
				t.Errorf("after %q: accepted %v, open %v; want %v, %v; the screen is\n%s",
					test.keys, done(), isOpen, test.accepted, test.open, d.Text())
			}
		})
	}
}

// A paste does not accept a confirmation, whether it is bracketed or arrives as single
// keys with enter.
func TestPasteDoesNotConfirm(t *testing.T) {
	d, done := openConfirm(t, 37, tui.Options{})
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("37"), Paste: true})
	d.Send(tuitest.Keys["enter"])
	if done() || d.App.Overlay() != nil {
		t.Errorf("after a bracketed paste and enter: accepted %v, overlay %T; want false, none",
			done(), d.App.Overlay())
	}

	d, done = openConfirm(t, 37, tui.Options{})
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	for _, r := range "37" {
		d.Clock = d.Clock.Add(5 * time.Millisecond)
		d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	d.Clock = d.Clock.Add(5 * time.Millisecond)
	d.Send(tuitest.Keys["enter"])
	if done() {
		t.Error("after an unbracketed paste with enter: accepted, want not")
	}
	d.WantText("Delete?", "> 37")
}

// Keys are ignored during ConfirmPause.
func TestConfirmIgnoresEarlyKeys(t *testing.T) {
	const step = 10 * time.Millisecond
	for _, count := range []int{1, 37} {
		d, done := openConfirm(t, count, tui.Options{})
		for elapsed := step; elapsed < ui.ConfirmPause; elapsed += step {
			d.Clock = d.Clock.Add(step)
			d.Send(tuitest.Letter("y"))
			d.Send(tuitest.Letter("3"))
			d.Send(tuitest.Keys["enter"])
			d.Send(tuitest.Keys["esc"])
		}
		if done() || d.App.Overlay() == nil {
			t.Errorf("%d objects: accepted %v, overlay %T; want false, the confirmation",
				count, done(), d.App.Overlay())
		}
		d.WantNoText("> 3")
	}
}

// At every size, the whole text can be scrolled to and the keys are visible.
func TestLongConfirmScrolls(t *testing.T) {
	lines := []string{
		" 1204  hooks.acme.test/erp/in   last 503",
		"   37  10.2.0.9:8080/notify   last timeout",
		"       and 4 others",
		"   12  on pages that are not loaded",
		"12 are delivered or in progress already and are skipped.",
		"Each is sent again, oldest first, and the responses of the receivers appear in the list of messages " +
			"while they are sent.",
		"This cannot be undone.",
	}
	for _, size := range tuitest.Sizes {
		for _, count := range []int{1, 1204} {
			d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
			d.Resize(size[0], size[1])
			ui.OpenConfirmMany(d.App, count, "Retry 1,204 messages?", "retry 1,204", lines, nil)
			checkScrolling(t, d, lines)
		}
	}
}

// checkScrolling fails unless all words of a confirmation can be read by scrolling.
func checkScrolling(t *testing.T, d *tuitest.Driver, lines []string) {
	t.Helper()
	steps := len(lines) + 4 // some lines are wrapped
	read := ""
	for range steps {
		d.CheckScreen()
		d.WantText("cancel")
		read += strings.NewReplacer("│", " ", "\n", " ").Replace(d.Text())
		d.Press("down")
	}
	if d.App.Overlay() == nil {
		t.Fatal("a scroll key closed the confirmation")
	}
	for _, word := range strings.Fields(strings.Join(lines, " ")) {
		if !strings.Contains(read, " "+word+" ") {
			t.Errorf("%q cannot be read; the screen is\n%s", word, d.Text())
		}
	}
	for range steps {
		d.Press("up")
	}
	d.WantText("1204  hooks.acme.test/erp/in")
}
