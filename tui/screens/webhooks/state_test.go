package webhooks_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
)

const subscriberOff = "enabled, but the subscriber is disabled"

// A subscriber that somebody else disables or enables is seen so with its
// subscriptions.
func TestSubscriptionsRenewTheirSubscriber(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	d.WantText("[enabled]")
	s.EnableSubscriber(t, false)
	d.Press("R")
	d.WantText("[disabled]")
	d.Press("i")
	d.WantText(subscriberOff, "[subscriber disabled]")
	s.EnableSubscriber(t, true)
	d.Press("R")
	d.WantNoText(subscriberOff)
	d.WantText("[enabled]")
	d.Press("esc")
	d.WantText("[enabled]")
	s.EnableSubscriber(t, false)
	d.Press("R", "esc")
	if list := d.App.Front().(*webhooks.Subscribers).List; !slices.ContainsFunc(list, func(one wire.Subscriber) bool { return one.RecID == s.Subscriber && !one.IsEnabled }) {
		t.Errorf("the list of subscribers has %+v", list)
	}
}

// A subscription that is opened from the first screen knows its subscriber, too.
func TestSubscriberFromTheFirstScreen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	s.EnableSubscriber(t, false)
	d := s.Open(t, tui.Options{})
	d.Press("i")
	d.WantText(subscriberOff)
	d.Press("esc")
	d.WantText("[disabled]")
}

// The subscriptions of a subscriber that is at the right have it renewed at the
// left.
func TestSubscriberIsRenewedAtTheLeft(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 30)
	d.Press("3", "enter")
	s.EnableSubscriber(t, false)
	d.Press("R")
	if line := d.LineWith("▸ acme-shop"); !strings.Contains(line, "disabled") {
		t.Errorf("%q", line)
	}
}

// figures hands lanes to the screen of a subscription.
func figures(d *tuitest.Driver, stats wire.Stats) {
	d.T.Helper()
	s := d.App.Front().(*webhooks.Subscription)
	d.Respond(s, nil, func(error) tea.Cmd {
		s.Queues.Update(&stats, s.Now)
		return s.Figured()
	})
}

// An endpoint that works again is not said to fail, although the subscription
// was fetched while it did.
func TestFailingIsOver(t *testing.T) {
	s := tuitest.StartReceiver(t, func(http.ResponseWriter, *http.Request) {})
	id := s.Subscribe(t, "debtor.*", s.Receiver+"/erp")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("i")
	one := &d.App.Front().(*webhooks.Subscription).One
	one.FailingSince = wire.Timestamp(d.Clock.Add(-time.Hour))
	lane := wire.Queue{SubscriptionID: id, SubscriberID: s.Subscriber, IsEnabled: true, Delivered: 9, Limit: 8}
	figures(d, wire.Stats{Lanes: []wire.Queue{lane}})
	d.WantText("9 delivered, 0 failed")
	d.WantNoText("Failing since")
	figures(d, wire.Stats{}) // nothing happens there for an hour
	d.WantNoText("Failing since")
	lane.FailingSince = wire.Timestamp(d.Clock.Add(-time.Minute))
	figures(d, wire.Stats{Lanes: []wire.Queue{lane}})
	d.WantText("Failing since", "(1m ago)")
	one.IsEnabled = false
	figures(d, wire.Stats{})
	d.WantText("Failing since", "(1h ago)")
}

// The figures of a daemon that was started just now are of no hour.
func TestFiguresSinceTheStart(t *testing.T) {
	s := tuitest.StartReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.Subscribe(t, "debtor.*", s.Receiver+"/erp")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("i")
	started := time.Date(2026, 7, 1, 14, 2, 30, 0, time.UTC)
	for after, want := range map[time.Duration]string{time.Minute: "Since 14:02 ", 61 * time.Minute: "Last hour "} {
		figures(d, wire.Stats{SinceDateTime: wire.Timestamp(started), ServerDateTime: wire.Timestamp(started.Add(after))})
		d.WantText(want + strings.Repeat(" ", 16-len(want)) + "0 delivered")
	}
}

// What could not be fetched because the service was away is over once it is
// there again.
func TestSubscriptionIsReachedAgain(t *testing.T) {
	s := tuitest.StartReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.Subscribe(t, "debtor.*", s.Receiver+"/erp")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("i")
	one := d.App.Front().(*webhooks.Subscription)
	d.Respond(one, &client.Error{Kind: client.Unreachable, Message: "cannot reach it"}, func(err error) tea.Cmd { return one.Found(nil, err) })
	d.WantText("fetching the subscription: cannot reach it")
	d.Press("R")
	d.WantNoText("fetching the subscription")
}
