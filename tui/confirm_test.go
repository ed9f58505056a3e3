package tui

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/ui"
)

// asked opens a question about some things, and tells whether it was answered
// with yes.
func asked(t *testing.T, count int, o Options) (d *driver, done func() bool) {
	t.Helper()
	d = drive(t, unreachable(t), o)
	yes := false
	ui.AskMany(d.app, count, "Delete?", "delete", []string{"one"}, func() tea.Cmd { yes = true; return nil })
	return d, func() bool { return yes }
}

// Many things take their number and a protected profile its name; a paste, a y,
// an empty line or anything else is no answer.
func TestTypedConfirmation(t *testing.T) {
	protected := Options{Protected: true, Profile: "prod"}
	for _, test := range []struct {
		name  string
		count int
		o     Options
		keys  []string
		want  bool
		open  bool
	}{
		{"y of 20", 20, Options{}, []string{"y"}, true, false},
		{"enter of 20", 20, Options{}, []string{"enter"}, false, false},
		{"y of 21", 21, Options{}, []string{"y", "enter"}, false, true},
		{"the number", 1204, Options{}, []string{"'1204", "enter"}, true, false},
		{"another number", 1204, Options{}, []string{"'120", "enter"}, false, true},
		{"nothing", 1204, Options{}, []string{"enter"}, false, false},
		{"esc", 1204, Options{}, []string{"'1204", "esc"}, false, false},
		{"the profile", 1, protected, []string{"'prod", "enter"}, true, false},
		{"the number of a protected profile", 21, protected, []string{"'21", "enter"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, done := asked(t, test.count, test.o)
			d.press(test.keys...)
			if done() != test.want || (d.app.over != nil) != test.open {
				t.Errorf("done %v, want %v, and the screen is\n%s", done(), test.want, d.text())
			}
		})
	}
}

// A paste does not answer: not in one piece, and not key by key with its enter.
func TestPasteIsNoAnswer(t *testing.T) {
	d, done := asked(t, 37, Options{})
	d.clock = d.clock.Add(ms(300))
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("37"), Paste: true})
	d.send(keys["enter"])
	if done() || d.app.over != nil {
		t.Error("an empty line does not cancel")
	}
	d, done = asked(t, 37, Options{})
	d.clock = d.clock.Add(ms(300))
	for _, r := range "37" {
		d.clock = d.clock.Add(ms(5))
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	d.clock = d.clock.Add(ms(5))
	d.send(keys["enter"])
	if done() {
		t.Error("a paste answered")
	}
	d.sees("Delete?", "> 37")
}

// What comes in the first quarter of a second is not heard.
func TestQuestionIsDeafAtFirst(t *testing.T) {
	for _, count := range []int{1, 37} {
		d, done := asked(t, count, Options{})
		for range 24 {
			d.clock = d.clock.Add(ms(10))
			for _, key := range []string{"y", "3", "enter", "esc"} {
				m, named := keys[key]
				if !named {
					m = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
				}
				d.send(m)
			}
		}
		if done() || d.app.over == nil {
			t.Errorf("%d: it was answered", count)
		}
		if strings.Contains(d.text(), "> 3") {
			t.Error("what came too early was typed")
		}
	}
}

// All failed messages of all pages are retried once their number was typed.
func TestRetryManyTakesTheirNumber(t *testing.T) {
	s := startFailures(t, 30)
	d := s.open(t, Options{})
	d.press("4", "!", "a", "r")
	d.sees("Retry 30 failed messages?", "type 30 and enter to retry 30")
	d.press("y", "enter")
	d.sees("that is not 30")
	d.press("backspace", "'30", "enter")
	d.sees("30 messages are due now")
}

// startFailures runs a daemon with one subscription and as many messages that
// have failed.
func startFailures(t *testing.T, count int) *deliveries {
	t.Helper()
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("webhook-delivery", "abort-message")
		w.WriteHeader(http.StatusBadRequest)
	})
	s.bad = s.subscribe(t, "salesorder.created", s.receiver+"/down")
	for i := range count {
		s.raise(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"D%d"}`, i), 3)
	}
	return s
}

// What a question about many messages asks is what yes does, whatever was opened
// before the service had counted them.
func TestQuestionMeansWhatWasMarked(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "!", "a")
	m := d.app.Front().(*messages.List)
	count := m.Act(keymap.Remove)()
	d.press("F", "a")
	d.send(count)
	d.sees("Delete 4 messages?")
	d.press("y")
	d.wait(2 * ui.UndoTime)
	if n := s.total(t); n != 4 {
		t.Errorf("%d messages are left, want 4", n)
	}

	d.press("a")
	count = m.Act(keymap.Remove)()
	d.press("1")
	d.send(count)
	if d.app.over != nil {
		t.Errorf("it asks about a list that was left:\n%s", d.text())
	}
	d.press("n", "y")
}

// How a bulk action went is told also where its screen was left.
func TestBulkIsToldElsewhere(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("!", "a", "D", "y", "esc", "esc")
	d.sees(" Messages  ", "of 8")
	d.wait(ui.UndoTime + ms(500))
	d.sees("4 messages deleted")
}

// On every size each word of a question can be read, and how to answer is seen.
func TestQuestionsAreReadWhole(t *testing.T) {
	lines := []string{
		" 1204  hooks.acme.test/erp/in   last 503", "   37  10.2.0.9:8080/notify   last timeout", "       and 4 others", "   12  on pages that are not loaded",
		"12 are delivered or on the way already and left alone.", "Each is sent once more, oldest first, and what the receivers answer is seen in the list of messages while they are sent.",
		"This cannot be undone.",
	}
	for _, size := range sizes {
		for _, count := range []int{1, 1204} {
			d := drive(t, unreachable(t), Options{})
			d.resize(size[0], size[1])
			ui.AskMany(d.app, count, "Retry 1,204 messages?", "retry 1,204", lines, nil)
			read := ""
			for range len(lines) + 4 {
				d.checkScreen()
				d.sees("cancel")
				read += strings.NewReplacer("│", " ", "\n", " ").Replace(d.text())
				d.press("down")
			}
			if d.app.over == nil {
				t.Fatal("a key that scrolls answers")
			}
			for _, word := range strings.Fields(strings.Join(lines, " ")) {
				if !strings.Contains(read, " "+word+" ") {
					t.Errorf("%v, %d messages: %q cannot be read:\n%s", size, count, word, d.text())
				}
			}
			for range len(lines) + 4 {
				d.press("up")
			}
			d.sees("1204  hooks.acme.test/erp/in")
		}
	}
}
