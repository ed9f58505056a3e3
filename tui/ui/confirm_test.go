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

// asked opens a question about some things, and tells whether it was answered
// with yes.
func asked(t *testing.T, count int, o tui.Options) (d *tuitest.Driver, done func() bool) {
	t.Helper()
	d = tuitest.Drive(t, tuitest.Unreachable(t), o)
	yes := false
	ui.OpenConfirmMany(d.App, count, "Delete?", "delete", []string{"one"}, func() tea.Cmd { yes = true; return nil })
	return d, func() bool { return yes }
}

// Many things take their number and a protected profile its name; a paste, a y,
// an empty line or anything else is no answer.
func TestTypedConfirmation(t *testing.T) {
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
			d, done := asked(t, test.count, test.o)
			d.Press(test.keys...)
			if done() != test.want || (d.App.Overlay() != nil) != test.open {
				t.Errorf("done %v, want %v, and the screen is\n%s", done(), test.want, d.Text())
			}
		})
	}
}

// A paste does not answer: not in one piece, and not key by key with its enter.
func TestPasteIsNoAnswer(t *testing.T) {
	d, done := asked(t, 37, tui.Options{})
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("37"), Paste: true})
	d.Send(tuitest.Keys["enter"])
	if done() || d.App.Overlay() != nil {
		t.Error("an empty line does not cancel")
	}
	d, done = asked(t, 37, tui.Options{})
	d.Clock = d.Clock.Add(300 * time.Millisecond)
	for _, r := range "37" {
		d.Clock = d.Clock.Add(5 * time.Millisecond)
		d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	d.Clock = d.Clock.Add(5 * time.Millisecond)
	d.Send(tuitest.Keys["enter"])
	if done() {
		t.Error("a paste answered")
	}
	d.WantText("Delete?", "> 37")
}

// What comes in the first quarter of a second is not heard.
func TestQuestionIsDeafAtFirst(t *testing.T) {
	for _, count := range []int{1, 37} {
		d, done := asked(t, count, tui.Options{})
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
			t.Errorf("%d: it was answered", count)
		}
		if strings.Contains(d.Text(), "> 3") {
			t.Error("what came too early was typed")
		}
	}
}

// On every size each word of a question can be read, and how to answer is seen.
func TestQuestionsAreReadWhole(t *testing.T) {
	lines := []string{
		" 1204  hooks.acme.test/erp/in   last 503", "   37  10.2.0.9:8080/notify   last timeout", "       and 4 others", "   12  on pages that are not loaded",
		"12 are delivered or on the way already and left alone.", "Each is sent once more, oldest first, and what the receivers answer is seen in the list of messages while they are sent.",
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
				t.Fatal("a key that scrolls answers")
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
