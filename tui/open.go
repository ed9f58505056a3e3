package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/shell"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// firstScreen returns a new first screen of a tab.
func firstScreen(h ui.Host, tab int) ui.Screen {
	switch tab {
	case shell.RecordsTab:
		return records.NewKinds(h)
	case shell.SubscribersTab:
		return webhooks.NewSubscribers(h)
	case shell.MessagesTab:
		return messages.New(h, ui.MessageFilter{})
	case shell.EventsTab:
		return webhooks.NewEvents(h)
	case shell.RequestsTab:
		return requests.New(h)
	}
	return home.New(h)
}

// openTarget opens a destination.
func openTarget(t *shell.Tabs, h ui.Host, to ui.Target) tea.Cmd {
	switch to := to.(type) {
	case ui.MessagesTarget:
		return openMessages(t, h, to)
	case ui.RecordsTarget:
		b := browse.New(h, to.Kind, to.Filters, browse.Options{})
		if to.Filters != nil {
			b.Selection.Typed = to.Typed
			b.Remember()
		}
		return t.PushIn(shell.RecordsTab, b)
	case ui.SubscriptionTarget:
		return openSubscription(t, h, to.Queue)
	case ui.NewSubscriberTarget:
		cmd := t.Open(shell.SubscribersTab)
		if list, ok := t.Front().(*webhooks.Subscribers); ok {
			h.ShowOverlay(list.NewForm())
		}
		return cmd
	case ui.WhyTarget:
		if why := h.CurrentSession().NeedsAdmin(); why != "" {
			h.Notify(ui.Warning, "the history of a key "+why)
			return nil
		}
		return t.Push(messages.NewWhy(h, to.Key))
	case ui.ChangesTarget:
		return t.Push(records.NewChanges(h, to.Kind))
	case ui.BillTarget:
		return records.NewBill(h).Open(to.IDs)
	case ui.ViewTarget:
		return openView(t, h, to.View)
	}
	return nil
}

// openMessages opens the list of messages, and a message on top of it if the target has one.
func openMessages(t *shell.Tabs, h ui.Host, to ui.MessagesTarget) tea.Cmd {
	list := messages.New(h, to.MessageFilter)
	if to.Here {
		return t.Push(list)
	}
	if to.Message == nil {
		return t.PushIn(shell.MessagesTab, list)
	}
	list.SelectID = to.Message.MessageID
	return t.PushIn(shell.MessagesTab, list, messages.NewDetail(list, *to.Message))
}

// openSubscription opens the subscription of a queue. Until the subscription and its
// subscriber are fetched, it is shown with the data of the queue.
func openSubscription(t *shell.Tabs, h ui.Host, q wire.Queue) tea.Cmd {
	list := webhooks.NewSubscriptions(h, wire.Subscriber{
		RecID:     q.SubscriberID,
		Name:      q.SubscriberName,
		IsEnabled: true,
	})
	list.SelectID = q.SubscriptionID
	subscription := wire.Subscription{
		RecID:          q.SubscriptionID,
		SubscriberID:   q.SubscriberID,
		EventName:      q.EventName,
		URL:            q.URL,
		IsEnabled:      q.IsEnabled,
		DisabledReason: q.DisabledReason,
		Ordered:        q.Ordered,
		OrderedByKey:   q.OrderedByKey,
	}
	cmd := t.PushIn(shell.SubscribersTab, list, webhooks.NewSubscription(list, subscription))
	t.ReturnAtOnce()
	return cmd
}

// openView opens a saved view.
func openView(t *shell.Tabs, h ui.Host, v state.View) tea.Cmd {
	isForAdmins := v.Record == ui.MessageRecord || v.Record == requests.Kind
	if why := h.CurrentSession().NeedsAdmin(); why != "" && isForAdmins {
		h.Notify(ui.Warning, v.Name+": "+why)
		return nil
	}
	if v.Record == ui.MessageRecord {
		m := messages.New(h, ui.MessageFilter{
			Subscription: v.Subscription,
			Label:        v.Label,
			Problems:     v.Problems,
			Undelivered:  v.Undelivered,
		})
		m.ShowView(v)
		return t.PushIn(shell.MessagesTab, m)
	}
	kind, ok := browse.LookupKind(h.CurrentSession().Registry, v.Record)
	if !ok {
		h.Notify(ui.Warning, v.Name+": record kind "+v.Record+" no longer exists")
		return nil
	}
	b := requests.NewRows(h, "")
	if kind.Name != requests.Kind {
		b = browse.New(h, kind, nil, browse.Options{})
	}
	b.Arrange(v.Arrangement)
	b.SetViewName(v.Name)
	return t.PushIn(shell.RecordsTab, b)
}
