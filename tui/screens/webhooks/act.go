package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

func subscriptionDeeds(one wire.Subscription) []string {
	return []string{
		"whctl subscriptions update " + one.RecID + " --to URL", "whctl subscriptions test " + one.RecID, "whctl subscriptions rotate-secret " + one.RecID,
		"whctl subscriptions " + switching(one.IsEnabled) + " " + one.RecID, "whctl subscriptions delete " + one.RecID,
	}
}

// switching is the command that turns on what is off, and off what is on.
func switching(on bool) string {
	if on {
		return "disable"
	}
	return "enable"
}

// Name is done to one subscription, on the list of them and on its own screen.

// subscriptionOwner is a screen on which something is done to a subscription.
type subscriptionOwner interface {
	ui.Screen
	Poll() tea.Cmd
	Take(one wire.Subscription) // what it is now
}

// polled asks again after a change.
func polled(s ui.Poller) func(error) tea.Cmd {
	return func(error) tea.Cmd { return s.Poll() }
}

// act does what a key means for a subscription.
func act(s subscriptionOwner, of wire.Subscriber, one wire.Subscription, what keymap.Action) tea.Cmd {
	h := s.Common().Host
	switch what {
	case keymap.Open:
		return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: one.RecID, Label: one.EventName}, Here: true})
	case keymap.CopyCell:
		h.Copy(one.RecID)
	case keymap.Edit:
		h.ShowOverlay(ChangeForm(s, of, one))
	case keymap.NewSecret:
		askSecret(h, one)
	case keymap.Test:
		askTest(h, one)
	case keymap.ToggleEnabled:
		verb := verbOf(!one.IsEnabled)
		ui.OpenConfirm(h, verb+" "+one.EventName+"?", strings.ToLower(verb), append([]string{"to " + ui.MaskURL(one.URL)}, enableLines(one.IsEnabled)...),
			func() tea.Cmd { return EnableSubscription(s, one, !one.IsEnabled) })
	case keymap.Delete:
		return weighRemove(s, of, &one)
	}
	return nil
}

// EnableSubscription enables or disables a subscription.
func EnableSubscription(s subscriptionOwner, one wire.Subscription, on bool) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: onOff(on) + " " + one.EventName, Then: polled(s), Do: func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateSubscription(ctx, one.SubscriberID, one.RecID, wire.SubscriptionRequest{IsEnabled: &on})
		return err
	}})
}

// impact is how much goes with a subscriber, or with one subscription of it, when
// that is deleted.
type impact struct {
	subscriber    wire.Subscriber
	subscription  *wire.Subscription // nil where all are meant
	subscriptions int
	messages      int
	pending       int // of them
	err           error
}

// Polling is a screen that is fetched again after a change.
type Polling interface {
	ui.Screen
	ui.Poller
}

// weighRemove counts what goes with a subscriber, or with one subscription of it,
// and asks then.
func weighRemove(s Polling, of wire.Subscriber, one *wire.Subscription) tea.Cmd {
	return ui.Fetch(s.Common().Context, s, func(ctx context.Context, c *client.Client) (impact, error) { return weigh(ctx, c, of, one) }, func(i impact, err error) tea.Cmd {
		i.err = err
		i.ask(s)
		return nil
	})
}

func weigh(ctx context.Context, c *client.Client, of wire.Subscriber, one *wire.Subscription) (impact, error) {
	i := impact{subscriber: of, subscription: one}
	members := url.Values{"SubscriberID": {of.RecID}, "Take": {"0"}, "Include": {"Total"}}
	if one != nil {
		members = url.Values{"SubscriptionID": {one.RecID}, "Take": {"0"}, "Include": {"Total"}}
	} else {
		list, err := c.Subscriptions(ctx, of.RecID)
		if err != nil {
			return i, err
		}
		i.subscriptions = len(list)
	}
	all, err := c.AllMessages(ctx, members)
	if err != nil {
		return i, err
	}
	members.Set("StatusIn", "0,2")
	open, err := c.AllMessages(ctx, members)
	if err == nil {
		i.messages, i.pending = int(all.Total), int(open.Total)
	}
	return i, err
}

// ask asks before what was counted is deleted.
func (i impact) ask(s Polling) {
	h := s.Common().Host
	if h.Front() != ui.Screen(s) || h.Overlay() != nil || h.InputOpen() {
		h.Notify(ui.Warning, "nothing was asked about a delete, since something else was opened meanwhile")
		return
	}
	of, one := i.subscriber, i.subscription
	if one == nil {
		ui.OpenConfirm(h, "Delete "+of.Name+"?", "delete it", append(i.lost(), "This cannot be undone."), func() tea.Cmd { return RemoveSubscriber(s, of) })
		return
	}
	lines := append([]string{one.EventName + " to", "  " + ui.MaskURL(one.URL)}, i.lost()...)
	ui.OpenConfirm(h, "Delete the subscription?", "delete it", append(lines, "This cannot be undone."), func() tea.Cmd { return RemoveSubscription(s, *one) })
}

// RemoveSubscriber deletes a subscriber.
func RemoveSubscriber(s Polling, of wire.Subscriber) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: "delete of " + of.Name, Then: polled(s), Do: func(ctx context.Context, c *client.Client) error { return c.RemoveSubscriber(ctx, of.RecID) }})
}

// RemoveSubscription deletes a subscription.
func RemoveSubscription(s Polling, one wire.Subscription) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: "delete of " + one.EventName, Then: polled(s), Do: func(ctx context.Context, c *client.Client) error {
		return c.RemoveSubscription(ctx, one.SubscriberID, one.RecID)
	}})
}

// lost says what goes with it.
func (i impact) lost() []string {
	if i.err != nil {
		return []string{"Its messages and responses go with it, and what is pending is not sent. How many they are is not known: " + ui.Describe(i.err)}
	}
	subscriptions := display.Count(i.subscriptions, "subscription", "subscriptions")
	messages := display.Count(i.messages, "message", "messages")
	switch {
	case i.subscription == nil && i.subscriptions == 0:
		return []string{"It has no subscriptions."}
	case i.messages == 0 && i.subscription == nil:
		return []string{"Its " + subscriptions + " without messages " + goes(i.subscriptions) + " with it."}
	case i.messages == 0:
		return []string{"It has no messages."}
	case i.subscription == nil:
		return []string{fmt.Sprintf("Its %s with %s and what was answered go with it.", subscriptions, messages), i.unsent()}
	}
	return []string{fmt.Sprintf("Its %s with what was answered %s with it.", messages, goes(i.messages)), i.unsent()}
}

// unsent says how many messages are not sent then.
func (i impact) unsent() string {
	if i.pending == 0 {
		return "None of the messages is pending."
	}
	return display.Count(i.pending, "message that is pending is", "messages that are pending are") + " not sent."
}

func goes(n int) string {
	if n == 1 {
		return "goes"
	}
	return "go"
}

// askSecret asks before the secret of a subscription is replaced.
func askSecret(h ui.Host, one wire.Subscription) {
	ui.OpenConfirm(h, "Sign with a new secret?", "make a new one", []string{
		one.EventName + " to", "  " + ui.MaskURL(one.URL),
		"The new secret signs at once. For 24 hours the present one signs too: the receiver must know the new one by then.",
		"One replaced within the last 24 hours stops signing.",
	}, func() tea.Cmd { return RotateSecret(h, one) })
}

// RotateSecret replaces the secret of a subscription. The new one is shown also
// where the screen was left meanwhile, since the service does not show it again.
func RotateSecret(h ui.Host, one wire.Subscription) tea.Cmd {
	var made *wire.RotatedSecret
	what := "new secret of " + one.EventName
	return h.Change(ui.Change{Name: what, Do: func(ctx context.Context, c *client.Client) (err error) {
		made, err = c.RotateSecret(ctx, one.SubscriberID, one.RecID, wire.SecretRequest{})
		return err
	}, OnDone: func(err error) {
		if err != nil {
			h.ShowError(what, err)
			return
		}
		h.ShowSecret(RotatedSecret(h, one, *made))
	}})
}

// RotatedSecret shows a new secret, and until when the one before signs too.
func RotatedSecret(h ui.Host, one wire.Subscription, made wire.RotatedSecret) *ui.Secret {
	until := "The one before does not sign any more."
	if at := time.Time(made.OldSecretUntil); !at.IsZero() {
		until = "The one before signs too until " + h.CurrentSession().InZone(at).Format("2006-01-02 15:04") + "."
	}
	return newSecret(h, "New secret", one, made.Secret, until)
}

// newSecret shows a secret this once.
func newSecret(h ui.Host, title string, one wire.Subscription, secret string, more ...string) *ui.Secret {
	t := ui.NewText(h, title,
		theme.Span{Text: one.EventName + " to"}, theme.Span{Text: ui.MaskURL(one.URL)}, theme.Span{},
		theme.Span{Text: "Its messages are signed with this secret. It is not", Role: theme.Breadcrumb},
		theme.Span{Text: "shown again; " + keymap.KeyFor(keymap.InSecret, keymap.CopyCell) + " copies it:", Role: theme.Breadcrumb}, theme.Span{Text: secret})
	t.CopyText = secret
	for _, line := range more {
		t.Lines = append(t.Lines, theme.Span{Text: line})
	}
	return &ui.Secret{Text: *t}
}
