package session

import (
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
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
	sending []*sentChange  // without a response yet, oldest first
	pending *pendingChange // change to repeat after a sign-in; nil for none
}

// NewChanges returns changes without a pending one.
func NewChanges(h ChangesHost) *Changes { return &Changes{host: h} }

// sentChange is a change that is being sent.
type sentChange struct{ name string }

// begin notes that a change is being sent.
func (c *Changes) begin(name string) *sentChange {
	sent := &sentChange{name: name}
	c.sending = append(c.sending, sent)
	return sent
}

// end notes that the response to a change has arrived.
func (c *Changes) end(sent *sentChange) {
	c.sending = slices.DeleteFunc(c.sending, func(s *sentChange) bool { return s == sent })
}

// Sending returns the name of the last change without a response, "" if there is none.
func (c *Changes) Sending() string {
	if len(c.sending) == 0 {
		return ""
	}
	return c.sending[len(c.sending)-1].name
}

// pendingChange is a change that was rejected because the session had expired. It is
// repeated after the next sign-in.
type pendingChange struct {
	name     string // shown to the user
	send     func(api *client.Client) ui.Response
	isDryRun bool       // nothing is lost if the response does not arrive
	form     *ui.Form   // the form that submitted it; nil for none
	below    ui.Overlay // overlay that the sign-in form covers
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
	if change.OnDone == nil {
		change.OnDone = func(err error) { c.showOutcome(change.Name, err) }
	}
	request := &pendingChange{
		name:     change.Name,
		isDryRun: change.DryRun,
		send: func(api *client.Client) ui.Response {
			return outcome(change, api, change.Do(s.Context, api))
		},
	}
	if why := s.WhyReadOnly(); why != "" {
		request.isDryRun = true
		request.send = func(api *client.Client) ui.Response {
			return outcome(change, api, fmt.Errorf("%s; %w", why, ErrNotSent))
		}
	}
	return c.send(s, request)
}

// outcome returns the response with the outcome of a change.
func outcome(change ui.Change, api *client.Client, err error) ui.Response {
	return ui.Response{
		To:     change.Screen,
		Err:    err,
		Client: api,
		Apply: func() tea.Cmd {
			change.OnDone(err)
			if change.Then == nil {
				return nil
			}
			return change.Then(err)
		},
		ApplyLate: func() { change.OnDone(err) },
	}
}

// showOutcome shows the outcome of a change to the user.
func (c *Changes) showOutcome(name string, err error) {
	if err != nil {
		c.host.ShowError(name, ui.MarkNotSent(err))
		return
	}
	c.host.Notify(ui.Info, name+": done")
}

// send sends a change with the current client of a session. If the session has expired, it is
// sent again after a sign-in.
func (c *Changes) send(s *ui.Session, change *pendingChange) tea.Cmd {
	api := s.Client
	var sent *sentChange // nil for a dry run
	if !change.isDryRun {
		sent = c.begin(change.name)
	}
	return func() tea.Msg {
		r := change.send(api)
		if ui.SignedOut(r.Err) {
			return c.rejected(s, change, sent, r)
		}
		apply, applyLate := r.Apply, r.ApplyLate
		r.Apply = func() tea.Cmd {
			c.end(sent)
			return apply()
		}
		r.ApplyLate = func() {
			c.end(sent)
			applyLate()
		}
		return r
	}
}

// Rejected returns the message about a change that was rejected because the session had
// expired.
func (c *Changes) Rejected(s *ui.Session, name string, send func(api *client.Client) ui.Response) RejectedMsg {
	return c.rejected(s, &pendingChange{name: name, send: send}, nil, ui.Response{Client: s.Client})
}

// rejected returns the message about a change that was rejected because the session had
// expired. If the user has signed in since, the change is sent again.
func (c *Changes) rejected(s *ui.Session, change *pendingChange, sent *sentChange, r ui.Response) RejectedMsg {
	apply := func() tea.Cmd {
		c.end(sent)
		if s != c.host.CurrentSession() { // it was requested by another user
			c.host.Notify(ui.Warning, "not sent: "+change.name)
			return nil
		}
		if r.Client != s.Client {
			return c.repeat(s, change)
		}
		c.setPending(change)
		return nil
	}
	return RejectedMsg{
		change:   change,
		Response: ui.Response{Err: r.Err, Client: r.Client, Apply: apply},
	}
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
	return c.repeat(c.host.CurrentSession(), change)
}

// repeat sends a change again after a sign-in.
func (c *Changes) repeat(s *ui.Session, change *pendingChange) tea.Cmd {
	c.host.Notify(ui.Info, "repeating: "+change.name)
	cmd := c.send(s, change)
	if change.form == nil {
		return cmd
	}
	return change.form.Track(cmd)
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

// Reset forgets all changes without a message.
func (c *Changes) Reset() {
	c.pending = nil
	c.sending = nil
}
