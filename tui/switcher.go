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
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			s.profilesFetched(all, err, open && session == s.Session)
			return nil
		}}
	}
}

// profilesFetched stores the profiles, and opens the picker if requested.
func (s *switcher) profilesFetched(list []Profile, err error, open bool) {
	if err != nil {
		s.ShowError("loading profiles", err)
		return
	}
	s.profiles = list
	if open && s.overlay == nil && s.input == nil {
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
	case s.undo.Count() > 0:
		return "a delete is pending: " + keymap.KeyFor(keymap.Everywhere, keymap.Undo) + " undoes it, or wait until it is sent"
	case len(s.jobs.Running()) > 0:
		return "an export is running: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched replaces the session by one of another profile. Only the theme and the time
// mode are kept.
func (s *switcher) switched(c *client.Client, o Options, stored *state.Store, stateErr error) tea.Cmd {
	if reason := s.blocker(); reason != "" { // a change or export has started since
		s.Notify(ui.Warning, reason)
		return nil
	}
	s.closeAll()
	times := s.Times
	s.options = o.withSession(s.options)
	s.begin(c, stored, s.Theme)
	s.Times = times
	s.changes.Reset()
	s.quitPending = false
	s.stream.Reset()
	cmd := s.connect()
	if stateErr != nil {
		s.ShowError("loading saved settings of "+s.Profile, stateErr)
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
	clear(s.stale)
}

// openProfile opens another profile.
func (s *switcher) openProfile(name string) tea.Cmd {
	open, dir := s.options.Switch, s.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
				s.ShowError("switching profiles", err)
				return nil
			}}
		}
		stored, stateErr := state.Open(dir, name)
		return ui.Response{Background: true, Apply: func() tea.Cmd { return s.switched(c, o, stored, stateErr) }}
	}
}
