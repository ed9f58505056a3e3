package tui

import (
	"slices"

	"github.com/bizhook/whd/tui/screens/messages"

	"github.com/bizhook/whd/tui/screens/webhooks"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
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

// Outdate has a screen fetched again when it is seen.
func (a *app) Outdate(s ui.Screen) { a.outdated[s] = true }

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
	a.secrets = slices.DeleteFunc(a.secrets, func(one *ui.Secret) bool { return ui.Overlay(one) == o })
	for _, s := range a.secrets {
		if s.Under == o {
			s.Under = nil
		}
	}
}

// Type opens a line below the tabs; nil closes it.
func (a *app) Type(l *ui.Line) { a.line = l }

// Typing reports whether such a line is open.
func (a *app) Typing() bool { return a.line != nil }

// SignInPending reports whether a change waits for a sign-in.
func (a *app) SignInPending() bool { return a.held != nil }

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
