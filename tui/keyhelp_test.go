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
		"retry":      "retry the message",
		"all marked": "retry the message",
		"ctrl+e":     "list errors",
		"r":          "retry the message",
		"space":      "mark or unmark the row",
	} {
		d.Press("?", "/", "'"+words, "enter")
		lines := strings.Split(d.Text(), "\n")
		body := strings.Join(lines[:len(lines)-2], "\n") // without the status and the hints
		first := d.App.Overlay().(*ui.Text).WrappedLines()[0].Text
		if first == "" || !strings.Contains(body, want) {
			t.Errorf("the search for %q shows\n%s\nwant %q", words, d.Text(), want)
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
	}{
		{"1", 80, false},
		{"2", 200, false},
		{"2", 60, true},
		{"6", 200, true},
	} {
		d.Press(test.tab)
		d.Resize(test.width, 60)
		d.Press("?")
		if got := strings.Contains(d.Text(), "move left"); got != test.want {
			t.Errorf("tab %s on %d columns: the help lists the keys %v, want %v\n%s",
				test.tab, test.width, got, test.want, d.Text())
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

	unlock := func() (*client.Client, error) { return s.Client, nil }
	d := s.Open(t, tui.Options{ReadOnly: true, Unlock: unlock})
	d.Press("4")
	for _, size := range [][2]int{{80, 24}, {60, 15}} {
		d.Resize(size[0], size[1])
		d.Press("x")
		const reason = "read-only: enter :rw"
		if line := d.LineWith("retry "); !strings.Contains(line, reason) {
			t.Errorf("the row of retry in the menu is %q, want %q in it", line, reason)
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
