package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// What the tests of this package, which drive the app from outside, see of its
// inside.

const (
	HomeTab     = homeTab
	RecordsTab  = recordsTab
	MessagesTab = messagesTab
	BurstPause  = burstPause
)

// TickMsg is the message that comes once a second.
func TickMsg() tea.Msg { return tickMsg{} }

// WhoMsg is an answer to the question who we are; s is nil for another session.
func WhoMsg(s *ui.Session, err error) tea.Msg { return whoMsg{session: s, reply: reply{err: err}} }

// SignedInMsg is the answer to a form of a session.
func SignedInMsg(f *ui.Form, s *ui.Session, user string, err error) tea.Msg {
	return signedInMsg{form: f, session: s, user: user, reply: reply{err: err}}
}

// UnlockedMsg brings a client that may change things; asked is Forbidden then.
func UnlockedMsg(c *client.Client, s *ui.Session, asked int) tea.Msg {
	return unlockedMsg{client: c, session: s, asked: asked}
}

// HeldMsg is a change that was refused since the session had ended.
func HeldMsg(s *ui.Session, what string, again tea.Cmd) tea.Msg {
	return heldMsg{unsent: unsent{what: what, again: again}, session: s}
}

// ProfilesMsg is the list of profiles that was asked for.
func ProfilesMsg(s *ui.Session, list []Profile) tea.Msg {
	return profilesMsg{ask: true, session: s, list: list}
}

// SwitchedMsg brings another profile.
func (a *App) SwitchedMsg(c *client.Client, o Options) tea.Msg {
	return switchedMsg{client: c, options: o, state: a.State}
}

func (a *App) Line() *ui.InputLine           { return a.line }
func (a *App) Toasts() *ui.Toasts            { return &a.toasts }
func (a *App) Watchers() []ui.Watcher        { return a.watchers }
func (a *App) Jobs() []*export.Job           { return a.jobs.all }
func (a *App) SetJobs(all ...*export.Job)    { a.jobs.all = all }
func (a *App) DelayedCount() int             { return len(a.delayed) }
func (a *App) Unread() int                   { return a.unread() }
func (a *App) Forbidden() int                { return a.forbidden }
func (a *App) User() string                  { return a.user }
func (a *App) SetUser(name string)           { a.user = name }
func (a *App) Refused() error                { return a.link.refused }
func (a *App) IsLive(now time.Time) bool     { return a.link.live(now) }
func (a *App) Clocks() string                { return a.link.clocks() }
func (a *App) IsOpen(s ui.Screen) bool       { return a.isOpen(s) }
func (a *App) PushIn(tab int, s ui.Screen)   { a.pushIn(tab, s) }
func (a *App) Depth() int                    { return len(a.stacks[a.tab]) }
func (a *App) KeyPress(m tea.KeyMsg) tea.Cmd { return a.key(m) }
func (a *App) Handle(m tea.Msg) tea.Cmd      { return a.handle(m) }

// HoldRetry has a change wait for a sign-in, and asks for it.
func (a *App) HoldRetry(what string) {
	a.held = &unsent{what: what}
	a.over = a.login()
}

// Home closes all but the first screen.
func (a *App) Home() {
	a.over, a.line = nil, nil
	for tab := range a.stacks {
		a.tab = tab
		for len(a.stacks[tab]) > 1 {
			a.drop()
		}
	}
	a.tab = homeTab
	a.toasts.Dismiss()
}

// Verbs are the names that can be typed before anything else.
func Verbs() (names []string) {
	for _, one := range verbs() {
		names = append(names, one.name)
	}
	return names
}

// Targets are all the names that can be typed.
func (a *App) Targets() (names []string) {
	for _, one := range (&palette{a}).targets() {
		names = append(names, one.name)
	}
	return names
}

// TypeCommand opens the line of commands with a text.
func (a *App) TypeCommand(text string) {
	a.line = (&palette{a}).open()
	a.line.Set(text)
}

// ChooseAction goes to a row of the list of actions, which is open. It is false
// where there is no such row.
func (a *App) ChooseAction(is func(keymap.Binding) bool) bool {
	m := a.over.(*menu)
	m.at = slices.IndexFunc(m.rows, is)
	return m.at >= 0
}

// Choosing reports whether the list of actions is open.
func (a *App) Choosing() bool {
	_, open := a.over.(*menu)
	return open
}
