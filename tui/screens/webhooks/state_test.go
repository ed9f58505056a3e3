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
	"github.com/bizhook/whd/tui/ui"
)

const subscriberOff = "enabled, but the subscriber is disabled"

// A subscriber that is disabled or enabled elsewhere is updated on the screens of its
// subscriptions.
func TestSubscriberStateIsRefreshed(t *testing.T) {
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
	disabled := func(subscriber wire.Subscriber) bool {
		return subscriber.RecID == s.Subscriber && !subscriber.IsEnabled
	}
	if list := d.App.Front().(*webhooks.Subscribers).List; !slices.ContainsFunc(list, disabled) {
		t.Errorf("the subscriber is not disabled in the list: %+v", list)
	}
}

// A subscription opened from the first screen shows the state of its subscriber.
func TestSubscriptionFromHomeHasSubscriberState(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	s.EnableSubscriber(t, false)
	d := s.Open(t, tui.Options{})
	d.Press("i")
	d.WantText(subscriberOff)
}

// In the split view the subscriber is updated on the left.
func TestSplitViewUpdatesSubscriberState(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 30)
	d.Press("3", "enter")
	s.EnableSubscriber(t, false)
	d.Press("R")
	if line := d.LineWith("▌  acme-shop"); !strings.Contains(line, "disabled") {
		t.Errorf("the row of the subscriber is %q, want it disabled", line)
	}
}

// openSubscription opens the screen of a new subscription.
func openSubscription(t *testing.T) *tuitest.Driver {
	t.Helper()
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "debtor.*", s.Receiver+"/erp")
	s.Latest = time.Now() // the clock of the screen starts from it
	d := s.OpenSubscriptions(t)
	d.Press("i")
	return d
}

// setStats sets the queue statistics of the screen of a subscription.
func setStats(d *tuitest.Driver, stats wire.Stats) {
	d.T.Helper()
	s := d.App.Front().(*webhooks.Subscription)
	d.Respond(s, nil, func(error) tea.Cmd {
		s.Session.Queues.Update(&stats, s.Session.Now)
		return s.OnQueues()
	})
}

// An endpoint that works again is not shown as failing, even if the subscription was
// fetched before.
func TestFailingSinceIsCleared(t *testing.T) {
	d := openSubscription(t)
	subscription := &d.App.Front().(*webhooks.Subscription).One
	subscription.FailingSince = wire.Timestamp(d.Clock.Add(-time.Hour))
	queue := wire.Queue{
		SubscriptionID: subscription.RecID,
		SubscriberID:   subscription.SubscriberID,
		IsEnabled:      true,
		Delivered:      9,
		Limit:          8,
	}
	setStats(d, wire.Stats{Queues: []wire.Queue{queue}})
	d.WantText("9 delivered, 0 failed")
	d.WantNoText("Failing since")
	setStats(d, wire.Stats{}) // no activity for an hour
	d.WantNoText("Failing since")
	queue.FailingSince = wire.Timestamp(d.Clock.Add(-time.Minute))
	setStats(d, wire.Stats{Queues: []wire.Queue{queue}})
	d.WantText("Failing since", "(1m ago)")
	subscription.IsEnabled = false
	setStats(d, wire.Stats{})
	d.WantText("Failing since", "(1h ago)")
}

// The statistics of a daemon that runs for less than an hour are labelled with its
// start.
func TestStatisticsAreLabelledWithStart(t *testing.T) {
	d := openSubscription(t)
	started := time.Date(2026, 7, 1, 14, 2, 30, 0, time.UTC)
	for age, want := range map[time.Duration]string{
		time.Minute:      "Since 14:02     0 delivered",
		61 * time.Minute: "Last hour       0 delivered",
	} {
		setStats(d, wire.Stats{
			SinceDateTime:  wire.Timestamp(started),
			ServerDateTime: wire.Timestamp(started.Add(age)),
		})
		d.WantText(want)
	}
}

// A fetch error is cleared by the next successful fetch.
func TestFetchErrorIsCleared(t *testing.T) {
	d := openSubscription(t)
	screen := d.App.Front().(*webhooks.Subscription)
	unreachable := &client.Error{Kind: client.Unreachable, Message: "cannot reach it"}
	d.Respond(screen, unreachable, func(err error) tea.Cmd { return screen.OnFetched(nil, err) })
	d.WantText("fetching the subscription: cannot reach it")
	d.Press("R")
	d.WantNoText("fetching the subscription")
}

// The list of subscribers has the worst state of the endpoints of each one, and the IDs only of
// those with the same name.
func TestSubscribersHaveWorstState(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	twin, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("twin")})
	if err != nil {
		t.Fatal(err)
	}
	d := s.Open(t, tui.Options{})
	d.Press("3")
	for name, want := range map[string]string{"acme-shop ": "failing", "wms ": "disabled", "twin ": "enabled"} {
		if line := d.LineWith(name); !strings.Contains(line, want) {
			t.Errorf("%s is shown as %q, want %s", name, line, want)
		}
	}
	d.WantNoText(ui.ShortID(s.Subscriber))
	queue := wire.Queue{SubscriberID: twin.RecID, SubscriptionID: "1", IsEnabled: true, Breaker: wire.BreakerOpen}
	idle := wire.Queue{SubscriberID: twin.RecID, SubscriptionID: "2", IsEnabled: true}
	d.App.Session.Queues.Update(&wire.Stats{Queues: []wire.Queue{queue, idle}}, d.Clock)
	d.Press("/", "'twin", "enter")
	if line := d.LineWith("twin "); !strings.Contains(line, "paused") {
		t.Errorf("with an endpoint that is paused, it is shown as %q", line)
	}
	if _, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("twin")}); err != nil {
		t.Fatal(err)
	}
	d.Press("R")
	d.WantText("twin (" + ui.ShortID(twin.RecID) + ")")
}
