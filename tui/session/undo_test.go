package session

import (
	"slices"
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
	name, due := u.Next()
	if wait := due.Sub(h.session.Now); name != "second" || wait != ui.UndoDelay {
		t.Errorf("two changes are delayed: next is %q in %v, want second in %v", name, wait, ui.UndoDelay)
	}

	u.Last()
	if !u.Affects("a") || u.Affects("b") || u.Count() != 1 {
		t.Errorf("after undo: affects a %v, b %v, %d delayed; want true, false, 1",
			u.Affects("a"), u.Affects("b"), u.Count())
	}
	if h.screen.shown != 3 {
		t.Errorf("after two delays and an undo: the screen was drawn %d times, want 3", h.screen.shown)
	}

	for range 2 {
		h.session.Now = h.session.Now.Add(ui.UndoDelay)
		u.SendDue()
	}
	if len(sent) != 1 || sent[0] != "first" {
		t.Errorf("after the delay: sent %q, want only first", sent)
	}

	u.Last()
	want := []string{ui.Undone("second"), ui.NothingToUndo()}
	if !slices.Equal(h.notices, want) {
		t.Errorf("after both undos: notices %q, want %q", h.notices, want)
	}
}
