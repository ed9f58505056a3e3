package ui_test

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A paste does not submit a form, whether it is bracketed or arrives as single keys
// with line ends.
func TestPasteDoesNotSubmitForm(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	sent := 0
	f := ui.NewForm(d.App, "A form", "send")
	f.Send = func(map[string]string, bool) tea.Cmd { sent++; return nil }
	f.Add("One", "One", "", "the only one")
	d.App.ShowOverlay(f)
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("first\nsecond\r\n"), Paste: true})
	if got := f.Fields[0].Text(); sent != 0 || got != "first second" {
		t.Errorf("sent %d times, with %q", sent, got)
	}
	d.Erase()
	d.Clock = d.Clock.Add(500 * time.Millisecond)
	for range 3 {
		for _, r := range "line" {
			d.Clock = d.Clock.Add(1 * time.Millisecond)
			d.Send(tuitest.Letter(string(r)))
		}
		d.Send(tuitest.Keys["enter"])
	}
	if got := f.Fields[0].Text(); sent != 0 || got != "line line line" {
		t.Errorf("sent %d times, with %q", sent, got)
	}
	d.WantText("ignored because it was part of a paste")
	if d.Press("enter"); sent != 1 {
		t.Errorf("sent %d times after enter", sent)
	}
}
