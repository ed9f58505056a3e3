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

// switcher switches between profiles.
type switcher struct {
	*App
	profiles []Profile
}

// picker returns the picker of profiles.
func (s *switcher) picker() ui.Overlay {
	p := &ui.Picker{HostSession: ui.NewHostSession(s.App), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switch (loaded rows and marks are lost)   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " cancel"}
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
			Spans:  append(spans, theme.Span{Text: strings.Repeat(" ", longest-len(one.Name)) + ui.ShortURL(one.URL)}, theme.Span{Text: rights, Role: theme.Dim}),
			Choose: func() tea.Cmd { return s.switchTo(one.Name) },
		})
	}
	if len(s.profiles) == 0 {
		p.Note = "No profiles; add one with whctl profile create.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// listProfiles loads the profiles, and opens the picker if open is set.
func (s *switcher) listProfiles(open bool) tea.Cmd {
	list, session := s.options.Profiles, s.Session
	if list == nil {
		if open {
			s.Notify(ui.Warning, "no other profiles available")
		}
		return nil
	}
	return func() tea.Msg {
		all, err := list()
		return profilesMsg{responseBase{err: err}, all, open, session}
	}
}

// profilesFetched stores the profiles, and opens the picker if requested.
func (s *switcher) profilesFetched(m profilesMsg) {
	if m.err != nil {
		s.ShowError("loading profiles", m.err)
		return
	}
	s.profiles = m.list
	if m.open && m.session == s.Session && s.overlay == nil && s.input == nil {
		s.overlay = s.picker()
	}
}

// switchTo switches to another profile.
func (s *switcher) switchTo(name string) tea.Cmd {
	switch {
	case name == s.Profile:
		s.Notify(ui.Info, "already using "+name)
	case s.blocker() != "":
		s.Notify(ui.Warning, s.blocker())
	case s.options.Switch == nil:
		s.Notify(ui.Warning, "no other profiles available")
	default:
		s.Notify(ui.Info, "switching to "+name)
		return s.openProfile(name)
	}
	return nil
}

// blocker returns why the profile cannot be switched now, "" if it can.
func (s *switcher) blocker() string {
	switch {
	case len(s.delayed) > 0:
		return "a delete is pending: " + keymap.KeyFor(keymap.Everywhere, keymap.Undo) + " undoes it, or wait until it is sent"
	case s.jobs.running() > 0:
		return "an export is running: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched replaces the session by one of another profile. Only the theme and the time
// mode are kept.
func (s *switcher) switched(m switchedMsg) tea.Cmd {
	if m.err != nil {
		s.ShowError("switching profiles", m.err)
		return nil
	}
	if reason := s.blocker(); reason != "" { // a change or export has started since
		s.Notify(ui.Warning, reason)
		return nil
	}
	s.closeAll()
	times := s.Times
	s.options = m.options.withSession(s.options)
	s.begin(m.client, m.state, s.Theme)
	s.Times = times
	s.pendingChange, s.quitPending = nil, false
	s.conn = connection{session: s.conn.session}
	cmd := s.connect()
	if m.stateErr != nil {
		s.ShowError("loading saved settings of "+s.Profile, m.stateErr)
	} else {
		s.Notify(ui.Info, "switched to "+s.Profile)
	}
	return cmd
}

// closeAll closes every screen and the stream, and cancels all requests.
func (s *switcher) closeAll() {
	for tab := range s.stacks {
		for _, s := range s.stacks[tab] {
			s.Stop()
		}
		s.stacks[tab] = nil
	}
	s.tab, s.previous, s.overlay, s.input = homeTab, location{}, nil, nil
	s.cancel()
	s.watchers = nil
	clear(s.stale)
}

// switchedMsg contains the client and settings of another profile.
type switchedMsg struct {
	responseBase
	client   *client.Client
	options  Options
	state    *state.Store
	stateErr error // why its saved settings cannot be loaded
}

// profilesMsg contains the profiles.
type profilesMsg struct {
	responseBase
	list    []Profile
	open    bool        // open the picker
	session *ui.Session // that made the request
}

// openProfile opens another profile.
func (s *switcher) openProfile(name string) tea.Cmd {
	open, dir := s.options.Switch, s.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{responseBase: responseBase{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, state: k, stateErr: err}
	}
}
