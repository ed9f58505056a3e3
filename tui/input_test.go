package tui_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Keys that arrive together on a slow connection are typed into the input that they
// open, and are not submitted.
func TestTypeAheadFillsInput(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	for keys, want := range map[string]string{
		":SO_Totals": ": SO_Totals",
		"2/tot":      "tot",
		"2:events":   ": events",
	} {
		d.Key(tuitest.Letter(keys))
		inputLine := strings.Split(d.Text(), "\n")[ui.TabRow]
		if d.App.Input() == nil || !strings.Contains(inputLine, want) {
			t.Errorf("after %s at once, the screen is\n%s\nwant an input with %q", keys, d.Text(), want)
		}
		d.Press("esc", "esc", "1")
	}

	d.Key(tuitest.Letter("D:abc"))
	if d.App.Input() != nil {
		t.Error("keys that start with another key open an input")
	}
	d.Advance(tui.PasteTimeout)
	d.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(":SO_Totals"), Paste: true})
	if d.App.Input() != nil {
		t.Error("a paste opens an input")
	}
}

// ctrl+z suspends the program during any input, and mouse events are enabled again
// afterwards.
func TestSuspendWorksDuringInput(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Appearance: tui.Appearance{Mouse: true}})
	for _, open := range [][]string{{}, {":"}, {"3", "n"}} {
		d.Press(open...)
		cmd := d.App.KeyPress(tea.KeyMsg{Type: tea.KeyCtrlZ})
		if cmd == nil {
			t.Errorf("ctrl+z has no effect after %v", open)
		} else if _, ok := cmd().(tea.SuspendMsg); !ok {
			t.Errorf("ctrl+z has another effect after %v", open)
		}
	}
	if d.App.Handle(tea.ResumeMsg{}) == nil {
		t.Error("mouse events are not enabled again")
	}
}

// Without a shell that resumes it, the program does not stop.
func TestSuspendNeedsShell(t *testing.T) {
	o := tui.Options{Loop: tui.Loop{CanSuspend: func() bool { return false }}}
	d := tuitest.Drive(t, tuitest.Unreachable(t), o)
	for _, open := range [][]string{{}, {":"}} {
		d.Press(open...)
		if cmd := d.App.KeyPress(tea.KeyMsg{Type: tea.KeyCtrlZ}); cmd != nil {
			t.Errorf("ctrl+z without a shell, after %q: got a command, want none", open)
		}
		d.WantText("cannot be suspended: no shell to return to")
	}
}

// An unbracketed paste has no effect: its lines do not become commands, and an input
// that it opens is not submitted.
func TestUnbracketedPastesAreIgnored(t *testing.T) {
	unlocks := 0
	o := tui.Options{
		Profile:   "prod",
		Protected: true,
		ReadOnly:  true,
		Unlock: func() (*client.Client, error) {
			unlocks++
			return tuitest.Unreachable(t), nil
		},
	}
	for _, text := range []string{"Dear colleague,\n:rw prod\nbye", ":rw prod\n", "4:rw prod\n"} {
		d := tuitest.Drive(t, tuitest.Unreachable(t), o)
		d.Paste(text)
		if unlocks > 0 || !d.App.Session.ReadOnly {
			t.Errorf("the paste of %q ends the read-only mode", text)
		}
	}

	d := tuitest.Drive(t, tuitest.Unreachable(t), o)
	d.Press(":", "'rw prod", "enter")
	if d.App.Session.ReadOnly {
		t.Error("after :rw prod was typed, the session is still read-only")
	}
}

// A key that is held down when a confirmation opens does not accept it.
func TestHeldKeyDoesNotConfirm(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "r")
	const repeatInterval = 33 * time.Millisecond // of a key that is held down
	for range 40 {
		d.Clock = d.Clock.Add(repeatInterval)
		d.Send(tuitest.Letter("y"))
	}
	if _, isOpen := d.App.Overlay().(*ui.Confirm); !isOpen {
		t.Errorf("after y was held down, the overlay is a %T, want the confirmation", d.App.Overlay())
	}
	d.Press("esc")
}

// Later input of the user takes precedence over a late response.
func TestLateResponsesAreIgnored(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{ReadOnly: true})
	before := d.App.ReadOnlyCount()
	d.Press(":", "'ro", "enter")
	d.Send(d.App.UnlockedMsg(tuitest.Unreachable(t), d.App.Session, before))
	if !d.App.Session.ReadOnly {
		t.Error("a late response ended a newer read-only mode")
	}
	d.App.SetUser("ann")
	d.Send(d.App.SignedInMsg(nil, nil, "bob", nil))
	if d.App.User() != "ann" {
		t.Error("a sign-in of the previous profile changed the user")
	}
}

// Conditions after the name of a tab are an error, rather than ignored.
func TestConditionsOfTabAreRefused(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.AwaitLive()
	d.Press(":", "'messages Status=failed", "enter")
	d.WantText(`Messages cannot be opened with conditions: "Status=failed"`)
	d.Press("esc", ":", "'users", "enter")
	d.WantText("users have no screen; use whctl users")
	d.Press("ctrl+u", "'messages ", "enter")
	d.WantText(" Messages ", "following")
}

// Text and enter that arrive together are input where a field is open: an input line and a form
// accept them. More text after enter makes it a line break of a paste.
func TestTextAndEnterTogetherAreInput(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	together := func(keys ...tea.KeyMsg) {
		d.Clock = d.Clock.Add(time.Second)
		for _, m := range keys {
			d.Send(m)
		}
		d.Advance(ui.PasteInterval)
	}
	enter := tuitest.Keys["enter"]

	d.Press(":")
	together(tuitest.Letter("events"), enter)
	if d.App.Input() != nil || d.App.Front().Title() != "Events" {
		t.Errorf("events and enter together: the screen is\n%s\nwant Events", d.Text())
	}
	d.Press(":")
	together(tuitest.Letter("home"), enter, tuitest.Letter("records"), enter)
	if d.App.Input() == nil {
		t.Error("two lines together are accepted as a command")
	}
	d.Press("esc")

	together(tuitest.Letter(":save"), tuitest.Keys["space"], tuitest.Letter("name"), enter)
	if d.App.Input() == nil {
		t.Error("enter is accepted together with the text that opens the input")
	}
	d.Press("esc")

	var sent []string
	f := ui.NewForm(d.App, "A form", "send")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		sent = append(sent, values["One"])
		return nil
	}
	f.Add("One", "One", "", "the only one")
	d.App.ShowOverlay(f)
	together(tuitest.Letter("text"), enter)
	if !slices.Equal(sent, []string{"text"}) {
		t.Errorf("text and enter together: the form is sent with %q, want text", sent)
	}
	d.App.ShowOverlay(nil)

	accepted := false
	const count = 37 // must be typed
	ui.OpenConfirmMany(d.App, count, "Delete?", "delete", nil, func() tea.Cmd {
		accepted = true
		return nil
	})
	d.Advance(time.Second)
	together(tuitest.Letter("3"), tuitest.Letter("7"), enter)
	if accepted {
		t.Error("text and enter together confirm a question")
	}
}

// Keys that are pressed before the size of the terminal is known are handled afterwards.
func TestEarlyKeysAreHandled(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Send(tea.WindowSizeMsg{}) // as before the first size
	for _, key := range []string{"2", ":", "events"} {
		d.Send(tuitest.Letter(key))
	}
	d.Resize(80, 24)
	if d.App.Front().Title() != "Records" || d.App.Input() == nil {
		t.Errorf("the screen is\n%s\nwant Records with the input of commands", d.Text())
	}
	d.WantText(": events")
}

// A background that the terminal reports late changes the theme of the open screens.
func TestLateBackgroundSetsTheme(t *testing.T) {
	service := tuitest.Unreachable(t)
	d := tuitest.Drive(t, service, tui.Options{Appearance: tui.Appearance{Theme: theme.Dark}})
	light := tuitest.Drive(t, service, tui.Options{Appearance: tui.Appearance{Theme: theme.Light}})
	if d.App.View() == light.App.View() {
		t.Fatal("the themes do not differ")
	}
	d.Send(tui.BackgroundMsg(theme.Light))
	if d.App.View() != light.App.View() {
		t.Errorf("after the background:\n%q\nwant\n%q", d.App.View(), light.App.View())
	}
}

// A terminal that cannot move the cursor is refused with the reason.
func TestDumbTerminalIsRefused(t *testing.T) {
	o := tui.Options{Env: tuitest.Environment("TERM=dumb"), Input: strings.NewReader("q"), Output: io.Discard}
	err := tui.Run(t.Context(), tuitest.Unreachable(t), o)
	if err == nil || !strings.Contains(err.Error(), "TERM=dumb") {
		t.Errorf("error %v, want one that names TERM=dumb", err)
	}
}
