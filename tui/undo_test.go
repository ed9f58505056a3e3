package tui_test

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A delete is sent after five seconds, during which it can be undone; quitting requires
// a second key.
func TestDeleteCanBeUndone(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y")
	d.WantText("delete of", "U undo", " ✗ ")
	d.Press("q")
	d.WantText("pending delete")
	if d.Quit {
		t.Fatal("quit with a pending delete")
	}
	d.Press("U")
	d.WantText("undone, nothing was sent")
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
		t.Error("q twice does not quit")
	}
	if n := s.MessageCount(t); n != 6 {
		t.Errorf("%d messages after quitting", n)
	}
}

// A delayed delete is not sent if the session has become read-only.
func TestReadOnlyCancelsDelayedDelete(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y", ":", "'ro", "enter")
	d.Advance(ui.UndoDelay)
	d.WantText("nothing was sent")
	if n := s.MessageCount(t); n != 8 {
		t.Errorf("there are %d messages", n)
	}
}

// A delete that was requested while a profile is opened is sent to the profile it was
// requested in, which remains open.
func TestPendingDeleteBlocksProfileSwitch(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "a"})
	replaced := d.App.Session.Client
	d.App.Delay("delete of one", []string{"1"}, func() tea.Cmd { return nil })
	d.Send(d.App.SwitchedMsg(tuitest.Unreachable(t), tui.Options{Profile: "b"}))
	if d.App.Session.Client != replaced || d.App.Session.Profile != "a" || d.App.DelayedCount() != 1 {
		t.Errorf("profile %s, %d pending deletes", d.App.Session.Profile, d.App.DelayedCount())
	}
	d.WantText("a delete is pending")
}

// Offline, the countdown of a delete that can be undone remains visible.
func TestUndoIsShownOffline(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D", "y")
	refused := &client.Error{Kind: client.Unreachable, Message: "refused"}
	d.Live(tui.LiveMsg{Lost: refused, Retry: 4 * time.Second})
	d.Respond(d.App.Front(), refused, func(error) tea.Cmd { return nil })
	d.WantText("Data from", "U undo")
	d.CheckScreen()
}
