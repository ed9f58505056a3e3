package webhooks

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// showFormResult shows the result of a change that a form has sent. It closes the
// form if done, else it shows errors at their fields.
func showFormResult(h ui.Host, f *ui.Form, name string, done bool, err error) {
	if done && f.IsOpen() {
		h.ShowOverlay(nil)
	}
	if err == nil {
		h.Notify(ui.Info, name+": done")
	} else if done || !f.RejectedFields(err) {
		h.ShowError(name, err)
	}
}

// ChangeForm returns the form that changes a subscription.
func ChangeForm(s subscriptionOwner, subscriber wire.Subscriber, subscription wire.Subscription) ui.Overlay {
	f := ui.NewForm(s.Common().Host, "Change "+subscription.EventName+" for "+subscriber.Name, "change")
	f.CanTest = true
	headers := SubscriptionFields(f, subscription)
	f.Host.AddCmd(loadEvents(f.HostSession))
	f.Send = func(values map[string]string, try bool) tea.Cmd {
		request := SubscriptionOf(values, subscription)
		request.Where = whereOf(f.HostSession, values, subscription.Where)
		if headers.changed() {
			// RowHash prevents replacing headers that were changed elsewhere
			request.Headers, request.RowHash = new(headers.headers()), subscription.RowHash
		}
		unchanged := request.URL == nil && request.EventName == nil && request.Headers == nil &&
			request.Ordered == nil && request.OrderBy == nil && request.RetrySchedule == nil && request.Where == nil
		if unchanged {
			f.NotifyUnchanged()
			return nil
		}
		return ChangeSubscription(s, f, subscription, request, try)
	}
	return f
}

// ChangeSubscription changes a subscription and, with try, sends it a test message.
func ChangeSubscription(
	s subscriptionOwner, f *ui.Form, subscription wire.Subscription, request wire.SubscriptionRequest,
	try bool,
) tea.Cmd {
	h := s.Common().Host
	name := "change of " + subscription.EventName
	var changed *wire.Subscription
	var test *acceptedTest
	return h.Change(ui.Change{
		Screen: s,
		Name:   name,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			changed, err = c.UpdateSubscription(ctx, subscription.SubscriberID, subscription.RecID, request)
			if err == nil && try {
				test = sendTest(ctx, c, changed)
			}
			return err
		},
		OnDone: func(err error) {
			if test == nil {
				showFormResult(h, f, name, changed != nil, err)
				return
			}
			f.Finish()
			startTest(h, *changed, test, name+": done; ", nil)
		},
		Then: func(error) tea.Cmd {
			if changed != nil {
				s.Replace(*changed)
			}
			return s.Poll()
		},
	})
}
