package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
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
	d := drive(t, unreachable(t), Options{Appearance: Appearance{Mouse: true}})
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

// A paste does nothing on terminals that do not mark it: neither do its lines
// become commands, nor does what stands in a line that it opened.
func TestUnmarkedPastesDoNothing(t *testing.T) {
	unlocked := 0
	for _, text := range []string{"Dear colleague,\n:rw prod\nbye", ":rw prod\n", "4:rw prod\n"} {
		d := drive(t, unreachable(t), Options{Profile: "prod", Protected: true, ReadOnly: true, Unlock: func() (*client.Client, error) {
			unlocked++
			return unreachable(t), nil
		}})
		d.paste(text)
		if unlocked > 0 || !d.app.ReadOnly {
			t.Errorf("%q lifts read-only", text)
		}
	}
	d := drive(t, unreachable(t), Options{Profile: "prod", ReadOnly: true, Unlock: func() (*client.Client, error) { return unreachable(t), nil }})
	d.press(":", "'rw", "enter")
	if d.app.ReadOnly {
		t.Error("the same by hand does nothing")
	}
}

// A key that is held when a question comes does not answer it.
func TestHeldKeysAnswerNothing(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "!", "r")
	for range 40 {
		d.clock = d.clock.Add(ms(33))
		d.send(letter("y"))
	}
	if _, asked := d.app.over.(*ui.Confirm); !asked {
		t.Error("the question was answered by a key that is held")
	}
	d.press("esc")
}

// What was chosen since wins over an answer that comes late.
func TestLateUnlock(t *testing.T) {
	d := drive(t, unreachable(t), Options{ReadOnly: true})
	before := d.app.forbidden
	d.press(":", "'ro", "enter")
	d.send(unlockedMsg{client: unreachable(t), session: d.app.Session, asked: before})
	if !d.app.ReadOnly {
		t.Error("a late answer lifts what was forbidden since")
	}
	d.app.user = "ann"
	d.send(signedInMsg{user: "bob"})
	if d.app.user != "ann" {
		t.Error("a sign-in of the former profile changes the user of this one")
	}
}

func TestPastesAreKnown(t *testing.T) {
	var b burst
	d := &driver{}
	typed := func(text string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)} }
	for _, test := range []struct {
		name  string
		after int // milliseconds
		key   tea.KeyMsg
		want  bool
	}{
		{"a key", 1000, typed("D"), false},
		{"a slow one", 200, typed("y"), false},
		{"a marked paste", 200, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("DDyy"), Paste: true}, true},
		{"what follows it", 100, typed("y"), true},
		{"later", 1000, typed("y"), false},
		{"many at once", 1000, typed("DELETE"), true},
		{"a held key over a slow line", 1000, typed("jjjjjjj"), false},
	} {
		d.clock = d.clock.Add(ms(test.after))
		if got := b.pasted(test.key, d.clock, false); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	b = burst{}
	for i := range 6 {
		d.clock = d.clock.Add(ms(5))
		if got := b.pasted(typed("D"), d.clock, false); got != (i >= 4) {
			t.Errorf("key %d of a paste without marks: %v", i+1, got)
		}
	}
}
