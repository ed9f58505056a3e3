package tui

import (
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// Open opens a destination.
func (a *app) Open(t ui.Target) tea.Cmd {
	switch t := t.(type) {
	case ui.MessagesTarget:
		return a.openMessages(t)
	case ui.RecordsTarget:
		b := browse.New(a, t.Kind, t.Filters, browse.Options{})
		if t.Filters != nil {
			b.Typed = t.Typed
			b.Remember()
		}
		return a.pushIn(recordsTab, b)
	case ui.SubscriptionTarget:
		return a.openSubscription(t.Queue)
	case ui.ViewTarget:
		return a.openView(t.View)
	}
	return nil
}

func (a *app) openMessages(t ui.MessagesTarget) tea.Cmd {
	list := messages.New(a, t.MessageFilter)
	switch {
	case t.Here:
		return a.Push(list)
	case t.Message == nil:
		return a.pushIn(messagesTab, list)
	}
	list.Sought = t.Message.MessageID
	return tea.Batch(a.pushIn(messagesTab, list), a.Push(messages.NewDetail(list, *t.Message)))
}

// openSubscription shows the subscription of a queue. Until it and its subscriber
// are fetched, the queue's reason tells which of them is disabled.
func (a *app) openSubscription(q wire.Lane) tea.Cmd {
	list := webhooks.NewSubscriptions(a, wire.Subscriber{RecID: q.SubscriberID, Name: q.SubscriberName, IsEnabled: true})
	list.Sought = q.SubscriptionID
	one := wire.Subscription{RecID: q.SubscriptionID, SubscriberID: q.SubscriberID, EventName: q.EventName, URL: q.URL,
		IsEnabled: q.IsEnabled, DisabledReason: q.DisabledReason, Ordered: q.Ordered}
	return tea.Batch(a.pushIn(subscribersTab, list), a.Push(webhooks.NewSubscription(list, one)))
}

// Current is what the screens of the profile share.
func (a *app) Current() *ui.Session { return a.Session }

// ClearToast takes away a message that would cover the line of status.
func (a *app) ClearToast() { a.toasts.Passing = nil }

// Overlay is what lies over the screen; nil for nothing.
func (a *app) Overlay() ui.Overlay { return a.over }

// Show puts an overlay over the screen; nil takes away what is there.
func (a *app) Show(o ui.Overlay) { a.over = o }

// Close takes an overlay away, also where it waits below something else.
func (a *app) Close(o ui.Overlay) {
	if a.over == o {
		a.over = nil
		if s, secret := o.(*ui.Secret); secret {
			a.over = s.Under
		}
	}
	if a.held != nil && a.held.under == o {
		a.held.under = nil
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(one *ui.Secret) bool { return ui.Overlay(one) == o })
	for _, s := range a.waiting {
		if s.Under == o {
			s.Under = nil
		}
	}
}

// Type opens a line below the tabs; nil closes it.
func (a *app) Type(l *ui.Line) { a.line = l }

// Typing reports whether such a line is open.
func (a *app) Typing() bool { return a.line != nil }

// Watch calls a watcher until it is done.
func (a *app) Watch(w ui.Watcher) { a.watchers = append(a.watchers, w) }

// watch calls the watchers that are not done.
func (a *app) watch(call func(ui.Watcher) tea.Cmd) tea.Cmd {
	var cmds []tea.Cmd
	for _, w := range slices.Clone(a.watchers) {
		if !w.Done() {
			cmds = append(cmds, call(w))
		}
	}
	a.watchers = slices.DeleteFunc(a.watchers, ui.Watcher.Done)
	return tea.Batch(cmds...)
}

// openView opens a view.
func (a *app) openView(v state.View) tea.Cmd {
	if v.Record == ui.MessageRecord {
		m := messages.New(a, ui.MessageFilter{Subscription: v.Subscription, Label: v.Label, Problems: v.Problems, Undelivered: v.Undelivered})
		m.Filter.Conditions, m.Typed = browse.RecallFilters(m.Dialog, ui.MessageKind(), v.Where)
		m.SetViewName(v.Name)
		m.Arrange(v.Arrangement)
		m.Order = messages.MessageOrder(v.OrderBy)
		return a.pushIn(messagesTab, m)
	}
	kind, ok := browse.KindNamed(a.Registry, v.Record)
	if !ok {
		a.Tell(ui.Warning, v.Name+": there is no record "+v.Record+" any more")
		return nil
	}
	b := requests.NewRows(a, "")
	if kind.Name != requests.Kind {
		b = browse.New(a, kind, nil, browse.Options{})
	}
	b.Arrange(v.Arrangement)
	b.SetViewName(v.Name)
	return a.pushIn(recordsTab, b)
}

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
