package session

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// undoHost is an app with a screen in front that counts how often it is drawn again.
type undoHost struct {
	session ui.Session
	screen  shownScreen
	notices []string
}

type shownScreen struct {
	ui.Screen
	shown int
}

func (s *shownScreen) Shown() tea.Cmd {
	s.shown++
	return nil
}

func (h *undoHost) CurrentSession() *ui.Session    { return &h.session }
func (h *undoHost) Notify(_ ui.Level, text string) { h.notices = append(h.notices, text) }
func (h *undoHost) Front() ui.Screen               { return &h.screen }

// The last delayed change is undone first; the others are sent after their delay, once.
func TestUndoTakesBackLastChange(t *testing.T) {
	h := &undoHost{}
	h.session.Now = time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	u := NewUndo(h)
	var sent []string
	delay := func(name, id string) {
		u.Delay(name, []string{id}, func() tea.Cmd {
			sent = append(sent, name)
			return nil
		})
	}
	delay("first", "a")
	delay("second", "b")
	if name, due := u.Next(); name != "second" || due.Sub(h.session.Now) != ui.UndoDelay {
		t.Errorf("two changes are delayed: next is %q in %v, want second in %v", name, due.Sub(h.session.Now), ui.UndoDelay)
	}
	u.Last()
	if u.Affects("b") || !u.Affects("a") || u.Count() != 1 || h.screen.shown != 3 {
		t.Errorf("after undo: b %v, a %v, %d delayed, drawn %d times; want only a, 1, 3", u.Affects("b"), u.Affects("a"), u.Count(), h.screen.shown)
	}
	for range 2 {
		h.session.Now = h.session.Now.Add(ui.UndoDelay)
		u.SendDue()
	}
	if len(sent) != 1 || sent[0] != "first" {
		t.Errorf("after the delay: sent %q, want only first", sent)
	}
	u.Last()
	want := []string{"second: undone, nothing was sent", "nothing to undo: only deletes of messages can be undone, for 5s"}
	if len(h.notices) != 2 || h.notices[0] != want[0] || h.notices[1] != want[1] {
		t.Errorf("notices %q, want %q", h.notices, want)
	}
}
