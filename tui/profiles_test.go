package tui_test

import (
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// twoProfileOptions returns options with a second, read-only profile.
func twoProfileOptions(t *testing.T, prod, test *daemontest.Instance) tui.Options {
	t.Helper()
	o := tui.Options{Profile: "prod", Colour: "red", State: t.TempDir()}
	o.Profiles = func() ([]tui.Profile, error) {
		return []tui.Profile{
			{Name: "prod", URL: prod.URL, Colour: "red"},
			{Name: "test", URL: test.URL, Colour: "green", ReadOnly: true},
		}, nil
	}
	o.Switch = func(name string) (*client.Client, tui.Options, error) {
		if name == "prod" {
			return tuitest.Connect(t, prod), tui.Options{Profile: name, URL: prod.URL, Colour: "red"}, nil
		}
		return tuitest.Connect(t, test), tui.Options{
			Profile:   name,
			URL:       test.URL,
			Colour:    "green",
			ReadOnly:  true,
			Protected: true,
			Unlock:    func() (*client.Client, error) { return tuitest.Connect(t, test), nil },
		}, nil
	}
	return o
}

// breadcrumbs returns the line with the titles of the open screens.
func breadcrumbs(d *tuitest.Driver) string { return strings.Split(d.Text(), "\n")[2] }

// Another profile has its own rows and permissions, and no data or marks of the
// previous one.
func TestSwitchProfileDropsPreviousData(t *testing.T) {
	prod, test := tuitest.DemoDaemon(t), daemontest.Start(t)
	d := tuitest.Drive(t, tuitest.Connect(t, prod), twoProfileOptions(t, prod, test))
	d.AwaitLive()
	d.WantText(" PROD ", "RW")
	d.Press(":", "'DB_Class", "enter", "space", "space", "s")
	previous := d.App.Front().(*browse.Browser)
	d.Press("@")
	d.WantText("Profiles", "PROD", "TEST", "read-only")
	d.Press("j", "enter")
	d.WantText(" TEST ", "RO", "switched to test", ui.ShortURL(test.URL))
	d.WaitUntil("the stream of the previous profile is still live", func() bool { return d.App.IsLive(d.Clock) })
	if previous.Ctx.Err() == nil || d.App.IsOpen(previous) {
		t.Error("a screen of the previous profile is still open")
	}
	d.Send(d.App.AccountMsg(nil, errors.New("of the previous profile")))
	d.Respond(previous, nil, func(error) tea.Cmd {
		t.Error("a response to the previous profile was accepted")
		return nil
	})
	d.Press(":", "'DB_Class", "enter")
	d.WantText("No rows.")
}

// Allowing changes applies to one profile until it is left, and requires the name of a
// protected profile.
func TestAllowingChangesIsPerProfile(t *testing.T) {
	prod, test := daemontest.Start(t), daemontest.Start(t)
	d := tuitest.Drive(t, tuitest.Connect(t, prod), twoProfileOptions(t, prod, test))
	d.AwaitLive()
	d.Press(":", "'@test", "enter", ":", "'rw", "enter")
	d.WantText("protected profile: enter :rw test", "RO")
	d.Press("3", "n")
	d.WantText("protected profile: enter :rw test   (new)")
	d.Press(":", "'ro", "enter")
	d.WantText("protected profile: enter :rw test")
	d.Press(":", "'rw test", "enter")
	d.WantText("changes are allowed in this session", "RW")
	d.Press(":", "up")
	d.WantNoText(": rw test") // the name has to be typed each time
	d.Press("esc")
	d.Press(":", "'@prod", "enter")
	d.WantText(" PROD ", "RW")
	d.Press(":", "'ro", "enter", ":", "'@test", "enter")
	d.WantText(" TEST ", "RO")
	d.Press(":", "'@prod", "enter")
	d.WantText(" PROD ", "RO")
}

// If a profile cannot be used, the current one remains.
func TestFailedSwitchKeepsProfile(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := twoProfileOptions(t, i, i)
	o.Switch = func(string) (*client.Client, tui.Options, error) {
		return nil, tui.Options{}, errors.New("no such file")
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), o)
	d.Press(":", "'DB_Class", "enter", "space", ":", "'@test", "enter")
	d.WantText("switching profiles: no such file", "●")
}

// "-" returns to the previous location, even if its screens were closed.
func TestPreviousLocationReopensScreens(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press("-")
	d.Press(":", "'DB_Class", "enter", "j", "j", "enter")
	d.WantText("Records › DB_Class › ")
	record := breadcrumbs(d)
	d.Press("esc", "-")
	if got := breadcrumbs(d); got != record {
		t.Errorf("after the record was closed, - shows %q, want %q", got, record)
	}
	d.Press("5")
	d.WantText(" Events")
	d.Press("-")
	if got := breadcrumbs(d); got != record {
		t.Errorf("after another tab was opened, - shows %q, want %q", got, record)
	}
	d.Press("-")
	d.WantText("\n╭ Events ")
	d.Press(":", "'IN_Colours", "enter", "-", "-")
	d.WantText("Records › IN_Colours", "1 of")
}

// The mouse selects, sorts, opens and scrolls, but does not accept confirmations.
func TestMouseSelectsAndOpens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.ClickOn("2 Rec")
	d.WantText("Fields  ")
	d.ClickOn("DB_Class")
	d.ClickOn("DB_Class")
	d.WantText("Records › DB_Class")
	d.Click(4, ui.HeaderHeight+1) // the title
	d.WantText("Class ▲")
	d.ClickOn("Class ▲")
	d.WantText("Class ▼")
	d.ClickOn("4 Msg")
	d.ClickOn("✗ failed")
	list := d.App.Front().(*messages.List)
	if selected, _ := list.Selected(); selected.Status != ui.StatusFailed {
		t.Errorf("a click on a failed message selects %+v", selected)
	}
	d.Send(tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	if index := list.Grid.Index(); index < 3 {
		t.Errorf("the wheel selects row %d, want one below the first three", index)
	}

	// Confirmations are not accepted, at any place.
	d.Press("D")
	d.ClickOn("delete")
	d.ClickOn("delete")
	d.WantText("Delete this message?")
	d.Press("esc")
	d.ClickOn("? help")
	d.WantText("Help")
	for y := range 24 {
		for x := range 80 {
			d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			d.Press("esc")
		}
		d.CheckScreen()
	}
	if n := s.MessageCount(t); n != 8 {
		t.Errorf("after clicks on every cell, there are %d messages, want all 8", n)
	}
	d.Press("M", "M")
}
