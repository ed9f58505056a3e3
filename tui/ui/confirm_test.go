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
	ui.OpenConfirmMany(d.App, count, "Delete?", "delete", []string{"one"}, func() tea.Cmd { accepted = true; return nil })
	return d, func() bool { return accepted }
}

// A confirmation about many objects requires their number, and a protected profile its
// name; a paste, y or an empty input is not accepted.
func TestConfirmRequiresTypedWord(t *testing.T) {
	protected := tui.Options{Protected: true, Profile: "prod"}
	for _, test := range []struct {
		name  string
		count int
		o     tui.Options
		keys  []string
		want  bool
		open  bool
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
			d, done := openConfirm(t, test.count, test.o)
			d.Press(test.keys...)
			if done() != test.want || (d.App.Overlay() != nil) != test.open {
				t.Errorf("done %v, want %v, and the screen is\n%s", done(), test.want, d.Text())
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
		t.Error("an empty line does not cancel")
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
		t.Error("a paste was accepted")
	}
	d.WantText("Delete?", "> 37")
}

// Keys are ignored in the first 250 ms.
func TestConfirmIgnoresEarlyKeys(t *testing.T) {
	for _, count := range []int{1, 37} {
		d, done := openConfirm(t, count, tui.Options{})
		for range 24 {
			d.Clock = d.Clock.Add(10 * time.Millisecond)
			for _, key := range []string{"y", "3", "enter", "esc"} {
				m, named := tuitest.Keys[key]
				if !named {
					m = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
				}
				d.Send(m)
			}
		}
		if done() || d.App.Overlay() == nil {
			t.Errorf("%d: closed too early", count)
		}
		if strings.Contains(d.Text(), "> 3") {
			t.Error("a key was accepted too early")
		}
	}
}

// At every size, the whole text can be scrolled to and the keys are visible.
func TestLongConfirmScrolls(t *testing.T) {
	lines := []string{
		" 1204  hooks.acme.test/erp/in   last 503", "   37  10.2.0.9:8080/notify   last timeout", "       and 4 others", "   12  on pages that are not loaded",
		"12 are delivered or in progress already and are skipped.", "Each is sent again, oldest first, and the responses of the receivers appear in the list of messages while they are sent.",
		"This cannot be undone.",
	}
	for _, size := range tuitest.Sizes {
		for _, count := range []int{1, 1204} {
			d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
			d.Resize(size[0], size[1])
			ui.OpenConfirmMany(d.App, count, "Retry 1,204 messages?", "retry 1,204", lines, nil)
			read := ""
			for range len(lines) + 4 {
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
					t.Errorf("%v, %d messages: %q cannot be read:\n%s", size, count, word, d.Text())
				}
			}
			for range len(lines) + 4 {
				d.Press("up")
			}
			d.WantText("1204  hooks.acme.test/erp/in")
		}
	}
}
