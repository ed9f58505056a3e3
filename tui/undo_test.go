package tui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// A delete waits for five seconds, in which it can be taken back; leaving asks.
func TestDeleteCanBeTakenBack(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "D", "y")
	d.sees("delete of", "U undo", " x ")
	d.press("q")
	d.sees("still waits")
	if d.quit {
		t.Fatal("the program ends although a delete waits")
	}
	d.press("U")
	d.sees("taken back, nothing was sent")
	d.later(2 * ui.UndoTime)
	if n := s.total(t); n != 8 {
		t.Fatalf("there are %d messages", n)
	}

	d.press("space", "space", "D", "y")
	d.sees("delete of 2 messages")
	d.later(ui.UndoTime)
	if n := s.total(t); n != 6 {
		t.Errorf("there are %d messages", n)
	}
	d.press("D", "y", "q", "q")
	if !d.quit {
		t.Error("q twice does not end the program")
	}
	if n := s.total(t); n != 6 {
		t.Errorf("there are %d messages after leaving", n)
	}
}

// A delete whose time comes while nothing can be changed any more is not sent.
func TestDelayedDeleteAndReadOnly(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "D", "y", ":", "'ro", "enter")
	d.later(ui.UndoTime)
	d.sees("read-only: nothing was sent")
	if n := s.total(t); n != 8 {
		t.Errorf("there are %d messages", n)
	}
}

func (s *deliveries) total(t *testing.T) int64 {
	t.Helper()
	page, err := s.client.AllMessages(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

// A delete that was asked for while another profile was being opened is sent to
// the one that it was meant for, which stays.
func TestNoSwitchWhileADeleteWaits(t *testing.T) {
	d := drive(t, unreachable(t), Options{Profile: "a"})
	was := d.app.Client
	d.app.Delay("delete of one", []string{"1"}, func() tea.Cmd { return nil })
	d.send(switchedMsg{client: unreachable(t), options: Options{Profile: "b"}, state: d.app.State})
	if d.app.Client != was || d.app.Profile != "a" || len(d.app.delayed) != 1 {
		t.Errorf("profile %s, %d deletes wait", d.app.Profile, len(d.app.delayed))
	}
	d.sees("a delete still waits here")
}
