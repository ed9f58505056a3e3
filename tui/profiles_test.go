package tui

import (
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/ui"
)

// twoProfiles are options of a session that can change to another service, which
// is read-only.
func twoProfiles(t *testing.T, prod, test *daemontest.Instance) Options {
	t.Helper()
	o := Options{Profile: "prod", Colour: "red", State: t.TempDir()}
	o.Profiles = func() ([]Profile, error) {
		return []Profile{{Name: "prod", URL: prod.URL, Colour: "red"}, {Name: "test", URL: test.URL, Colour: "green", ReadOnly: true}}, nil
	}
	o.Switch = func(name string) (*client.Client, Options, error) {
		if name == "prod" {
			return connected(t, prod), Options{Profile: name, URL: prod.URL, Colour: "red"}, nil
		}
		return connected(t, test), Options{
			Profile: name, URL: test.URL, Colour: "green", ReadOnly: true, Protected: true,
			Unlock: func() (*client.Client, error) { return connected(t, test), nil },
		}, nil
	}
	return o
}

// Another profile begins afresh: nothing that was fetched or marked stays, what
// may be done is what that profile allows, and its own rows are shown.
func TestProfilesAreSwitched(t *testing.T) {
	prod, test := demoDaemon(t), daemontest.Start(t)
	d := drive(t, connected(t, prod), twoProfiles(t, prod, test))
	d.awaitLive()
	d.sees(" PROD ", "RW")
	d.press(":", "'DB_Class", "enter", "space", "space", "s")
	former := d.app.Front().(*browse.Browser)
	d.press("@")
	d.sees("Profiles", "PROD", "TEST", "read-only")
	d.press("j", "enter")
	d.sees(" TEST ", "RO", "this is test now", ui.ShortURL(test.URL))
	d.until("the other stream is live", func() bool { return d.app.link.live(d.clock) })
	if former.Ctx.Err() == nil || d.app.isOpen(former) {
		t.Error("a screen of the former profile is still open")
	}
	d.send(whoMsg{reply: reply{err: errors.New("of the former one")}})
	d.answersTo(former, nil, func(error) tea.Cmd {
		t.Error("an answer to the former one is taken")
		return nil
	})
	d.press(":", "'DB_Class", "enter")
	d.sees("no rows match")
}

// What was allowed in one profile is not in another, and is forgotten when one
// comes back. To allow changes takes the profile's name.
func TestProfilesAndReadOnly(t *testing.T) {
	prod, test := daemontest.Start(t), daemontest.Start(t)
	d := drive(t, connected(t, prod), twoProfiles(t, prod, test))
	d.awaitLive()
	d.press(":", "'@test", "enter", ":", "'rw", "enter")
	d.sees("protected: type :rw test", "RO")
	d.press(":", "'rw test", "enter")
	d.sees("changes are allowed for this session", "RW")
	d.press(":", "up")
	if strings.Contains(d.text(), ": rw test") {
		t.Error("the name need not be typed again")
	}
	d.press("esc")
	d.press(":", "'@prod", "enter")
	d.sees(" PROD ", "RW")
	d.press(":", "'ro", "enter", ":", "'@test", "enter")
	d.sees(" TEST ", "RO")
	d.press(":", "'@prod", "enter")
	d.sees(" PROD ", "RO")
}

// A profile that cannot be used leaves everything as it is.
func TestProfileThatFails(t *testing.T) {
	i := demoDaemon(t)
	o := twoProfiles(t, i, i)
	o.Switch = func(string) (*client.Client, Options, error) { return nil, Options{}, errors.New("no such file") }
	d := drive(t, connected(t, i), o)
	d.press(":", "'DB_Class", "enter", "space", ":", "'@test", "enter")
	d.sees("still prod, since the other profile cannot be used: no such file", "●")
}

// What was seen before is a key away, also where it was closed.
func TestViewBefore(t *testing.T) {
	i := demoDaemon(t)
	d := drive(t, connected(t, i), Options{})
	d.press("-")
	d.press(":", "'DB_Class", "enter", "j", "j", "enter")
	d.sees("Records › DB_Class › ")
	record := strings.Split(d.text(), "\n")[2]
	d.press("esc", "-")
	if now := strings.Split(d.text(), "\n")[2]; now != record {
		t.Errorf("- shows %q, want %q", now, record)
	}
	d.press("5")
	d.sees(" Events")
	d.press("-")
	if now := strings.Split(d.text(), "\n")[2]; now != record {
		t.Errorf("- shows %q, want %q", now, record)
	}
	d.press("-")
	d.sees("\n Events")
	d.press(":", "'IN_Colours", "enter", "-", "-")
	d.sees("Records › IN_Colours", "row 1 of")
}

// clickOn presses the left button on a text of the screen.
func (d *driver) clickOn(text string) {
	d.t.Helper()
	for y, line := range strings.Split(d.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			d.click(len([]rune(before)), y)
			return
		}
	}
	d.t.Fatalf("there is no %q to click on:\n%s", text, d.text())
}

func (d *driver) click(x, y int) {
	d.clock = d.clock.Add(ms(200))
	d.beat()
	d.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
}

// The mouse selects, sorts, opens and scrolls, and answers no question.
func TestMouse(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.clickOn("2 Records")
	d.sees("Fields  ")
	d.clickOn("DB_Class")
	d.clickOn("DB_Class")
	d.sees("Records › DB_Class")
	d.click(4, ui.LinesAbove) // the title
	d.sees("Class ▲")
	d.clickOn("Class ▲")
	d.sees("Class ▼")
	d.clickOn("4 Messages")
	d.clickOn("FAIL")
	if one, _ := d.app.Front().(*messages.List).Selected(); one.Status != 3 {
		t.Errorf("%+v is selected", one)
	}
	d.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	if at := d.app.Front().(*messages.List).Grid.At(); at < 3 {
		t.Errorf("the wheel went to row %d", at)
	}
	d.press("D")
	d.clickOn("delete it")
	d.clickOn("delete it")
	d.sees("Delete this message?")
	d.press("esc")
	d.clickOn("? help")
	d.sees("Help")
	for y := range 24 {
		for x := range 80 {
			d.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			d.press("esc")
		}
		d.checkScreen()
	}
	if n := s.total(t); n != 8 {
		t.Errorf("there are %d messages", n)
	}
	d.press("M", "M")
}
