package session

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Profile is an available profile.
type Profile struct {
	Name      string
	URL       string
	Colour    string // red, green, yellow, blue, magenta, cyan, or empty
	ReadOnly  bool
	Protected bool
}

// SwitcherHost is the part of the app that the switcher uses.
type SwitcherHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowError(action string, err error)
	// ShowProfiles opens the picker of profiles, unless something else is open.
	ShowProfiles()
	// OpenProfile replaces the session by one of another profile.
	OpenProfile(name string) tea.Cmd
}

// Switcher lists the profiles, and switches to one unless work is in progress.
type Switcher struct {
	host     SwitcherHost
	undo     *Undo
	jobs     *Jobs
	changes  *Changes
	secrets  *Secrets
	load     func() ([]Profile, error) // nil for none
	profiles []Profile
}

// NewSwitcher returns a switcher; load lists the profiles, nil for none.
func NewSwitcher(h SwitcherHost, u *Undo, j *Jobs, c *Changes, s *Secrets, load func() ([]Profile, error)) *Switcher {
	return &Switcher{host: h, undo: u, jobs: j, changes: c, secrets: s, load: load}
}

// Profiles returns the profiles that were listed last.
func (s *Switcher) Profiles() []Profile { return s.profiles }

// NoProfiles is shown without other profiles.
const NoProfiles = "no other profiles available"

// List loads the profiles.
func (s *Switcher) List() tea.Cmd {
	if s.load == nil {
		return nil
	}
	return s.list(func() {})
}

// Choose loads the profiles and opens the picker, unless the session has been replaced by then.
func (s *Switcher) Choose() tea.Cmd {
	if s.load == nil {
		s.host.Notify(ui.Warning, NoProfiles)
		return nil
	}
	session := s.host.CurrentSession()
	return s.list(func() {
		if session == s.host.CurrentSession() {
			s.host.ShowProfiles()
		}
	})
}

// list loads the profiles in the background, and calls then once they are stored.
func (s *Switcher) list(then func()) tea.Cmd {
	return func() tea.Msg {
		profiles, err := s.load()
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			if err != nil {
				s.host.ShowError("loading profiles", err)
				return nil
			}
			s.SetProfiles(profiles)
			then()
			return nil
		}}
	}
}

// SetProfiles stores the available profiles.
func (s *Switcher) SetProfiles(profiles []Profile) { s.profiles = profiles }

// SwitchTo switches to another profile.
func (s *Switcher) SwitchTo(name string) tea.Cmd {
	if name == s.host.CurrentSession().Profile {
		s.host.Notify(ui.Info, "already using "+name)
		return nil
	}
	if reason := s.Blocker(); reason != "" {
		s.host.Notify(ui.Warning, reason)
		return nil
	}
	return s.host.OpenProfile(name)
}

// Blocker returns why the profile cannot be switched now, "" if it can.
func (s *Switcher) Blocker() string {
	if s.undo.Count() > 0 {
		return "a delete is pending: " + keymap.KeyFor(keymap.Everywhere, keymap.Undo) +
			" undoes it, or wait until it is sent"
	}
	if len(s.jobs.Running()) > 0 {
		return "an export is running: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	if name := s.changes.Sending(); name != "" {
		return "a change is being sent: wait for its outcome (" + name + ")"
	}
	if s.secrets.Unread() > 0 {
		return "a secret is not shown yet: close the form or input in front of it"
	}
	return ""
}
