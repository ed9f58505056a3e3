package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A key is found by the word that the line of hints has for it, by its help and
// by its name.
func TestKeysAreFound(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	for sought, want := range map[string]string{
		"retry": "retry: send again", "send again": "retry: send again", "ctrl+e": "the errors so far", "r": "retry: send again", "space": "mark the row",
	} {
		d.Press("?", "/", "'"+sought, "enter")
		top := strings.Split(d.Text(), "\n")
		found := -1
		for i, line := range top {
			if found < 0 && strings.Contains(line, want) {
				found = i
			}
		}
		if d.App.Overlay().(*ui.Text).WrappedLines()[0].Text == "" || found < 0 || found > len(top)-3 {
			t.Errorf("%s finds\n%s", sought, d.Text())
		}
		d.Press("esc")
	}
	d.Press("?", "/", "'r", "enter")
	if first := d.App.Overlay().(*ui.Text).WrappedLines()[0].Text; !strings.Contains(first, "retry") {
		t.Errorf("r finds %q first", first)
	}
}

// What means something on other screens says that it means nothing on this one;
// what means nothing anywhere is left alone.
func TestKeysWithoutMeaning(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
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
		d.Press(test.tab)
		d.Resize(200, 60)
		*d.App.Toasts() = ui.Toasts{}
		d.Press(test.key)
		d.WantText(test.says)
	}
	*d.App.Toasts() = ui.Toasts{}
	d.Press("%", "ü", "8")
	if told := d.App.Toasts().Shown(); told != nil {
		t.Errorf("what means nothing anywhere says %q", told.Text)
	}
	d.Press("?", "s")
	if told := d.App.Toasts().Shown(); told != nil {
		t.Errorf("over the help %q is said", told.Text)
	}
}

// The help has left and right only where columns are out of sight.
func TestHelpOfWhatScrolls(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, test := range []struct {
		tab   string
		width int
		want  bool
	}{{"1", 80, false}, {"2", 200, false}, {"2", 60, true}, {"6", 200, true}} {
		d.Press(test.tab)
		d.Resize(test.width, 60)
		d.Press("?")
		if has := strings.Contains(d.Text(), "to the left"); has != test.want {
			t.Errorf("tab %s on %d columns: %v\n%s", test.tab, test.width, has, d.Text())
		}
		d.Press("esc")
	}
}

// Why something cannot be done is read on the smallest screens, in the list of
// actions and where its key is pressed.
func TestReasonsAreSeen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{ReadOnly: true})
	d.Press("4")
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		d.Resize(size[0], size[1])
		d.Press("x")
		if line := d.LineWith("retry "); !strings.Contains(line, "read-only: :rw lifts it") {
			t.Errorf("%q", line)
		}
		d.Press("esc", "r")
		d.WantText("read-only: :rw lifts it   (retry)")
	}
	d.Resize(80, 24)
	d.Press("enter", "x")
	d.WantText("shift+tab  the tab before")
}

// All that can be typed by its name is seen before anything is typed.
func TestVerbsAreSeen(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, size := range tuitest.Sizes {
		d.Resize(size[0], size[1])
		d.Press(":")
		for _, one := range tui.Verbs() {
			d.WantText(" " + one)
		}
		d.CheckScreen()
		d.Press("esc")
	}
}
