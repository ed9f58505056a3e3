package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// subscriptionScreen shows one subscription, and how deliveries to it stand.
type subscriptionScreen struct {
	ui.Base
	ui.Pager
	list     *subscriptions
	one      wire.Subscription
	wait     bool
	revealed bool // its URL is shown with what can be a key
}

func newSubscription(list *subscriptions, one wire.Subscription) *subscriptionScreen {
	s := &subscriptionScreen{Base: ui.NewBase(list.Host), list: list, one: one}
	s.Owner = s.Dialog
	return s
}

func (s *subscriptionScreen) Shown() tea.Cmd { return s.Poll() }

func (s *subscriptionScreen) Poll() tea.Cmd {
	s.wait = true
	return tea.Batch(s.ask(), s.Queues.RefreshNow(s, s.figured))
}

// ask fetches the subscription with its subscriber.
func (s *subscriptionScreen) ask() tea.Cmd {
	return ui.Fetch(s.Ctx, s, fetchSubscriber(s.one.SubscriberID), s.found)
}

// Tick lets times and figures go on.
func (s *subscriptionScreen) Tick() tea.Cmd {
	s.fill()
	return s.Queues.Refresh(s, s.figured)
}

// figured shows how deliveries are.
func (s *subscriptionScreen) figured() tea.Cmd {
	s.fill()
	if s.Queues.Turned(s.list.subscriber, s.one) {
		return s.ask()
	}
	return nil
}

// take takes what the subscription is now.
func (s *subscriptionScreen) take(now wire.Subscription) { s.one = now }

// found takes what the subscription is now. Where it is no more, its screen is
// left.
func (s *subscriptionScreen) found(of *wire.Subscriber, err error) tea.Cmd {
	s.wait = false
	if err != nil {
		s.FetchFailed("fetching the subscription", err)
		return nil
	}
	i := slices.IndexFunc(of.Subscriptions, func(one wire.Subscription) bool { return one.RecID == s.one.RecID })
	if i < 0 {
		if s.Front() == ui.Screen(s) {
			return s.Pop()
		}
		return nil
	}
	s.one = of.Subscriptions[i]
	s.list.renew(*of)
	s.fill()
	return nil
}

func (s *subscriptionScreen) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	s.Fit(width, height)
	s.fill()
}

func (s *subscriptionScreen) View() string  { return strings.Join(s.Draw(), "\n") }
func (s *subscriptionScreen) Title() string { return s.one.EventName }
func (s *subscriptionScreen) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscription, keymap.InLists}
}
func (s *subscriptionScreen) Waiting() bool      { return s.wait }
func (s *subscriptionScreen) Equivalent() string { return "whctl subscriptions show " + s.one.RecID }

func (s *subscriptionScreen) Status() string {
	text := s.list.Grid.Place()
	if s.Top+s.Rows < len(s.Lines) {
		text += "   " + keymap.KeyFor(keymap.InLists, keymap.GoDown) + " shows what is below"
	}
	return text
}

func (s *subscriptionScreen) Badges() []string {
	if s.waitsFor() {
		return []string{"subscriber disabled"}
	}
	return []string{stateCell(s.one, s.Session).Text}
}

func (s *subscriptionScreen) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	switch b.Action {
	case keymap.PageBefore:
		return s.step(-1)
	case keymap.PageAfter:
		return s.step(1)
	case keymap.Reveal:
		s.revealed = !s.revealed
		s.fill()
		return nil
	}
	return act(s, s.list.subscriber, s.one, b.Action)
}

// waitsFor reports whether nothing but its subscriber, which is disabled, keeps
// the subscription from being sent anything.
func (s *subscriptionScreen) waitsFor() bool {
	return s.one.IsEnabled && !s.list.subscriber.IsEnabled
}

// step goes to the subscription before or after in the list.
func (s *subscriptionScreen) step(n int) tea.Cmd {
	s.list.Grid.Move(n)
	one, ok := s.list.selected()
	if !ok || one.RecID == s.one.RecID {
		return nil
	}
	s.Reset()
	s.one, s.revealed = one, false
	s.Scroll(-len(s.Lines))
	s.fill()
	return s.Poll()
}

func (s *subscriptionScreen) Commands() []string { return subscriptionDeeds(s.one) }
