package webhooks

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Subscription is the screen of one subscription and its delivery statistics.
type Subscription struct {
	ui.Base
	ui.Pager
	list     subscriptionList
	One      wire.Subscription
	revealed bool // the query string of the URL is shown
}

// subscriptionList is the list that a subscription was opened from.
type subscriptionList interface {
	// Owner returns the subscriber of the subscriptions.
	Owner() wire.Subscriber
	// SetOwner replaces the subscriber.
	SetOwner(subscriber wire.Subscriber)
	// Step selects the subscription n rows further, and returns it, false if there is none.
	Step(n int) (wire.Subscription, bool)
	// Position describes the selected row.
	Position() string
}

// NewSubscription returns the screen of a subscription of a list.
func NewSubscription(list *Subscriptions, subscription wire.Subscription) *Subscription {
	s := &Subscription{Base: ui.NewBase(list.Host), list: list, One: subscription}
	s.Owner = s.HostSession
	return s
}

func (s *Subscription) Shown() tea.Cmd { return s.Poll() }

func (s *Subscription) Poll() tea.Cmd {
	s.Busy = true
	return tea.Batch(s.fetch(), s.Session.Queues.RefreshNow(s, s.OnQueues))
}

// fetch fetches the subscription with its subscriber.
func (s *Subscription) fetch() tea.Cmd {
	return ui.Fetch(s.Ctx, s, fetchSubscriber(s.One.SubscriberID), s.OnFetched)
}

// Tick refreshes times and queue statistics.
func (s *Subscription) Tick() tea.Cmd {
	s.fill()
	return s.Session.Queues.Refresh(s, s.OnQueues)
}

// OnQueues shows new queue statistics. It fetches the subscription again if it was
// enabled or disabled elsewhere.
func (s *Subscription) OnQueues() tea.Cmd {
	s.fill()
	if s.Session.Queues.EnabledChanged(s.list.Owner(), s.One) {
		return s.fetch()
	}
	return nil
}

func (s *Subscription) Replace(subscription wire.Subscription) { s.One = subscription }

// OnFetched shows the fetched subscription. It closes the screen if the
// subscription was deleted.
func (s *Subscription) OnFetched(subscriber *wire.Subscriber, err error) tea.Cmd {
	s.Busy = false
	if err != nil {
		s.Host.ShowFetchError("fetching the subscription", err)
		return nil
	}
	i := slices.IndexFunc(subscriber.Subscriptions, func(subscription wire.Subscription) bool {
		return subscription.RecID == s.One.RecID
	})
	if i < 0 {
		if s.Host.Front() == ui.Screen(s) {
			return s.Host.Pop()
		}
		return nil
	}
	s.One = subscriber.Subscriptions[i]
	s.list.SetOwner(*subscriber)
	s.fill()
	return nil
}

func (s *Subscription) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	s.Resize(width, height)
	s.fill()
}

func (s *Subscription) View() string { return strings.Join(s.Draw(), "\n") }

func (s *Subscription) Title() string { return s.One.EventName }

func (s *Subscription) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscription, keymap.InLists}
}

func (s *Subscription) Equivalent() string { return "whctl subscriptions show " + s.One.RecID }

func (s *Subscription) Status() string {
	if s.Top+s.Rows < len(s.Lines) {
		return keymap.KeyFor(keymap.InLists, keymap.GoDown) + " scrolls down"
	}
	return ""
}

// Count returns the number of the subscription in the list, and the number of subscriptions.
func (s *Subscription) Count() string { return s.list.Position() }

func (s *Subscription) Badges() []string {
	if s.subscriberDisabled() {
		return []string{"subscriber disabled"}
	}
	return []string{stateCell(s.One, s.Session).Text}
}

func (s *Subscription) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	switch b.Action {
	case keymap.PreviousPage:
		return s.step(-1)
	case keymap.NextPage:
		return s.step(1)
	case keymap.CopyCell:
		s.Host.Copy(s.Value())
		return nil
	case keymap.Reveal:
		s.revealed = !s.revealed
		s.fill()
		return nil
	}
	return act(s, s.list.Owner(), s.One, b.Action)
}

// subscriberDisabled reports whether an enabled subscription is paused because its
// subscriber is disabled.
func (s *Subscription) subscriberDisabled() bool {
	return s.One.IsEnabled && !s.list.Owner().IsEnabled
}

// step shows the subscription n rows further in the list.
func (s *Subscription) step(n int) tea.Cmd {
	subscription, ok := s.list.Step(n)
	if !ok || subscription.RecID == s.One.RecID {
		return nil
	}
	s.Reset()
	s.One = subscription
	s.revealed = false
	s.At = 0
	s.fill()
	return s.Poll()
}

func (s *Subscription) Commands() []string { return subscriptionCommands(s.One) }
