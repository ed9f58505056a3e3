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

// subscriptionCommands returns the whctl commands for a subscription.
func subscriptionCommands(one wire.Subscription) []string {
	return []string{
		"whctl subscriptions update " + one.RecID + " --to URL", "whctl subscriptions test " + one.RecID, "whctl subscriptions rotate-secret " + one.RecID,
		"whctl subscriptions " + enableVerb(!one.IsEnabled) + " " + one.RecID, "whctl subscriptions delete " + one.RecID,
	}
}

// enableVerb returns the verb that enables or disables an object.
func enableVerb(enable bool) string {
	if enable {
		return "enable"
	}
	return "disable"
}

// confirmEnable enables or disables an object after a confirmation.
func confirmEnable(h ui.Host, name string, wasEnabled bool, lines []string, run func() tea.Cmd) {
	verb := enableVerb(!wasEnabled)
	ui.OpenConfirm(h, strings.ToUpper(verb[:1])+verb[1:]+" "+name+"?", verb, append(lines, enableLines(wasEnabled)...), run)
}

// subscriptionOwner is a screen with actions on a subscription.
type subscriptionOwner interface {
	Polling
	Replace(one wire.Subscription) // updates the shown subscription
}

// pollAfter returns a function that polls a screen after a change.
func pollAfter(s ui.Poller) func(error) tea.Cmd {
	return func(error) tea.Cmd { return s.Poll() }
}

// act runs the action of a key on a subscription.
func act(s subscriptionOwner, of wire.Subscriber, one wire.Subscription, action keymap.Action) tea.Cmd {
	h := s.Common().Host
	switch action {
	case keymap.Open:
		return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: one.RecID, Label: one.EventName}, Here: true})
	case keymap.CopyCell:
		h.Copy(one.RecID)
	case keymap.Edit:
		h.ShowOverlay(ChangeForm(s, of, one))
	case keymap.NewSecret:
		confirmSecret(h, one)
	case keymap.Test:
		confirmTest(h, one)
	case keymap.ToggleEnabled:
		confirmEnable(h, one.EventName, one.IsEnabled, []string{"to " + ui.MaskURL(one.URL)}, func() tea.Cmd { return EnableSubscription(s, one, !one.IsEnabled) })
	case keymap.Delete:
		return confirmDelete(s, of, &one)
	}
	return nil
}

// EnableSubscription enables or disables a subscription.
func EnableSubscription(s subscriptionOwner, one wire.Subscription, on bool) tea.Cmd {
	return s.Common().Host.Change(ui.Change{Screen: s, Name: enableVerb(on) + " " + one.EventName, Then: pollAfter(s), Do: func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateSubscription(ctx, one.SubscriberID, one.RecID, wire.SubscriptionRequest{IsEnabled: &on})
		return err
	}})
}

// impact counts the objects deleted with a subscriber or a subscription.
type impact struct {
	subscriber    wire.Subscriber
	subscription  *wire.Subscription // nil if the subscriber is deleted
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

// confirmDelete deletes a subscription, or the subscriber if one is nil, after a
// confirmation that shows the impact.
func confirmDelete(s Polling, of wire.Subscriber, one *wire.Subscription) tea.Cmd {
	return ui.Fetch(s.Common().Session.Context, s, func(ctx context.Context, c *client.Client) (impact, error) { return countImpact(ctx, c, of, one) }, func(i impact, err error) tea.Cmd {
		i.err = err
		i.confirm(s)
		return nil
	})
}

func countImpact(ctx context.Context, c *client.Client, of wire.Subscriber, one *wire.Subscription) (impact, error) {
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

// confirm opens the confirmation of the delete.
func (i impact) confirm(s Polling) {
	h := s.Common().Host
	if h.Front() != ui.Screen(s) || h.Overlay() != nil || h.InputOpen() {
		h.Notify(ui.Warning, "delete cancelled: the screen changed")
		return
	}
	of, one := i.subscriber, i.subscription
	if one == nil {
		ui.OpenConfirm(h, "Delete "+of.Name+"?", "delete", append(i.lines(), "This cannot be undone."), func() tea.Cmd { return RemoveSubscriber(s, of) })
		return
	}
	lines := append([]string{one.EventName + " to", "  " + ui.MaskURL(one.URL)}, i.lines()...)
	ui.OpenConfirm(h, "Delete the subscription?", "delete", append(lines, "This cannot be undone."), func() tea.Cmd { return RemoveSubscription(s, *one) })
}

// RemoveSubscriber deletes a subscriber.
func RemoveSubscriber(s Polling, of wire.Subscriber) tea.Cmd {
	return s.Common().Host.Change(ui.Change{Screen: s, Name: "delete of " + of.Name, Then: pollAfter(s), Do: func(ctx context.Context, c *client.Client) error { return c.RemoveSubscriber(ctx, of.RecID) }})
}

// RemoveSubscription deletes a subscription.
func RemoveSubscription(s Polling, one wire.Subscription) tea.Cmd {
	return s.Common().Host.Change(ui.Change{Screen: s, Name: "delete of " + one.EventName, Then: pollAfter(s), Do: func(ctx context.Context, c *client.Client) error {
		return c.RemoveSubscription(ctx, one.SubscriberID, one.RecID)
	}})
}

// lines describes the objects that are deleted too.
func (i impact) lines() []string {
	if i.err != nil {
		return []string{"Its messages and responses are deleted too, and queued messages are not sent. They could not be counted: " + ui.Describe(i.err)}
	}
	messages := display.Count(i.messages, "message", "messages")
	switch {
	case i.subscription == nil && i.subscriptions == 0:
		return []string{"It has no subscriptions."}
	case i.messages == 0 && i.subscription == nil:
		return []string{"Its " + display.Count(i.subscriptions, "subscription without messages is", "subscriptions without messages are") + " deleted too."}
	case i.messages == 0:
		return []string{"It has no messages."}
	case i.subscription == nil:
		return []string{fmt.Sprintf("Its %s with %s and all responses are deleted too.", display.Count(i.subscriptions, "subscription", "subscriptions"), messages), i.notSentText()}
	}
	return []string{fmt.Sprintf("Its %s and all responses are deleted too.", messages), i.notSentText()}
}

// notSentText describes the queued messages.
func (i impact) notSentText() string {
	if i.pending == 0 {
		return "No message is queued."
	}
	return display.Count(i.pending, "queued message is", "queued messages are") + " not sent."
}

// confirmSecret replaces the secret of a subscription after a confirmation.
func confirmSecret(h ui.Host, one wire.Subscription) {
	ui.OpenConfirm(h, "Create a new signing secret?", "create", []string{
		one.EventName + " to", "  " + ui.MaskURL(one.URL),
		"Messages are signed with the new secret immediately, and with the current one for 24 more hours. Update the receiver within that time.",
		"Secrets that were replaced before keep their end times. At most five are valid.",
	}, func() tea.Cmd { return RotateSecret(h, one) })
}

// RotateSecret replaces the secret of a subscription. The new secret is shown even
// if the screen was left, since the service does not return it again.
func RotateSecret(h ui.Host, one wire.Subscription) tea.Cmd {
	var made *wire.RotatedSecret
	name := "new secret of " + one.EventName
	return h.Change(ui.Change{Name: name, Do: func(ctx context.Context, c *client.Client) (err error) {
		made, err = c.RotateSecret(ctx, one.SubscriberID, one.RecID, wire.SecretRequest{})
		return err
	}, OnDone: func(err error) {
		if err != nil {
			h.ShowError(name, err)
			return
		}
		h.ShowSecret(RotatedSecret(h, one, *made))
	}})
}

// RotatedSecret returns the box with a new secret and the end of validity of the
// previous one.
func RotatedSecret(h ui.Host, one wire.Subscription, made wire.RotatedSecret) *ui.Secret {
	until := "The previous secret is no longer used."
	if at := time.Time(made.OldSecretUntil); !at.IsZero() {
		until = "Previous secret valid until " + h.CurrentSession().InZone(at).Format("2006-01-02 15:04") + "."
	}
	return newSecret(h, "New secret", one, made.Secret, until)
}

// newSecret returns the box with a secret.
func newSecret(h ui.Host, title string, one wire.Subscription, secret string, more ...string) *ui.Secret {
	t := ui.NewText(h, title,
		theme.Span{Text: one.EventName + " to"}, theme.Span{Text: ui.MaskURL(one.URL)}, theme.Span{},
		theme.Span{Text: "Messages are signed with this secret. Copy it now", Role: theme.Breadcrumb},
		theme.Span{Text: "(" + keymap.KeyFor(keymap.InSecret, keymap.CopyCell) + "); it is not shown again:", Role: theme.Breadcrumb}, theme.Span{Text: secret})
	t.CopyText = secret
	for _, line := range more {
		t.Lines = append(t.Lines, theme.Span{Text: line})
	}
	return &ui.Secret{Text: *t}
}
