package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/ui"
)

// Access of the external tests to internals of the app.

const (
	RecordsTab   = shell.RecordsTab
	MessagesTab  = shell.MessagesTab
	PasteTimeout = shell.PasteTimeout
)

// TickMsg returns the message that is sent once a second.
func TickMsg() tea.Msg { return tickMsg{} }

// BackgroundMsg returns the message about the background of the terminal.
func BackgroundMsg(theme string) tea.Msg { return backgroundMsg{theme: theme} }

// AccountMsg returns the response with the signed-in user; s is nil for another session.
func (a *App) AccountMsg(s *ui.Session, err error) tea.Msg {
	return ui.Response{Err: err, Apply: func() tea.Cmd { return a.account.Fetched(s, nil, err) }}
}

// SignedInMsg returns the response to a sign-in form.
func (a *App) SignedInMsg(f *ui.Form, s *ui.Session, user string, err error) tea.Msg {
	return ui.Response{Err: err, Apply: func() tea.Cmd {
		return a.account.SignedIn(s, f, a.Session.Client, user, err)
	}}
}

// UnlockedMsg returns the response with a client that may change data; count is the
// value of ReadOnlyCount when requested.
func (a *App) UnlockedMsg(c *client.Client, s *ui.Session, count int) tea.Msg {
	return ui.Response{Background: true, Apply: func() tea.Cmd {
		a.account.Unlocked(s, count, c, nil)
		return nil
	}}
}

// PendingChangeMsg returns a message about a change that was rejected because the session had
// expired.
func (a *App) PendingChangeMsg(name string, retry tea.Cmd) tea.Msg {
	return a.changes.Rejected(a.Session, name, func(*client.Client) ui.Response {
		retry()
		return ui.Response{Apply: func() tea.Cmd { return nil }}
	})
}

// ProfilesMsg returns the response with the profiles.
func (a *App) ProfilesMsg(list []Profile) tea.Msg {
	return ui.Response{Background: true, Apply: func() tea.Cmd {
		a.switcher.SetProfiles(list)
		a.ShowProfiles()
		return nil
	}}
}

// SwitchedMsg returns the response with another profile.
func (a *App) SwitchedMsg(c *client.Client, o Options) tea.Msg {
	return ui.Response{Background: true, Apply: func() tea.Cmd { return a.switched(c, o, a.Session.State, nil) }}
}

func (a *App) Toasts() *ui.Toasts            { return &a.toasts }
func (a *App) Watchers() []ui.Watcher        { return a.stream.Watchers() }
func (a *App) Jobs() []*export.Job           { return a.jobs.All }
func (a *App) SetJobs(all ...*export.Job)    { a.jobs.All = all }
func (a *App) DelayedCount() int             { return a.undo.Count() }
func (a *App) Unread() int                   { return a.secrets.Unread() }
func (a *App) ReadOnlyCount() int            { return a.account.ReadOnlyCount() }
func (a *App) User() string                  { return a.Session.Access.User }
func (a *App) SetUser(name string)           { a.Session.Access.User = name }
func (a *App) IsLive(now time.Time) bool     { return a.stream.Conn.IsLive(now) }
func (a *App) ClockDifference() string       { return a.stream.Conn.ClockDifference() }
func (a *App) IsOpen(s ui.Screen) bool       { return a.tabs.IsOpen(s) }
func (a *App) PushIn(tab int, s ui.Screen)   { a.tabs.PushIn(tab, s) }
func (a *App) Depth() int                    { return a.tabs.Depth() }
func (a *App) KeyPress(m tea.KeyMsg) tea.Cmd { return a.keys.Key(m) }
func (a *App) Handle(m tea.Msg) tea.Cmd      { return a.handle(m) }

// SetPendingChange stores a pending change and opens the sign-in form.
func (a *App) SetPendingChange(name string) {
	a.changes.Rejected(a.Session, name, nil).Response.Apply()
}

// Home closes all screens but the first.
func (a *App) Home() {
	a.overlay, a.input = nil, nil
	a.tabs.CloseToFirst()
	a.toasts.Dismiss()
}

// CommandNames returns the names of the commands.
func CommandNames() (names []string) {
	for _, command := range commands() {
		names = append(names, command.name)
	}
	return names
}

// Targets returns all names that can be entered after ":".
func (a *App) Targets() (names []string) {
	for _, destination := range newPalette(a, a.account, a.switcher, a.tabs).targets() {
		names = append(names, destination.name)
	}
	return names
}

// TypeCommand opens the command input with a text.
func (a *App) TypeCommand(text string) {
	a.Do(keymap.Binding{Action: keymap.OpenCommandLine}, "")
	a.input.Set(text)
}

// SelectAction selects a row of the open menu and reports whether it exists.
func (a *App) SelectAction(matches func(keymap.Binding) bool) bool {
	m := a.overlay.(*shell.Menu)
	m.At = slices.IndexFunc(m.Rows, matches)
	return m.At >= 0
}

// MenuOpen reports whether the menu of actions is open.
func (a *App) MenuOpen() bool {
	_, open := a.overlay.(*shell.Menu)
	return open
}
