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
	switch {
	case err == nil:
		h.Notify(ui.Info, name+": done")
	case done || !f.RejectedFields(err):
		h.ShowError(name, err)
	}
}

// ChangeForm returns the form that changes a subscription.
func ChangeForm(s subscriptionOwner, of wire.Subscriber, one wire.Subscription) ui.Overlay {
	f := ui.NewForm(s.Common().Host, "Change "+one.EventName+" for "+of.Name, "change")
	f.CanTest = true
	headers := SubscriptionFields(f, one)
	f.Host.AddCmd(loadEvents(f.HostSession))
	f.Send = func(values map[string]string, try bool) tea.Cmd {
		request := SubscriptionOf(values, one)
		request.Where = whereOf(f.HostSession, values, one.Where)
		if headers.changed() {
			// RowHash prevents replacing headers that were changed elsewhere
			request.Headers, request.RowHash = new(headers.headers()), one.RowHash
		}
		if request.URL == nil && request.EventName == nil && request.Headers == nil && request.Ordered == nil && request.OrderBy == nil && request.RetrySchedule == nil && request.Where == nil {
			f.NotifyUnchanged()
			return nil
		}
		return ChangeSubscription(s, f, one, request, try)
	}
	return f
}

// ChangeSubscription changes a subscription and, with try, sends it a test message.
func ChangeSubscription(s subscriptionOwner, f *ui.Form, one wire.Subscription, request wire.SubscriptionRequest, try bool) tea.Cmd {
	h, name := s.Common().Host, "change of "+one.EventName
	var now *wire.Subscription
	var test *acceptedTest
	return h.Change(ui.Change{Screen: s, Name: name, Do: func(ctx context.Context, c *client.Client) (err error) {
		if now, err = c.UpdateSubscription(ctx, one.SubscriberID, one.RecID, request); err == nil && try {
			test = sendTest(ctx, c, now)
		}
		return err
	}, OnDone: func(err error) {
		if test == nil {
			showFormResult(h, f, name, now != nil, err)
			return
		}
		f.Finish()
		startTest(h, *now, test, name+": done; ", nil)
	}, Then: func(error) tea.Cmd {
		if now != nil {
			s.Replace(*now)
		}
		return s.Poll()
	}})
}
