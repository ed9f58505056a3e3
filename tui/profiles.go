package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Profile is a service that can be switched to.
type Profile struct {
	Name      string
	URL       string
	Colour    string // of its name: red, green, yellow, blue, magenta, cyan, or empty
	ReadOnly  bool
	Protected bool
}

// newProfiles lets another profile be chosen.
func newProfiles(a *app, list []Profile) ui.Overlay {
	p := &ui.Picker{Dialog: ui.NewDialog(a), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switches and forgets rows and marks of this one   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " stay"}
	longest := 0
	for _, one := range list {
		longest = max(longest, len(one.Name))
	}
	for i, one := range list {
		mark := "  "
		if one.Name == a.Profile {
			mark, p.At = a.Theme.Mark+" ", i
		}
		rights := ""
		switch {
		case one.ReadOnly:
			rights = "  read-only"
		case one.Protected:
			rights = "  protected"
		}
		spans := append([]theme.Span{{Text: mark}}, a.Theme.Profile(one.Name, one.Colour)...)
		p.Choices = append(p.Choices, ui.Choice{
			Spans: append(spans, theme.Span{Text: strings.Repeat(" ", longest-len(one.Name)) + ui.ShortURL(one.URL)}, theme.Span{Text: rights, Ink: a.Theme.Dim}),
			Take:  func() tea.Cmd { return a.switchTo(one.Name) },
		})
	}
	if len(list) == 0 {
		p.Note = "No profiles yet: whctl profile add makes one.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// listProfiles finds out what can be switched to.
func (a *app) listProfiles(ask bool) tea.Cmd {
	list, session := a.options.Profiles, a.Session
	if list == nil {
		if ask {
			a.Tell(ui.Warning, "this session knows no other profiles")
		}
		return nil
	}
	return func() tea.Msg {
		all, err := list()
		return profilesMsg{reply{err: err}, all, ask, session}
	}
}

// listed takes up the profiles, and asks which one where that is wanted.
func (a *app) listed(m profilesMsg) {
	if m.err != nil {
		a.Fail("reading the profiles", m.err)
		return
	}
	a.profiles = m.list
	if m.ask && m.session == a.Session && a.over == nil && a.line == nil {
		a.over = newProfiles(a, m.list)
	}
}

// switchTo leaves this profile for another one.
func (a *app) switchTo(name string) tea.Cmd {
	switch {
	case name == a.Profile:
		a.Tell(ui.Info, "this is "+name+" already")
	case a.bound() != "":
		a.Tell(ui.Warning, a.bound())
	case a.options.Switch == nil:
		a.Tell(ui.Warning, "this session knows no other profiles")
	default:
		a.Tell(ui.Info, "switching to "+name)
		return a.openProfile(name)
	}
	return nil
}

// bound says what keeps one in this profile; empty for nothing.
func (a *app) bound() string {
	switch {
	case len(a.delayed) > 0:
		return "a delete still waits here: " + keymap.KeyFor(keymap.Everywhere, keymap.TakeBack) + " takes it back, or wait until it is sent"
	case a.jobs.running() > 0:
		return "an export is still on the way here: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched begins with another profile: nothing of the former one stays but the
// look of things.
func (a *app) switched(m switchedMsg) tea.Cmd {
	if m.err != nil {
		a.Fail("still "+a.Profile+", since the other profile cannot be used", m.err)
		return nil
	}
	if why := a.bound(); why != "" { // since then
		a.Tell(ui.Warning, why)
		return nil
	}
	a.abandon()
	times := a.Times
	a.options = m.options.within(a.options)
	a.begin(m.client, m.state, a.Theme)
	a.Times = times
	a.features, a.polling, a.held, a.ending = nil, false, nil, false
	a.link = link{session: a.link.session}
	a.resize()
	if m.unkept != nil {
		a.Fail("what was kept of "+a.Profile, m.unkept)
	} else {
		a.Tell(ui.Info, "this is "+a.Profile+" now")
	}
	return tea.Batch(a.openTab(homeTab), a.whoAmI(), a.listen())
}

// within are options of another profile in the session that has begun.
func (o Options) within(session Options) Options {
	o.ASCII, o.Theme, o.Mouse, o.State = session.ASCII, session.Theme, session.Mouse, session.State
	o.Downloads, o.Registry, o.Input, o.Output = session.Downloads, session.Registry, session.Input, session.Output
	o.Profiles, o.Switch, o.Env, o.Now = session.Profiles, session.Switch, session.Env, session.Now
	o.tick, o.hear = session.tick, session.hear
	return o.complete()
}

// abandon leaves every screen, ends the stream, and gives up what is asked.
func (a *app) abandon() {
	for tab := range a.tabs {
		for _, s := range a.tabs[tab] {
			s.Stop()
		}
		a.tabs[tab] = nil
	}
	a.tab, a.former, a.over, a.line = homeTab, place{}, nil, nil
	a.leave()
	a.watchers = nil
	clear(a.outdated)
}

// switchedMsg brings another profile.
type switchedMsg struct {
	reply
	client  *client.Client
	options Options
	state   *state.Store
	unkept  error // what was kept of it cannot be read
}

// profilesMsg brings what can be switched to.
type profilesMsg struct {
	reply
	list    []Profile
	ask     bool        // which one
	session *ui.Session // that asked
}
