package tui_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A delete waits for five seconds, in which it can be taken back; leaving asks.
func TestDeleteCanBeTakenBack(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y")
	d.WantText("delete of", "U undo", " x ")
	d.Press("q")
	d.WantText("still waits")
	if d.Quit {
		t.Fatal("the program ends although a delete waits")
	}
	d.Press("U")
	d.WantText("taken back, nothing was sent")
	d.Advance(2 * ui.UndoDelay)
	if n := s.MessageCount(t); n != 8 {
		t.Fatalf("there are %d messages", n)
	}

	d.Press("space", "space", "D", "y")
	d.WantText("delete of 2 messages")
	d.Advance(ui.UndoDelay)
	if n := s.MessageCount(t); n != 6 {
		t.Errorf("there are %d messages", n)
	}
	d.Press("D", "y", "q", "q")
	if !d.Quit {
		t.Error("q twice does not end the program")
	}
	if n := s.MessageCount(t); n != 6 {
		t.Errorf("there are %d messages after leaving", n)
	}
}

// A delete whose time comes while nothing can be changed any more is not sent.
func TestDelayedDeleteAndReadOnly(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y", ":", "'ro", "enter")
	d.Advance(ui.UndoDelay)
	d.WantText("read-only: nothing was sent")
	if n := s.MessageCount(t); n != 8 {
		t.Errorf("there are %d messages", n)
	}
}

// A delete that was asked for while another profile was being opened is sent to
// the one that it was meant for, which stays.
func TestNoSwitchWhileADeleteWaits(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "a"})
	was := d.App.Client
	d.App.Delay("delete of one", []string{"1"}, func() tea.Cmd { return nil })
	d.Send(d.App.SwitchedMsg(tuitest.Unreachable(t), tui.Options{Profile: "b"}))
	if d.App.Client != was || d.App.Profile != "a" || d.App.DelayedCount() != 1 {
		t.Errorf("profile %s, %d deletes wait", d.App.Profile, d.App.DelayedCount())
	}
	d.WantText("a delete still waits here")
}
