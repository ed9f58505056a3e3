package webhooks

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// formTold tells how a change went that a form has sent: what was wrong stands at
// its field, and the form is closed once it is done.
func formTold(h ui.Host, f *ui.Form, what string, done bool, err error) {
	open := f.IsOpen()
	if done && open {
		h.ShowOverlay(nil)
	}
	switch {
	case err == nil:
		h.Notify(ui.Info, what+": done")
	case done || !open || !f.ShowFieldErrors(err):
		h.ShowError(what, err)
	}
}

// ChangeForm asks what a subscription is to be.
func ChangeForm(s subscriptionOwner, of wire.Subscriber, one wire.Subscription) ui.Overlay {
	f := ui.NewForm(s.Common().Host, "Change "+one.EventName+" for "+of.Name, "change")
	f.CanTest = true
	headers := SubscriptionFields(f, one)
	f.AddCmd(askEventNames(f.Dialog))
	f.Send = func(values map[string]string, try bool) tea.Cmd {
		request := SubscriptionOf(values, one)
		if headers.changed() {
			// all of them take the place of those that were shown, and of no others
			request.Headers, request.RowHash = new(headers.headers()), one.RowHash
		}
		if request.URL == nil && request.EventName == nil && request.Headers == nil && request.Ordered == nil && request.RetrySchedule == nil {
			f.NotifyUnchanged()
			return nil
		}
		return ChangeSubscription(s, f, one, request, try)
	}
	return f
}

// ChangeSubscription changes a subscription, and sends it a test message where
// that is wanted.
func ChangeSubscription(s subscriptionOwner, f *ui.Form, one wire.Subscription, request wire.SubscriptionRequest, try bool) tea.Cmd {
	h, what := s.Common().Host, "change of "+one.EventName
	var now *wire.Subscription
	var test *takenTest
	return h.Change(ui.Change{Screen: s, Name: what, Do: func(ctx context.Context, c *client.Client) (err error) {
		if now, err = c.UpdateSubscription(ctx, one.SubscriberID, one.RecID, request); err == nil && try {
			test = sendTest(ctx, c, now)
		}
		return err
	}, OnDone: func(err error) {
		if test == nil {
			formTold(h, f, what, now != nil, err)
			return
		}
		f.Finish()
		startTest(h, *now, test, what+": done; ", nil)
	}, Then: func(error) tea.Cmd {
		if now != nil {
			s.Take(*now)
		}
		return s.Poll()
	}})
}
