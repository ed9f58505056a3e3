package tui

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// enable enables or disables the subscriber, as somebody else does.
func (s *deliveries) enable(t *testing.T, on bool) {
	t.Helper()
	if _, err := s.client.UpdateSubscriber(t.Context(), s.subscriber, wire.SubscriberRequest{IsEnabled: &on}); err != nil {
		t.Fatal(err)
	}
}

// not fails where the screen shows a text.
func (d *driver) not(text string) {
	d.t.Helper()
	if strings.Contains(d.text(), text) {
		d.t.Errorf("the screen shows %q:\n%s", text, d.text())
	}
}

const subscriberOff = "enabled, but the subscriber is disabled"

// A subscriber that somebody else disables or enables is seen so with its
// subscriptions.
func TestSubscriptionsRenewTheirSubscriber(t *testing.T) {
	s := startDeliveries(t)
	d := s.subscriptionsOf(t)
	d.sees("[enabled]")
	s.enable(t, false)
	d.press("R")
	d.sees("[disabled]")
	d.press("i")
	d.sees(subscriberOff, "[subscriber disabled]")
	s.enable(t, true)
	d.press("R")
	d.not(subscriberOff)
	d.sees("[enabled]")
	d.press("esc")
	d.sees("[enabled]")
	s.enable(t, false)
	d.press("R", "esc")
	if list := d.app.Front().(*webhooks.Subscribers).List; !slices.ContainsFunc(list, func(one wire.Subscriber) bool { return one.RecID == s.subscriber && !one.IsEnabled }) {
		t.Errorf("the list of subscribers has %+v", list)
	}
}

// A subscription that is opened from the first screen knows its subscriber, too.
func TestSubscriberFromTheFirstScreen(t *testing.T) {
	s := startDeliveries(t)
	s.enable(t, false)
	d := s.open(t, Options{})
	d.press("i")
	d.sees(subscriberOff)
	d.press("esc")
	d.sees("[disabled]")
}

// The subscriptions of a subscriber that is at the right have it renewed at the
// left.
func TestSubscriberIsRenewedAtTheLeft(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.resize(120, 30)
	d.press("3", "enter")
	s.enable(t, false)
	d.press("R")
	if line := lineWith(t, d, "▸ acme-shop"); !strings.Contains(line, "disabled") {
		t.Errorf("%q", line)
	}
}

// A lane that tells something else than what was fetched has that fetched again,
// once: the daemon may be behind.
func TestTurnedSettles(t *testing.T) {
	of := wire.Subscriber{RecID: "W", IsEnabled: true}
	on, off := wire.Subscription{RecID: "S", IsEnabled: true}, wire.Subscription{RecID: "S"}
	var l ui.Queues
	for i, step := range []struct {
		lane bool
		one  wire.Subscription
		of   wire.Subscriber
		want bool
	}{
		{true, on, of, false},
		{false, on, of, true},
		{false, on, of, false},
		{false, off, of, false},
		{true, off, of, true},
		{true, on, of, false},
		{false, on, wire.Subscriber{RecID: "W"}, false},
		{true, on, wire.Subscriber{RecID: "W"}, true},
	} {
		l.Take(&wire.Stats{Lanes: []wire.Lane{{SubscriptionID: "S", IsEnabled: step.lane}}}, time.Now())
		if got := l.Turned(step.of, step.one); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

// figures hands lanes to the screen of a subscription.
func (d *driver) figures(stats wire.Stats) {
	d.t.Helper()
	s := d.app.Front().(*webhooks.Subscription)
	d.answersTo(s, nil, func(error) tea.Cmd {
		s.Queues.Take(&stats, s.Now)
		return s.Figured()
	})
}

// An endpoint that works again is not said to fail, although the subscription
// was fetched while it did.
func TestFailingIsOver(t *testing.T) {
	s := startReceiver(t, func(http.ResponseWriter, *http.Request) {})
	id := s.subscribe(t, "debtor.*", s.receiver+"/erp")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("i")
	one := &d.app.Front().(*webhooks.Subscription).One
	one.FailingSince = wire.Moment(d.clock.Add(-time.Hour))
	lane := wire.Lane{SubscriptionID: id, SubscriberID: s.subscriber, IsEnabled: true, Delivered: 9, Limit: 8}
	d.figures(wire.Stats{Lanes: []wire.Lane{lane}})
	d.sees("9 delivered, 0 failed")
	d.not("Failing since")
	d.figures(wire.Stats{}) // nothing happens there for an hour
	d.not("Failing since")
	lane.FailingSince = wire.Moment(d.clock.Add(-time.Minute))
	d.figures(wire.Stats{Lanes: []wire.Lane{lane}})
	d.sees("Failing since", "(1m ago)")
	one.IsEnabled = false
	d.figures(wire.Stats{})
	d.sees("Failing since", "(1h ago)")
}

// The figures of a daemon that was started just now are of no hour.
func TestFiguresSinceTheStart(t *testing.T) {
	s := startReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.subscribe(t, "debtor.*", s.receiver+"/erp")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("i")
	started := time.Date(2026, 7, 1, 14, 2, 30, 0, time.UTC)
	for after, want := range map[time.Duration]string{time.Minute: "Since 14:02 ", 61 * time.Minute: "Last hour "} {
		d.figures(wire.Stats{SinceDateTime: wire.Moment(started), ServerDateTime: wire.Moment(started.Add(after))})
		d.sees(want + strings.Repeat(" ", 16-len(want)) + "0 delivered")
	}
}

// What could not be fetched because the service was away is over once it is
// there again.
func TestSubscriptionIsReachedAgain(t *testing.T) {
	s := startReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s.subscribe(t, "debtor.*", s.receiver+"/erp")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("i")
	one := d.app.Front().(*webhooks.Subscription)
	d.answersTo(one, &client.Error{Kind: client.Unreachable, Message: "cannot reach it"}, func(err error) tea.Cmd { return one.Found(nil, err) })
	d.sees("fetching the subscription: cannot reach it")
	d.press("R")
	d.not("fetching the subscription")
}

// The list of actions does nothing where another screen took the place of the
// one whose actions they are.
func TestMenuKeepsItsScreen(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	s := &deliveries{Instance: i, client: connected(t, i), receiver: "http://127.0.0.1:9", latest: time.Now()}
	name := "acme-shop"
	made, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	s.subscriber = made.RecID
	gone := s.subscribe(t, "debtor.*", s.receiver+"/a")
	s.subscribe(t, "salesorder.created", s.receiver+"/b")
	d := s.subscriptionsOf(t)
	d.press("i", "x")
	m := d.app.over.(*menu)
	m.at = slices.IndexFunc(m.rows, func(b keymap.Binding) bool { return b.Action == keymap.ToggleEnabled })
	if err := s.client.RemoveSubscription(t.Context(), s.subscriber, gone); err != nil {
		t.Fatal(err)
	}
	d.run(m.of.(*webhooks.Subscription).Poll())
	d.settle()
	if _, left := d.app.Front().(*webhooks.Subscriptions); !left || d.app.over != ui.Overlay(m) {
		t.Fatalf("%T is below %T", d.app.Front(), d.app.over)
	}
	d.press("enter")
	if d.app.over != nil {
		t.Errorf("%T is open:\n%s", d.app.over, d.text())
	}
	d.sees("nothing was done, since another screen")
	d.press("x", "esc", "x")
	m = d.app.over.(*menu)
	m.at = slices.IndexFunc(m.rows, func(b keymap.Binding) bool { return b.Action == keymap.ToggleEnabled })
	d.press("enter")
	d.sees("Disable salesorder.created?")
}
