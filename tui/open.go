package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
)

// Open opens a destination.
func (a *app) Open(t Target) tea.Cmd {
	switch t := t.(type) {
	case MessagesTarget:
		return a.openMessages(t)
	case RecordsTarget:
		b := newBrowser(a, t.Kind, t.Filters)
		if t.Filters != nil {
			b.typed = t.Typed
			b.remember()
		}
		return a.pushIn(recordsTab, b)
	case SubscriptionTarget:
		return a.openSubscription(t.Queue)
	case ViewTarget:
		return a.openView(t.View)
	}
	return nil
}

func (a *app) openMessages(t MessagesTarget) tea.Cmd {
	list := newMessages(a, t.messageFilter)
	switch {
	case t.Here:
		return a.Push(list)
	case t.Message == nil:
		return a.pushIn(messagesTab, list)
	}
	list.sought = t.Message.MessageID
	return tea.Batch(a.pushIn(messagesTab, list), a.Push(newMessage(list, *t.Message)))
}

// openSubscription shows the subscription of a queue. Until it and its subscriber
// are fetched, the queue's reason tells which of them is disabled.
func (a *app) openSubscription(q wire.Lane) tea.Cmd {
	list := newSubscriptions(a, wire.Subscriber{RecID: q.SubscriberID, Name: q.SubscriberName, IsEnabled: true})
	list.sought = q.SubscriptionID
	one := wire.Subscription{RecID: q.SubscriptionID, SubscriberID: q.SubscriberID, EventName: q.EventName, URL: q.URL,
		IsEnabled: q.IsEnabled, DisabledReason: q.DisabledReason, Ordered: q.Ordered}
	return tea.Batch(a.pushIn(subscribersTab, list), a.Push(newSubscription(list, one)))
}

// Current is what the screens of the profile share.
func (a *app) Current() *Session { return a.Session }

// ClearToast takes away a message that would cover the line of status.
func (a *app) ClearToast() { a.toasts.Passing = nil }

// Outdate has a screen fetched again when it is seen.
func (a *app) Outdate(s screen) { a.outdated[s] = true }

// Overlay is what lies over the screen; nil for nothing.
func (a *app) Overlay() overlay { return a.over }

// Show puts an overlay over the screen; nil takes away what is there.
func (a *app) Show(o overlay) { a.over = o }

// Close takes an overlay away, also where it waits below something else.
func (a *app) Close(o overlay) {
	if a.over == o {
		a.over = nil
		if s, secret := o.(*secretBox); secret {
			a.over = s.under
		}
	}
	if a.held != nil && a.held.under == o {
		a.held.under = nil
	}
	a.secrets = slices.DeleteFunc(a.secrets, func(one *secretBox) bool { return overlay(one) == o })
	for _, s := range a.secrets {
		if s.under == o {
			s.under = nil
		}
	}
}

// Type opens a line below the tabs; nil closes it.
func (a *app) Type(l *line) { a.line = l }

// Typing reports whether such a line is open.
func (a *app) Typing() bool { return a.line != nil }

// SignInPending reports whether a change waits for a sign-in.
func (a *app) SignInPending() bool { return a.held != nil }

// Watch calls a watcher until it is done.
func (a *app) Watch(w Watcher) { a.watchers = append(a.watchers, w) }

// watch calls the watchers that are not done.
func (a *app) watch(call func(Watcher) tea.Cmd) tea.Cmd {
	var cmds []tea.Cmd
	for _, w := range slices.Clone(a.watchers) {
		if !w.Done() {
			cmds = append(cmds, call(w))
		}
	}
	a.watchers = slices.DeleteFunc(a.watchers, Watcher.Done)
	return tea.Batch(cmds...)
}
