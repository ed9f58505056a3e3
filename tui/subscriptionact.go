package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// What is done to one subscription, on the list of them and on its own screen.

// act does what a key means for a subscription.
func (a *app) act(to screen, of wire.Subscriber, one wire.Subscription, what keymap.Action) tea.Cmd {
	switch what {
	case keymap.Open:
		return a.push(newMessages(a, messageFilter{subscription: one.RecID, label: one.EventName}))
	case keymap.CopyCell:
		a.clip(one.RecID)
	case keymap.Edit:
		a.over = a.changeForm(to, of, one)
	case keymap.RenewSecret:
		a.askSecret(one)
	case keymap.Test:
		a.askTest(one)
	case keymap.ToggleEnabled:
		verb := verbOf(!one.IsEnabled)
		a.ask(verb+" "+one.EventName+"?", strings.ToLower(verb), append([]string{"to " + maskURL(one.URL)}, enableLines(one.IsEnabled)...),
			func() tea.Cmd { return a.enableSubscription(to, one, !one.IsEnabled) })
	case keymap.Remove:
		return a.stake(to, of, &one)
	}
	return nil
}

// stakeMsg brings how much goes with a subscriber, or with one subscription of
// it, when that is deleted.
type stakeMsg struct {
	reply
	subscriber    wire.Subscriber
	subscription  *wire.Subscription // nil where all are meant
	subscriptions int
	messages      int
	pending       int // of them
}

// askRemove asks before what was counted is deleted.
func (a *app) askRemove(m stakeMsg) {
	if a.front() != m.to || a.over != nil || a.line != nil {
		a.tell(ui.Warning, "nothing was asked about a delete, since something else was opened meanwhile")
		return
	}
	of, one := m.subscriber, m.subscription
	if one == nil {
		a.ask("Delete "+of.Name+"?", "delete it", append(m.lost(), "This cannot be undone."), func() tea.Cmd { return a.removeSubscriber(m.to, of) })
		return
	}
	lines := append([]string{one.EventName + " to", "  " + maskURL(one.URL)}, m.lost()...)
	a.ask("Delete the subscription?", "delete it", append(lines, "This cannot be undone."), func() tea.Cmd { return a.removeSubscription(m.to, *one) })
}

// lost says what goes with it.
func (m stakeMsg) lost() []string {
	if m.err != nil {
		return []string{"Its messages and responses go with it, and what is pending is not sent. How many they are is not known: " + ui.Describe(m.err)}
	}
	subscriptions := ui.Plural(m.subscriptions, "subscription", "subscriptions")
	messages := ui.Plural(m.messages, "message", "messages")
	switch {
	case m.subscription == nil && m.subscriptions == 0:
		return []string{"It has no subscriptions."}
	case m.messages == 0 && m.subscription == nil:
		return []string{"Its " + subscriptions + " without messages " + goes(m.subscriptions) + " with it."}
	case m.messages == 0:
		return []string{"It has no messages."}
	case m.subscription == nil:
		return []string{fmt.Sprintf("Its %s with %s and what was answered go with it.", subscriptions, messages), m.unsent()}
	}
	return []string{fmt.Sprintf("Its %s with what was answered %s with it.", messages, goes(m.messages)), m.unsent()}
}

// unsent says how many messages are not sent then.
func (m stakeMsg) unsent() string {
	if m.pending == 0 {
		return "None of the messages is pending."
	}
	return ui.Plural(m.pending, "message that is pending is", "messages that are pending are") + " not sent."
}

func goes(n int) string {
	if n == 1 {
		return "goes"
	}
	return "go"
}
