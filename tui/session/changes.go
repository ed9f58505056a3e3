package session

import (
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// ChangesHost is the part of the app that the changes of data use.
type ChangesHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowError(action string, err error)
	Overlay() ui.Overlay
	ShowOverlay(o ui.Overlay)
	// ShowSignIn opens the sign-in form in place of the overlay and the input.
	ShowSignIn()
}

// Changes makes changes of data at the service, and repeats one after a sign-in.
type Changes struct {
	host    ChangesHost
	pending *pendingChange // change to repeat after a sign-in; nil for none
}

// NewChanges returns changes of which none is pending.
func NewChanges(h ChangesHost) *Changes { return &Changes{host: h} }

// pendingChange is a change that was rejected because the session had expired. It is
// repeated after the next sign-in.
type pendingChange struct {
	name  string // shown to the user
	cmd   tea.Cmd
	form  *ui.Form   // the form that submitted it; nil for none
	below ui.Overlay // overlay that the sign-in form covers
}

// RejectedMsg reports that a change was rejected because the session had expired.
type RejectedMsg struct {
	Response ui.Response
	change   *pendingChange
}

// SetForm sets the form that submitted the change.
func (m RejectedMsg) SetForm(f *ui.Form) { m.change.form = f }

// ErrNotSent is the error of changes in a read-only session. The client rejects them
// too.
var ErrNotSent = errors.New("nothing was sent")

// Change changes data at the service. It fails in a read-only session, and repeats the
// change after a sign-in if the session has expired.
func (c *Changes) Change(change ui.Change) tea.Cmd {
	s := c.host.CurrentSession()
	api := s.Client
	ctx := s.Context
	why := s.WhyReadOnly()
	refusal := fmt.Errorf("%s; %w", why, ErrNotSent)
	done := change.OnDone
	if done == nil {
		done = func(err error) { c.done(change.Name, err) }
	}
	return c.retryAfterSignIn(change.Name, func() tea.Msg {
		err := refusal
		if why == "" {
			err = change.Do(ctx, api)
		}
		return ui.Response{To: change.Screen, Err: err, ApplyLate: func() { done(err) }, Apply: func() tea.Cmd {
			done(err)
			if change.Then == nil {
				return nil
			}
			return change.Then(err)
		}}
	})
}

// done shows the outcome of a change.
func (c *Changes) done(name string, err error) {
	if err != nil {
		c.host.ShowError(name, ui.MarkNotSent(err))
		return
	}
	c.host.Notify(ui.Info, name+": done")
}

// retryAfterSignIn wraps a command so that it is repeated after a sign-in if the session has
// expired.
func (c *Changes) retryAfterSignIn(name string, cmd tea.Cmd) tea.Cmd {
	s := c.host.CurrentSession()
	return func() tea.Msg {
		m := cmd()
		r, ok := m.(ui.Response)
		if !ok || !ui.SignedOut(r.Err) {
			return m
		}
		return c.Rejected(s, name, cmd, r.Err)
	}
}

// Rejected returns the message about a change that was rejected because the session had
// expired.
func (c *Changes) Rejected(s *ui.Session, name string, cmd tea.Cmd, err error) RejectedMsg {
	change := &pendingChange{name: name, cmd: cmd}
	return RejectedMsg{change: change, Response: ui.Response{Err: err, Apply: func() tea.Cmd {
		if s == c.host.CurrentSession() {
			c.setPending(change)
		}
		return nil
	}}}
}

// setPending stores a change and opens the sign-in form.
func (c *Changes) setPending(change *pendingChange) {
	change.below = c.host.Overlay()
	if s, isSecret := change.below.(*ui.Secret); isSecret {
		change.below = s.Below // the sign-in form is shown below the secret
	}
	if f, isForm := change.below.(*ui.Form); isForm && f.IsSignIn {
		change.below = nil
		if c.pending != nil {
			change.below = c.pending.below
		}
	}
	c.pending = change
	c.host.ShowSignIn()
}

// Repeat repeats the stored change after a sign-in.
func (c *Changes) Repeat() tea.Cmd {
	change := c.pending
	if change == nil {
		return nil
	}
	if f, isForm := c.host.Overlay().(*ui.Form); isForm && f.IsSignIn {
		c.host.ShowOverlay(nil)
	}
	c.pending = nil
	if c.host.Overlay() == nil {
		c.host.ShowOverlay(change.below)
	}
	c.host.Notify(ui.Info, "repeating: "+change.name)
	retry := c.retryAfterSignIn(change.name, change.cmd)
	if change.form == nil {
		return retry
	}
	return change.form.Track(retry)
}

// Drop drops the stored change after a cancelled sign-in.
func (c *Changes) Drop() {
	if c.pending == nil {
		return
	}
	c.host.ShowOverlay(c.pending.below)
	c.host.Notify(ui.Warning, "not sent: "+c.pending.name)
	c.pending = nil
}

// Pending returns the name of the change that is waiting for a sign-in, and whether there
// is one.
func (c *Changes) Pending() (name string, ok bool) {
	if c.pending == nil {
		return "", false
	}
	return c.pending.name, true
}

// Closed forgets an overlay that was closed below the sign-in form.
func (c *Changes) Closed(o ui.Overlay) {
	if c.pending != nil && c.pending.below == o {
		c.pending.below = nil
	}
}

// Reset forgets the pending change without a message.
func (c *Changes) Reset() { c.pending = nil }
