package tui_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A key is found by its hint, its help and its name.
func TestHelpSearchFindsKeys(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	for words, want := range map[string]string{
		"retry": "retry the message", "all marked": "retry the message", "ctrl+e": "list errors", "r": "retry the message", "space": "mark or unmark the row",
	} {
		d.Press("?", "/", "'"+words, "enter")
		top := strings.Split(d.Text(), "\n")
		found := -1
		for i, line := range top {
			if found < 0 && strings.Contains(line, want) {
				found = i
			}
		}
		if d.App.Overlay().(*ui.Text).WrappedLines()[0].Text == "" || found < 0 || found > len(top)-3 {
			t.Errorf("search %q shows\n%s", words, d.Text())
		}
		d.Press("esc")
	}
	d.Press("?", "/", "'r", "enter")
	if first := d.App.Overlay().(*ui.Text).WrappedLines()[0].Text; !strings.Contains(first, "retry") {
		t.Errorf("search r lists %q first", first)
	}
}

// A key that is bound on other screens shows a message; a key that is never bound does
// not.
func TestUnboundKeysShowMessage(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, test := range []struct{ tab, key, want string }{
		{"1", "s", "no s here: x lists the actions"},
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
		d.WantText(test.want)
	}
	*d.App.Toasts() = ui.Toasts{}
	d.Press("%", "ü", "8")
	if toast := d.App.Toasts().Shown(); toast != nil {
		t.Errorf("an unbound key shows %q", toast.Text)
	}
	d.Press("?", "s")
	if toast := d.App.Toasts().Shown(); toast != nil {
		t.Errorf("the help shows %q", toast.Text)
	}
}

// The help lists left and right only if columns are scrolled out.
func TestHelpListsScrollKeysOnlyIfNeeded(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, test := range []struct {
		tab   string
		width int
		want  bool
	}{{"1", 80, false}, {"2", 200, false}, {"2", 60, true}, {"6", 200, true}} {
		d.Press(test.tab)
		d.Resize(test.width, 60)
		d.Press("?")
		if has := strings.Contains(d.Text(), "move left"); has != test.want {
			t.Errorf("tab %s on %d columns: %v\n%s", test.tab, test.width, has, d.Text())
		}
		d.Press("esc")
	}
}

// The reason why an action is unavailable is visible on the smallest screens, in the
// menu and when its key is pressed.
func TestUnavailableReasonsAreVisible(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	locked := s.Open(t, tui.Options{ReadOnly: true})
	locked.Press("4", "r")
	locked.WantText(" RO ", "started with --read-only   (retry)")
	locked.Press(":", "'rw", "enter")
	locked.WantText(" RO ", "started with --read-only")
	d := s.Open(t, tui.Options{ReadOnly: true, Unlock: func() (*client.Client, error) { return s.Client, nil }})
	d.Press("4")
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		d.Resize(size[0], size[1])
		d.Press("x")
		if line := d.LineWith("retry "); !strings.Contains(line, "read-only: enter :rw") {
			t.Errorf("%q", line)
		}
		d.Press("esc", "r")
		d.WantText("read-only: enter :rw   (retry)")
	}
	d.Resize(80, 24)
	d.Press("enter", "x")
	d.WantText("shift+tab  previous tab")
}

// All commands are listed while the input is empty.
func TestEmptyCommandInputListsCommands(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for _, size := range tuitest.Sizes {
		d.Resize(size[0], size[1])
		d.Press(":")
		for _, name := range tui.CommandNames() {
			d.WantText(" " + name)
		}
		d.CheckScreen()
		d.Press("esc")
	}
}
