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

// switcher switches between profiles.
type switcher struct {
	*app
	profiles []Profile
}

// choice lets another profile be chosen.
func (s *switcher) choice() ui.Overlay {
	p := &ui.Picker{Dialog: ui.NewDialog(s.app), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switches and forgets rows and marks of this one   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " stay"}
	longest := 0
	for _, one := range s.profiles {
		longest = max(longest, len(one.Name))
	}
	for i, one := range s.profiles {
		mark := "  "
		if one.Name == s.Profile {
			mark, p.At = s.Theme.Mark+" ", i
		}
		rights := ""
		switch {
		case one.ReadOnly:
			rights = "  read-only"
		case one.Protected:
			rights = "  protected"
		}
		spans := append([]theme.Span{{Text: mark}}, s.Theme.Profile(one.Name, one.Colour)...)
		p.Choices = append(p.Choices, ui.Choice{
			Spans: append(spans, theme.Span{Text: strings.Repeat(" ", longest-len(one.Name)) + ui.ShortURL(one.URL)}, theme.Span{Text: rights, Ink: s.Theme.Dim}),
			Take:  func() tea.Cmd { return s.switchTo(one.Name) },
		})
	}
	if len(s.profiles) == 0 {
		p.Note = "No profiles yet: whctl profile add makes one.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// listProfiles finds out what can be switched to.
func (s *switcher) listProfiles(ask bool) tea.Cmd {
	list, session := s.options.Profiles, s.Session
	if list == nil {
		if ask {
			s.Tell(ui.Warning, "this session knows no other profiles")
		}
		return nil
	}
	return func() tea.Msg {
		all, err := list()
		return profilesMsg{reply{err: err}, all, ask, session}
	}
}

// listed takes up the profiles, and asks which one where that is wanted.
func (s *switcher) listed(m profilesMsg) {
	if m.err != nil {
		s.Fail("reading the profiles", m.err)
		return
	}
	s.profiles = m.list
	if m.ask && m.session == s.Session && s.over == nil && s.line == nil {
		s.over = s.choice()
	}
}

// switchTo leaves this profile for another one.
func (s *switcher) switchTo(name string) tea.Cmd {
	switch {
	case name == s.Profile:
		s.Tell(ui.Info, "this is "+name+" already")
	case s.bound() != "":
		s.Tell(ui.Warning, s.bound())
	case s.options.Switch == nil:
		s.Tell(ui.Warning, "this session knows no other profiles")
	default:
		s.Tell(ui.Info, "switching to "+name)
		return s.openProfile(name)
	}
	return nil
}

// bound says what keeps one in this profile; empty for nothing.
func (s *switcher) bound() string {
	switch {
	case len(s.delayed) > 0:
		return "a delete still waits here: " + keymap.KeyFor(keymap.Everywhere, keymap.TakeBack) + " takes it back, or wait until it is sent"
	case s.jobs.running() > 0:
		return "an export is still on the way here: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched begins with another profile: nothing of the former one stays but the
// look of things.
func (s *switcher) switched(m switchedMsg) tea.Cmd {
	if m.err != nil {
		s.Fail("still "+s.Profile+", since the other profile cannot be used", m.err)
		return nil
	}
	if why := s.bound(); why != "" { // since then
		s.Tell(ui.Warning, why)
		return nil
	}
	s.abandon()
	times := s.Times
	s.options = m.options.within(s.options)
	s.begin(m.client, m.state, s.Theme)
	s.Times = times
	s.features, s.polling, s.held, s.ending = nil, false, nil, false
	s.link = link{session: s.link.session}
	s.resize()
	if m.unkept != nil {
		s.Fail("what was kept of "+s.Profile, m.unkept)
	} else {
		s.Tell(ui.Info, "this is "+s.Profile+" now")
	}
	return tea.Batch(s.openTab(homeTab), s.whoAmI(), s.listen())
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
func (s *switcher) abandon() {
	for tab := range s.stacks {
		for _, s := range s.stacks[tab] {
			s.Stop()
		}
		s.stacks[tab] = nil
	}
	s.tab, s.former, s.over, s.line = homeTab, place{}, nil, nil
	s.leave()
	s.watchers = nil
	clear(s.outdated)
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

// openProfile makes a client of another profile.
func (s *switcher) openProfile(name string) tea.Cmd {
	open, dir := s.options.Switch, s.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{reply: reply{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, state: k, unkept: err}
	}
}
