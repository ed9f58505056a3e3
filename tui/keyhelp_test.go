package tui

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/ui"
)

// A key is found by the word that the line of hints has for it, by its help and
// by its name.
func TestKeysAreFound(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4")
	for sought, want := range map[string]string{
		"retry": "retry: send again", "send again": "retry: send again", "ctrl+e": "the errors so far", "r": "retry: send again", "space": "mark the row",
	} {
		d.press("?", "/", "'"+sought, "enter")
		top := strings.Split(d.text(), "\n")
		found := -1
		for i, line := range top {
			if found < 0 && strings.Contains(line, want) {
				found = i
			}
		}
		if d.app.over.(*ui.Text).Shown()[0].Text == "" || found < 0 || found > len(top)-3 {
			t.Errorf("%s finds\n%s", sought, d.text())
		}
		d.press("esc")
	}
	d.press("?", "/", "'r", "enter")
	if first := d.app.over.(*ui.Text).Shown()[0].Text; !strings.Contains(first, "retry") {
		t.Errorf("r finds %q first", first)
	}
}

// What means something on other screens says that it means nothing on this one;
// what means nothing anywhere is left alone.
func TestKeysWithoutMeaning(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	for _, test := range []struct{ tab, key, says string }{
		{"1", "s", "no s here: x lists what can be done"},
		{"1", "space", "no space here"},
		{"1", "/", "no / here"},
		{"1", "h", "no h here"},
		{"2", "D", "no D here"},
		{"2", "left", "no left here"},
		{"2", "!", "no ! here"},
		{"5", "C", "no C here"},
		{"6", "n", "no n here"},
	} {
		d.press(test.tab)
		d.resize(200, 60)
		d.app.toasts = ui.Toasts{}
		d.press(test.key)
		d.sees(test.says)
	}
	d.app.toasts = ui.Toasts{}
	d.press("%", "ü", "8")
	if told := d.app.toasts.Shown(); told != nil {
		t.Errorf("what means nothing anywhere says %q", told.Text)
	}
	d.press("?", "s")
	if told := d.app.toasts.Shown(); told != nil {
		t.Errorf("over the help %q is said", told.Text)
	}
}

// The help has left and right only where columns are out of sight.
func TestHelpOfWhatScrolls(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	for _, test := range []struct {
		tab   string
		width int
		want  bool
	}{{"1", 80, false}, {"2", 200, false}, {"2", 60, true}, {"6", 200, true}} {
		d.press(test.tab)
		d.resize(test.width, 60)
		d.press("?")
		if has := strings.Contains(d.text(), "to the left"); has != test.want {
			t.Errorf("tab %s on %d columns: %v\n%s", test.tab, test.width, has, d.text())
		}
		d.press("esc")
	}
}

// Why something cannot be done is read on the smallest screens, in the list of
// actions and where its key is pressed.
func TestReasonsAreSeen(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{ReadOnly: true})
	d.press("4")
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		d.resize(size[0], size[1])
		d.press("x")
		if line := lineWith(t, d, "retry "); !strings.Contains(line, "read-only: :rw lifts it") {
			t.Errorf("%q", line)
		}
		d.press("esc", "r")
		d.sees("read-only: :rw lifts it   (retry)")
	}
	d.resize(80, 24)
	d.press("enter", "x")
	d.sees("shift+tab  the tab before")
}

// All that can be typed by its name is seen before anything is typed.
func TestVerbsAreSeen(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	for _, size := range sizes {
		d.resize(size[0], size[1])
		d.press(":")
		for _, one := range verbs() {
			d.sees(" " + one.name)
		}
		d.checkScreen()
		d.press("esc")
	}
}

// Who may not see subscriptions is told so, and not that there are none.
func TestEventsWithoutTheRole(t *testing.T) {
	i := daemontest.Start(t)
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := drive(t, c, Options{})
	d.press("5")
	d.sees("takes the role admin")
	if line := lineWith(t, d, "debtor.created"); strings.Count(line, "?") != 2 || strings.Contains(line, " 0 ") {
		t.Errorf("%q", line)
	}
	d.press("S")
	if d.sees("subscriptions take the role admin"); d.app.over != nil {
		t.Errorf("nobody is said to get it:\n%s", d.text())
	}
}
