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
func subscriptionCommands(subscription wire.Subscription) []string {
	return []string{
		"whctl subscriptions update " + subscription.RecID + " --to URL",
		"whctl subscriptions test " + subscription.RecID,
		"whctl subscriptions rotate-secret " + subscription.RecID,
		"whctl subscriptions " + enableVerb(!subscription.IsEnabled) + " " + subscription.RecID,
		"whctl subscriptions delete " + subscription.RecID,
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
	question := strings.ToUpper(verb[:1]) + verb[1:] + " " + name + "?"
	ui.OpenConfirm(h, question, verb, append(lines, enableLines(wasEnabled)...), run)
}

// subscriptionOwner is a screen with actions on a subscription.
type subscriptionOwner interface {
	Polling
	// Replace updates the shown subscription.
	Replace(subscription wire.Subscription)
}

// pollAfter returns a function that polls a screen after a change.
func pollAfter(s ui.Poller) func(error) tea.Cmd {
	return func(error) tea.Cmd { return s.Poll() }
}

// act runs the action of a key on a subscription.
func act(
	s subscriptionOwner, subscriber wire.Subscriber, subscription wire.Subscription, action keymap.Action,
) tea.Cmd {
	h := s.Common().Host
	switch action {
	case keymap.Open:
		filter := ui.MessageFilter{Subscription: subscription.RecID, Label: subscription.EventName}
		return h.Open(ui.MessagesTarget{MessageFilter: filter, Here: true})
	case keymap.CopyCell:
		h.Copy(subscription.RecID)
	case keymap.Edit:
		h.ShowOverlay(ChangeForm(s, subscriber, subscription))
	case keymap.NewSecret:
		confirmSecret(h, subscription)
	case keymap.Test:
		confirmTest(h, subscription)
	case keymap.ToggleEnabled:
		lines := []string{"to " + ui.MaskURL(subscription.URL)}
		confirmEnable(h, subscription.EventName, subscription.IsEnabled, lines, func() tea.Cmd {
			return EnableSubscription(s, subscription, !subscription.IsEnabled)
		})
	case keymap.Delete:
		return confirmDelete(s, subscriber, &subscription)
	}
	return nil
}

// EnableSubscription enables or disables a subscription.
func EnableSubscription(s subscriptionOwner, subscription wire.Subscription, on bool) tea.Cmd {
	return s.Common().Host.Change(ui.Change{
		Screen: s,
		Name:   enableVerb(on) + " " + subscription.EventName,
		Then:   pollAfter(s),
		Do: func(ctx context.Context, c *client.Client) error {
			request := wire.SubscriptionRequest{IsEnabled: &on}
			_, err := c.UpdateSubscription(ctx, subscription.SubscriberID, subscription.RecID, request)
			return err
		},
	})
}

// deletion is a request to delete a subscriber, or one of its subscriptions.
type deletion struct {
	subscriber   wire.Subscriber
	subscription *wire.Subscription // nil if the subscriber is deleted
}

// impact counts the objects deleted with those of a deletion.
type impact struct {
	deletion
	subscriptions int   // number of subscriptions of the subscriber
	messages      int   // number of messages
	pending       int   // number of messages that are queued or retried
	err           error // why they could not be counted
}

// Polling is a screen that is fetched again after a change.
type Polling interface {
	ui.Screen
	ui.Poller
}

// confirmDelete deletes a subscription, or the subscriber if one is nil, after a
// confirmation that shows the impact.
func confirmDelete(s Polling, subscriber wire.Subscriber, subscription *wire.Subscription) tea.Cmd {
	requested := deletion{subscriber: subscriber, subscription: subscription}
	b := s.Common()
	b.Busy = true // a slow count would look like a key without an effect
	return ui.Fetch(b.Session.Context, s, requested.count, func(i impact, err error) tea.Cmd {
		b.Busy = false
		i.deletion = requested
		i.err = err
		i.confirm(s)
		return nil
	})
}

// count requests the numbers of objects. On an error, they are zero or incomplete.
func (d deletion) count(ctx context.Context, c *client.Client) (impact, error) {
	var i impact
	members := url.Values{"Take": {"0"}, "Include": {"Total"}}
	if d.subscription != nil {
		members.Set("SubscriptionID", d.subscription.RecID)
	} else {
		list, err := c.Subscriptions(ctx, d.subscriber.RecID)
		if err != nil {
			return i, err
		}
		i.subscriptions = len(list)
		members.Set("SubscriberID", d.subscriber.RecID)
	}
	all, err := c.AllMessages(ctx, members)
	if err != nil {
		return i, err
	}
	members.Set("StatusIn", pendingStatuses)
	pending, err := c.AllMessages(ctx, members)
	if err != nil {
		return i, err
	}
	i.messages = int(all.Total)
	i.pending = int(pending.Total)
	return i, nil
}

// pendingStatuses are the statuses of messages that are queued or retried.
var pendingStatuses = fmt.Sprintf("%d,%d", ui.StatusNotSent, ui.StatusRetrying)

// confirm opens the confirmation of the delete.
func (i impact) confirm(s Polling) {
	h := s.Common().Host
	if isQuestion(h.Overlay()) {
		return // the key was pressed again while the objects were counted
	}
	if h.Front() != ui.Screen(s) || h.Overlay() != nil || h.Input() != nil {
		h.Notify(ui.Warning, "delete cancelled: the screen changed")
		return
	}
	subscriber, subscription := i.subscriber, i.subscription
	if subscription == nil {
		lines := append(i.lines(), "This cannot be undone.")
		ui.OpenConfirm(h, "Delete "+subscriber.Name+"?", "delete", lines, func() tea.Cmd {
			return RemoveSubscriber(s, subscriber)
		})
		return
	}
	lines := []string{subscription.EventName + " to", "  " + ui.MaskURL(subscription.URL)}
	lines = append(lines, i.lines()...)
	lines = append(lines, "This cannot be undone.")
	ui.OpenConfirm(h, "Delete the subscription?", "delete", lines, func() tea.Cmd {
		return RemoveSubscription(s, *subscription)
	})
}

func isQuestion(o ui.Overlay) bool {
	switch o.(type) {
	case *ui.Confirm, *ui.TypedConfirm:
		return true
	}
	return false
}

// RemoveSubscriber deletes a subscriber.
func RemoveSubscriber(s Polling, subscriber wire.Subscriber) tea.Cmd {
	return s.Common().Host.Change(ui.Change{
		Screen: s,
		Name:   "delete of " + subscriber.Name,
		Then:   pollAfter(s),
		Do: func(ctx context.Context, c *client.Client) error {
			return c.RemoveSubscriber(ctx, subscriber.RecID)
		},
	})
}

// RemoveSubscription deletes a subscription.
func RemoveSubscription(s Polling, subscription wire.Subscription) tea.Cmd {
	return s.Common().Host.Change(ui.Change{
		Screen: s,
		Name:   "delete of " + subscription.EventName,
		Then:   pollAfter(s),
		Do: func(ctx context.Context, c *client.Client) error {
			return c.RemoveSubscription(ctx, subscription.SubscriberID, subscription.RecID)
		},
	})
}

// lines describes the objects that are deleted too.
func (i impact) lines() []string {
	messages := display.Count(i.messages, "message", "messages")
	subscriptions := display.Count(i.subscriptions, "subscription", "subscriptions")
	switch {
	case i.err != nil:
		owned := "Its messages and responses"
		if i.subscription == nil {
			owned = "Its subscriptions with their messages and responses"
		}
		return []string{owned + " are deleted too, and queued messages are not sent. " +
			"They could not be counted: " + ui.Describe(i.err)}
	case i.subscription != nil && i.messages == 0:
		return []string{"It has no messages."}
	case i.subscription != nil:
		return []string{"Its " + messages + " and all responses are deleted too.", i.notSentText()}
	case i.subscriptions == 0:
		return []string{"It has no subscriptions."}
	case i.messages == 0:
		empty := display.Count(i.subscriptions, "subscription without messages is",
			"subscriptions without messages are")
		return []string{"Its " + empty + " deleted too."}
	}
	return []string{
		"Its " + subscriptions + " with " + messages + " and all responses are deleted too.",
		i.notSentText(),
	}
}

// notSentText describes the queued messages.
func (i impact) notSentText() string {
	if i.pending == 0 {
		return "No message is queued."
	}
	return display.Count(i.pending, "queued message is", "queued messages are") + " not sent."
}

// confirmSecret replaces the secret of a subscription after a confirmation.
func confirmSecret(h ui.Host, subscription wire.Subscription) {
	lines := []string{
		subscription.EventName + " to",
		"  " + ui.MaskURL(subscription.URL),
		"Messages are signed with the new secret immediately, and with the current one for 24 more hours. " +
			"Update the receiver within that time.",
		"Secrets that were replaced before keep their end times. At most five are valid.",
	}
	ui.OpenConfirm(h, "Create a new signing secret?", "create", lines, func() tea.Cmd {
		return RotateSecret(h, subscription)
	})
}

// RotateSecret replaces the secret of a subscription. The new secret is shown even
// if the screen was left, since the service does not return it again.
func RotateSecret(h ui.Host, subscription wire.Subscription) tea.Cmd {
	var rotated *wire.RotatedSecret
	name := "new secret of " + subscription.EventName
	return h.Change(ui.Change{
		Name: name,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			rotated, err = c.RotateSecret(ctx, subscription.SubscriberID, subscription.RecID, wire.SecretRequest{})
			return err
		},
		OnDone: func(err error) {
			if err != nil {
				h.ShowError(name, err)
				return
			}
			h.ShowSecret(RotatedSecret(h, subscription, *rotated))
		},
	})
}

// RotatedSecret returns the box with a new secret and the end of validity of the
// previous one.
func RotatedSecret(h ui.Host, subscription wire.Subscription, rotated wire.RotatedSecret) *ui.Secret {
	remark := "The previous secret is no longer used."
	end := time.Time(rotated.OldSecretUntil)
	if !end.IsZero() {
		remark = "Previous secret valid until " + h.CurrentSession().InZone(end).Format("2006-01-02 15:04") + "."
	}
	return newSecret(h, "New secret", subscription, rotated.Secret, remark)
}

// newSecret returns the box with a secret.
func newSecret(h ui.Host, title string, subscription wire.Subscription, secret string, remarks ...string) *ui.Secret {
	copyKey := keymap.KeyFor(keymap.InSecret, keymap.CopyCell)
	t := ui.NewText(h, title,
		theme.Span{Text: subscription.EventName + " to"},
		theme.Span{Text: ui.MaskURL(subscription.URL)},
		theme.Span{},
		theme.Span{Text: "Messages are signed with this secret.", Role: theme.Breadcrumb},
		theme.Span{Text: "Copy it now (" + copyKey + "); it is not shown again:", Role: theme.Breadcrumb},
		theme.Span{Text: secret})
	t.CopyText = secret
	for _, line := range remarks {
		t.Lines = append(t.Lines, theme.Span{Text: line})
	}
	return &ui.Secret{Text: *t}
}
