package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// quick is how long requests may take that nobody waits for.
const quick = 10 * time.Second

// after is a message that comes later.
func (a *app) after(d time.Duration, m tea.Msg) tea.Cmd {
	return a.options.tick(d, m)
}

// errReadOnly is the answer to every change that is asked for while the session
// is read-only. It is decided here, beside the client's own refusal.
var errReadOnly = errors.New("read-only: nothing was sent (:rw lifts it)")

// Change makes a change at the service: it refuses it in a read-only session and
// repeats it after a sign-in.
func (a *app) Change(one ui.Change) tea.Cmd {
	c, ctx, readOnly := a.Client, a.Context, a.ReadOnly
	told := one.Told
	if told == nil {
		told = func(err error) { a.changed(one.What, err) }
	}
	return a.repeatable(one.What, func() tea.Msg {
		err := errReadOnly
		if !readOnly {
			err = one.Do(ctx, c)
		}
		return ui.Answer{To: one.Of, Err: err, Late: func() { told(err) }, Take: func() tea.Cmd {
			if told(err); one.Then == nil {
				return nil
			}
			return one.Then(err)
		}}
	})
}

// changed tells how a change went.
func (a *app) changed(what string, err error) {
	if err != nil {
		a.Fail(what, ui.NotSent(err))
		return
	}
	a.Tell(ui.Info, what+": done")
}

// listen begins to follow the service.
func (a *app) listen() tea.Cmd {
	if a.stopFeed != nil {
		a.stopFeed()
	}
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}}
	if a.feed != nil {
		o.LastEventID = a.feed.last()
	}
	ctx, stop := context.WithCancel(a.Context)
	a.link.session++
	a.feed, a.stopFeed = newFeed(a.link.session, a.Client.Stream(ctx, o)), stop
	return a.hear(ctx)
}

// hear waits for what happens next.
func (a *app) hear(ctx context.Context) tea.Cmd {
	f := a.feed
	a.hearing = ctx
	return a.options.hear(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// openProfile makes a client of another profile.
func (a *app) openProfile(name string) tea.Cmd {
	open, dir := a.options.Switch, a.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{reply: reply{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, state: k, unkept: err}
	}
}

// whoAmI asks who we are to the service, and what it can do.
func (a *app) whoAmI() tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(session.Context, quick)
		defer cancel()
		m := whoMsg{session: session}
		if m.info, m.err = c.Info(ctx); m.err != nil {
			m.info = nil
			return m
		}
		m.user, m.err = c.CurrentSession(ctx)
		return m
	}
}

// unlock asks for a client that may change things.
func (a *app) unlock() tea.Cmd {
	make, session, asked := a.options.Unlock, a.Session, a.forbidden
	return func() tea.Msg {
		c, err := make()
		return unlockedMsg{reply{err: err}, c, session, asked}
	}
}

// signIn starts a session, as a form asks.
func (a *app) signIn(f *ui.Form, user, password string) tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		_, err := c.Login(session.Context, user, password)
		return signedInMsg{reply: reply{err: err}, session: session, user: user, form: f}
	}
}
