package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// What arrives in one piece over a slow line is typed where it was meant to be,
// and does nothing before enter.
func TestTypedAhead(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for keys, want := range map[string]string{":SO_Totals": ": SO_Totals", "2/tot": "tot", "2:events": ": events"} {
		d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys)})
		if d.App.Line() == nil || !strings.Contains(strings.Split(d.Text(), "\n")[2], want) {
			t.Errorf("%s: the line does not show %q:\n%s", keys, want, d.Text())
		}
		d.Press("esc", "esc", "1")
	}
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("D:abc")})
	if d.App.Line() != nil {
		t.Error("what begins with another key opens a line")
	}
	d.Advance(tui.BurstPause)
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(":SO_Totals"), Paste: true})
	if d.App.Line() != nil {
		t.Error("a paste opens a line")
	}
}

// The shell is reached from wherever something is typed, and clicks come here
// again afterwards.
func TestSuspendFromAnywhere(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{Mouse: true}})
	for _, open := range [][]string{{}, {":"}, {"3", "n"}} {
		d.Press(open...)
		cmd := d.App.KeyPress(tea.KeyMsg{Type: tea.KeyCtrlZ})
		if cmd == nil {
			t.Errorf("ctrl+z does nothing after %v", open)
		} else if _, ok := cmd().(tea.SuspendMsg); !ok {
			t.Errorf("ctrl+z does something else after %v", open)
		}
	}
	if d.App.Handle(tea.ResumeMsg{}) == nil {
		t.Error("the mouse is not taken again")
	}
}

// A paste does nothing on terminals that do not mark it: neither do its lines
// become commands, nor does what stands in a line that it opened.
func TestUnmarkedPastesDoNothing(t *testing.T) {
	unlocked := 0
	for _, text := range []string{"Dear colleague,\n:rw prod\nbye", ":rw prod\n", "4:rw prod\n"} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "prod", Protected: true, ReadOnly: true, Unlock: func() (*client.Client, error) {
			unlocked++
			return tuitest.Unreachable(t), nil
		}})
		d.Paste(text)
		if unlocked > 0 || !d.App.ReadOnly {
			t.Errorf("%q lifts read-only", text)
		}
	}
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Profile: "prod", ReadOnly: true, Unlock: func() (*client.Client, error) { return tuitest.Unreachable(t), nil }})
	d.Press(":", "'rw", "enter")
	if d.App.ReadOnly {
		t.Error("the same by hand does nothing")
	}
}

// A key that is held when a question comes does not answer it.
func TestHeldKeysAnswerNothing(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "r")
	for range 40 {
		d.Clock = d.Clock.Add(33 * time.Millisecond)
		d.Send(tuitest.Letter("y"))
	}
	if _, asked := d.App.Overlay().(*ui.Confirm); !asked {
		t.Error("the question was answered by a key that is held")
	}
	d.Press("esc")
}

// What was chosen since wins over an answer that comes late.
func TestLateUnlock(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{ReadOnly: true})
	before := d.App.Forbidden()
	d.Press(":", "'ro", "enter")
	d.Send(tui.UnlockedMsg(tuitest.Unreachable(t), d.App.Session, before))
	if !d.App.ReadOnly {
		t.Error("a late answer lifts what was forbidden since")
	}
	d.App.SetUser("ann")
	d.Send(tui.SignedInMsg(nil, nil, "bob", nil))
	if d.App.User() != "ann" {
		t.Error("a sign-in of the former profile changes the user of this one")
	}
}
