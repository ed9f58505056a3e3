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
		return
	}
	isShown := !done && f.RejectedFields(err)
	if !isShown {
		h.ShowError(name, err)
	}
}

// showNotice shows the notice about changes that a saved subscription does not receive, if any.
func showNotice(h ui.Host, saved *wire.Subscription) {
	if saved != nil && saved.Notice != "" {
		h.Notify(ui.Warning, saved.Notice)
	}
}

// testPrefix describes a saved subscription before the result of its test. It includes the notice,
// since those of the test would replace a notification of its own.
func testPrefix(done string, saved wire.Subscription) string {
	prefix := done + "; "
	if saved.Notice != "" {
		prefix += saved.Notice + "; "
	}
	return prefix
}

// ChangeForm returns the form that changes a subscription.
func ChangeForm(s subscriptionOwner, subscriber wire.Subscriber, subscription wire.Subscription) ui.Overlay {
	f := ui.NewForm(s.Common().Host, "Change "+subscription.EventName+" for "+subscriber.Name, "change")
	f.CanTest = true
	headers := SubscriptionFields(f, subscription)
	f.Host.AddCmd(loadEvents(f.HostSession))
	f.Send = func(values map[string]string, test bool) tea.Cmd {
		request := SubscriptionOf(values, subscription)
		request.Where = whereOf(f.HostSession, values, subscription.Where)
		if headers.changed() {
			request.Headers = new(headers.headers())
			request.RowHash = subscription.RowHash // headers that were changed elsewhere are not replaced
		}
		if isUnchanged(request) {
			f.NotifyUnchanged()
			return nil
		}
		return ChangeSubscription(s, f, subscription, request, test)
	}
	return f
}

// isUnchanged reports whether a request changes nothing.
func isUnchanged(r wire.SubscriptionRequest) bool {
	return r.URL == nil && r.EventName == nil && r.Headers == nil && r.Ordered == nil &&
		r.OrderBy == nil && r.RetrySchedule == nil && r.MaxPerMinute == nil && r.Where == nil
}

// ChangeSubscription changes a subscription and, with test, sends it a test message.
func ChangeSubscription(
	s subscriptionOwner, f *ui.Form, subscription wire.Subscription, request wire.SubscriptionRequest, test bool,
) tea.Cmd {
	h := s.Common().Host
	name := "change of " + subscription.EventName
	var changed *wire.Subscription
	var accepted *acceptedTest // nil without a test
	return h.Change(ui.Change{
		Screen: s,
		Name:   name,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			changed, err = c.UpdateSubscription(ctx, subscription.SubscriberID, subscription.RecID, request)
			if err == nil && test {
				accepted = sendTest(ctx, c, changed)
			}
			return err
		},
		OnDone: func(err error) {
			if accepted == nil {
				showFormResult(h, f, name, changed != nil, err)
				showNotice(h, changed)
				return
			}
			f.Finish()
			startTest(h, *changed, accepted, testPrefix(name+": done", *changed), nil)
		},
		Then: func(error) tea.Cmd {
			if changed != nil {
				s.Replace(*changed)
			}
			return s.Poll()
		},
	})
}
