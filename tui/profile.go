package tui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// ShowProfiles opens the picker of profiles, unless something else is open.
func (a *App) ShowProfiles() {
	if ui.CanOpen(a, nil) {
		a.overlay = newProfilePicker(a, a.switcher)
	}
}

// OpenProfile replaces the session by one of another profile.
func (a *App) OpenProfile(name string) tea.Cmd {
	open, dir := a.options.Switch, a.options.State
	if open == nil {
		a.Notify(ui.Warning, session.NoProfiles)
		return nil
	}
	a.Notify(ui.Info, "switching to "+name)
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
				a.ShowError("switching profiles", err)
				return nil
			}}
		}
		stored, stateErr := state.Open(dir, name)
		return ui.Response{Background: true, Apply: func() tea.Cmd { return a.switched(c, o, stored, stateErr) }}
	}
}

// switched replaces the session by one of another profile. Only the theme and the time mode
// are kept.
func (a *App) switched(c *client.Client, o Options, stored *state.Store, stateErr error) tea.Cmd {
	if reason := a.switcher.Blocker(); reason != "" { // a change or export has started since
		a.Notify(ui.Warning, reason)
		return nil
	}
	a.options = o.withSession(a.options)
	a.replaceSession(c, stored)
	a.Session.ReadOnly = a.options.ReadOnly || a.account.ReadOnly(a.options.Profile)
	cmd := a.account.Connect()
	if stateErr != nil {
		a.ShowError("loading saved settings of "+a.Session.Profile, stateErr)
	} else {
		a.Notify(ui.Info, "switched to "+a.Session.Profile)
	}
	return cmd
}

// ChangeAccount replaces the session by one of another user of the same profile. Changes
// that are still to be sent were requested by the previous user, and are dropped.
func (a *App) ChangeAccount(c *client.Client, user string) tea.Cmd {
	previous := a.Session
	dropped := a.undo.Drop()
	if name, isPending := a.changes.Pending(); isPending {
		dropped = append(dropped, name)
	}
	a.replaceSession(c, previous.State)
	a.Session.ReadOnly = previous.ReadOnly
	a.Session.Access.User = user
	if len(dropped) > 0 {
		a.Notify(ui.Warning, "not sent, as "+previous.Access.User+" requested it: "+strings.Join(dropped, ", "))
	} else {
		a.Notify(ui.Info, "signed in as "+user)
	}
	return a.account.Connect()
}

// replaceSession replaces the session: it closes every screen and the stream, and cancels all
// requests.
func (a *App) replaceSession(c *client.Client, stored *state.Store) {
	a.tabs.CloseAll()
	a.overlay = nil
	a.input = nil
	a.cancel()

	previous := a.Session
	ctx, cancel := context.WithCancel(a.root)
	a.cancel = cancel
	a.Session = newSession(ctx, a.options, c, stored, previous.Theme)
	a.Session.Times = previous.Times
	a.changes.Reset()
	a.stream.Reset()
	a.keys.Reset()
	a.tabs.Start()
}
