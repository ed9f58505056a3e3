package delivery_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// watched records the events that watchers receive, by URL.
type watched struct {
	mu     sync.Mutex
	events map[string][]string
	bodies []string
}

func (w *watched) add(m *webhook.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events[m.URL] = append(w.events[m.URL], m.Event.Name)
	w.bodies = append(w.bodies, string(m.Event.Body))
}

// watch makes the sender respond to messages for watchers, with URLs that contain watch, with 200,
// and to others with the status that a function returns.
func (x *simulation) watch(status func(m *webhook.Message) int) *watched {
	w := &watched{events: make(map[string][]string)}
	x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
		if strings.Contains(m.URL, "watch") {
			w.add(m)
			return 200
		}
		return status(m)
	})
	return w
}

// count returns the number of events of a name that a URL received.
func (w *watched) count(url, event string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, name := range w.events[url] {
		if name == event {
			n++
		}
	}
	return n
}

const watcherURL = "https://watch.example/"

// TestIncidents lets an endpoint fail for many attempts and recover: there is one event that it fails,
// one that it has recovered, and one a minute about messages that have failed for good.
func TestIncidents(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.restartWithRules()
		var isDown atomic.Bool
		isDown.Store(true)
		w := x.watch(func(m *webhook.Message) int {
			if isDown.Load() {
				return 503
			}
			return 200
		})
		shop := x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) {
			s.Schedule = []time.Duration{time.Second} // so that messages fail for good
		})
		x.subscribe(watcherURL, "webhooks.*", byAdmin)
		for range 10 {
			x.publish("debtor.updated", "x")
		}
		const minutes = 40
		for range minutes * 4 {
			x.retrySelected("Status=3")
			x.advance(15 * time.Second)
		}
		isDown.Store(false)
		x.retrySelected("Status=3")
		x.advance(time.Hour)

		if n := w.count(watcherURL, "webhooks.endpoint.failing"); n != 1 {
			t.Errorf("%d events said that the endpoint fails, want 1", n)
		}
		if n := w.count(watcherURL, "webhooks.endpoint.recovered"); n != 1 {
			t.Errorf("%d events said that the endpoint has recovered, want 1", n)
		}
		if n := w.count(watcherURL, "webhooks.message.failed"); n < minutes/2 || n > minutes+1 {
			t.Errorf("%d events said that a message failed in %d minutes, want one a minute", n, minutes)
		}
		var body struct{ SubscriptionID, SubscriberName, EventName, Reason string }
		if err := json.Unmarshal([]byte(w.bodies[0]), &body); err != nil {
			t.Fatal(err)
		}
		if body.SubscriptionID != shop.GUID || body.SubscriberName != "Shop" || body.Reason == "" {
			t.Errorf("received %s, want the subscription %s, its subscriber and a reason", w.bodies[0], shop.GUID)
		}
		for _, text := range w.bodies {
			if strings.Contains(text, x.subscriber) || strings.Contains(text, "shop.example") {
				t.Errorf("received %s with a credential", text)
			}
		}
	})
}

// TestIncidentsOfUnsteadyEndpoint lets an endpoint fail and recover several times a minute: the last
// event is about its last state, and there is at most one of each name a minute.
func TestIncidentsOfUnsteadyEndpoint(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.restartWithRules()
		var isDown atomic.Bool
		w := x.watch(func(*webhook.Message) int {
			if isDown.Load() {
				return 503
			}
			return 200
		})
		x.subscribe("https://shop.example/", "debtor.*")
		x.subscribe("https://watch.example/2", "webhooks.*", byAdmin)
		const minutes = 10
		for range minutes * 3 {
			isDown.Store(!isDown.Load())
			for range 10 {
				x.publish("debtor.updated", "x")
			}
			x.advance(20 * time.Second)
		}
		isDown.Store(false)
		x.advance(time.Hour)
		events := w.events["https://watch.example/2"]
		for _, name := range []string{"webhooks.endpoint.failing", "webhooks.endpoint.recovered"} {
			if n := w.count("https://watch.example/2", name); n == 0 || n > minutes+1 {
				t.Errorf("%d events %s in %d minutes, want at most one a minute", n, name, minutes)
			}
		}
		if events[len(events)-1] != "webhooks.endpoint.recovered" {
			t.Errorf("received %q, want the recovery last", events)
		}
	})
}

// TestIncidentsOfWatcher checks that a failing receiver of these events causes none.
func TestIncidentsOfWatcher(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.restartWithRules()
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 503 })
		x.subscribe("https://shop.example/", "debtor.*")
		x.subscribe("https://down.example/", "webhooks.*", byAdmin)
		for range 10 {
			x.publish("debtor.updated", "x")
		}
		x.advance(24 * time.Hour)
		about := x.texts(`SELECT DISTINCT e.EventName FROM WH_Event e WHERE e.EventName LIKE 'webhooks.%'
			AND e.Body LIKE '%"EventName":"webhooks.%'`)
		if len(about) > 0 {
			t.Errorf("there are events %q about deliveries of such events", about)
		}
		x.expect("WH_Event WHERE EventName = 'webhooks.endpoint.failing'", 1)
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.advance(24 * time.Hour)
	})
}

// TestReceiversOfServiceEvents checks that only subscriptions of admins receive events of the service,
// and only if they name them or their family: they are about the endpoints of all subscribers.
func TestReceiversOfServiceEvents(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.restartWithRules()
		w := x.watch(func(*webhook.Message) int { return 410 })
		x.subscribe("https://shop.example/", "debtor.*")
		x.subscribe("https://watch.example/all", "*")
		x.subscribe("https://watch.example/admin/all", "*", byAdmin)
		x.subscribe("https://watch.example/admin/family", "webhooks.*", byAdmin)
		x.subscribe("https://watch.example/admin/name", "webhooks.subscription.disabled", byAdmin)
		former := x.subscribe("https://watch.example/alone", "webhooks.*", byAdmin)
		x.exec("UPDATE SY_WebhookSubscription SET Owner = NULL WHERE RecID = '" + former.GUID + "'")
		x.restartWithRules() // reads the changed owner
		x.publish("debtor.updated", "x")
		x.advance(time.Hour)
		for url, want := range map[string]int{
			"https://watch.example/all":          0,
			"https://watch.example/admin/all":    0,
			"https://watch.example/admin/family": 1,
			"https://watch.example/admin/name":   1,
			"https://watch.example/alone":        0,
		} {
			if n := w.count(url, "webhooks.subscription.disabled"); n != want {
				t.Errorf("%s got %d events, want %d", url, n, want)
			}
		}
	})
}

// failures returns the number of events about failed messages that watchers received, and the number
// of messages that they are about.
func (w *watched) failures(t *testing.T) (events, messages int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.bodies {
		var body struct {
			MessageID     string
			OtherMessages int
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		if body.MessageID != "" {
			events++
			messages += 1 + body.OtherMessages
		}
	}
	return events, messages
}

// expectFailures checks the events about failed messages that watchers received.
func (w *watched) expectFailures(t *testing.T, when string, events, messages int) {
	t.Helper()
	gotEvents, gotMessages := w.failures(t)
	if gotEvents != events || gotMessages != messages {
		t.Errorf("%s: received %d events about %d failed messages, want %d about %d",
			when, gotEvents, gotMessages, events, messages)
	}
}

// watchFailures lets five messages fail for good, within a second, and watches the events about them.
func (x *simulation) watchFailures() *watched {
	x.restartWithRules()
	w := x.watch(func(*webhook.Message) int { return 404 })
	x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) {
		s.Schedule = []time.Duration{time.Second}
	})
	x.subscribe(watcherURL, "webhooks.message.failed", byAdmin)
	for range 5 {
		x.publish("debtor.updated", "x")
	}
	x.advance(10 * time.Second)
	w.expectFailures(x.t, "at first", 1, 1)
	return w
}

// TestRemainderOfMinute checks that messages that fail within a minute of an event are reported at the
// end of the minute, although no further message fails.
func TestRemainderOfMinute(t *testing.T) {
	simulate(t, func(x *simulation) {
		w := x.watchFailures()
		x.advance(time.Minute)
		w.expectFailures(t, "after a minute", 2, 5)
		x.advance(time.Hour)
		w.expectFailures(t, "after an hour", 2, 5)
	})
}

// TestRemainderBeforeStop checks that a process, before it ends, publishes the events that wait for the
// end of the minute: about failed messages, and that an endpoint has recovered.
func TestRemainderBeforeStop(t *testing.T) {
	simulate(t, func(x *simulation) {
		w := x.watchFailures()
		x.restartWithRules()
		x.advance(time.Second)
		w.expectFailures(t, "after a restart", 2, 5)
		x.advance(time.Hour)
		w.expectFailures(t, "after an hour", 2, 5)
	})
	simulate(t, func(x *simulation) {
		x.restartWithRules()
		var isDown atomic.Bool
		w := x.watch(func(*webhook.Message) int {
			if isDown.Load() {
				return 503
			}
			return 200
		})
		x.subscribe("https://shop.example/", "debtor.*")
		x.subscribe(watcherURL, "webhooks.*", byAdmin)
		failsFor := func(d time.Duration) {
			isDown.Store(true)
			for range 30 {
				x.publish("debtor.updated", "x")
			}
			x.advance(d)
			isDown.Store(false)
		}
		const recovered = "webhooks.endpoint.recovered"
		failsFor(20 * time.Second)
		x.advance(20 * time.Second)
		if n := w.count(watcherURL, recovered); n != 1 {
			t.Fatalf("%d events said that the endpoint has recovered, want 1", n)
		}
		failsFor(25 * time.Second)
		x.advance(15 * time.Second)
		if n := w.count(watcherURL, recovered); n != 1 {
			t.Fatalf("%d events in a minute said that the endpoint has recovered, want 1", n)
		}
		x.restartWithRules()
		x.advance(time.Hour)
		if n := w.count(watcherURL, recovered); n != 2 {
			t.Errorf("after a restart, %d events said that the endpoint has recovered, want 2", n)
		}
	})
}
