package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// What arrives in one piece over a slow line is typed where it was meant to be,
// and does nothing before enter.
func TestTypedAhead(t *testing.T) {
	d := drive(t, unreachable(t), Options{})
	for keys, want := range map[string]string{":SO_Totals": ": SO_Totals", "2/tot": "tot", "2:events": ": events"} {
		d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys)})
		if d.app.line == nil || !strings.Contains(strings.Split(d.text(), "\n")[2], want) {
			t.Errorf("%s: the line does not show %q:\n%s", keys, want, d.text())
		}
		d.press("esc", "esc", "1")
	}
	d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("D:abc")})
	if d.app.line != nil {
		t.Error("what begins with another key opens a line")
	}
	d.later(burstPause)
	d.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(":SO_Totals"), Paste: true})
	if d.app.line != nil {
		t.Error("a paste opens a line")
	}
}

// The shell is reached from wherever something is typed, and clicks come here
// again afterwards.
func TestSuspendFromAnywhere(t *testing.T) {
	d := drive(t, unreachable(t), Options{Mouse: true})
	for _, open := range [][]string{{}, {":"}, {"3", "n"}} {
		d.press(open...)
		cmd := d.app.key(tea.KeyMsg{Type: tea.KeyCtrlZ})
		if cmd == nil {
			t.Errorf("ctrl+z does nothing after %v", open)
		} else if _, ok := cmd().(tea.SuspendMsg); !ok {
			t.Errorf("ctrl+z does something else after %v", open)
		}
	}
	if d.app.handle(tea.ResumeMsg{}) == nil {
		t.Error("the mouse is not taken again")
	}
}

// A mistake of ours in a command is written down as one on the screen is.
func TestCrashOfACommand(t *testing.T) {
	c := crash{dir: t.TempDir()}
	inner := func() tea.Msg { panic("in a command") }
	several, _ := c.guard(tea.Batch(func() tea.Msg { return nil }, inner))().(tea.BatchMsg)
	func() {
		defer func() { _ = recover() }()
		for _, cmd := range several {
			cmd()
		}
		t.Error("it does not go on from there")
	}()
	text, err := os.ReadFile(filepath.Join(c.dir, "crash.log"))
	if err != nil || !strings.Contains(string(text), "in a command") {
		t.Errorf("%q, %v", text, err)
	}
}
