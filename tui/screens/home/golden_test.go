package home_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// ago returns a time before the end of the sample.
func ago(now time.Time, d time.Duration) wire.Timestamp { return wire.Timestamp(now.Add(-d)) }

// queueOf returns the queue of a sample.
func queueOf(subscriber, event, url string, delivered int64, attempts ...int64) wire.Queue {
	return wire.Queue{
		SubscriberName: subscriber,
		SubscriptionID: subscriber + " " + event,
		EventName:      event,
		URL:            url,
		IsEnabled:      true,
		Breaker:        wire.BreakerClosed,
		Delivered:      delivered,
		Attempts:       attempts,
	}
}

// troubledHour is an hour with 13 endpoints, of which two are in trouble.
func troubledHour(now time.Time) home.Overview {
	refused := queueOf("Billing GmbH", "creditor.created", "https://billing.test/creditors", 0, 2, 1, 1, 1, 9, 1, 1, 1, 1, 1)
	refused.GivenUp = 17
	refused.FailingSince = ago(now, 24*time.Minute)
	refused.LastFailure = &wire.Failed{At: ago(now, 2*time.Minute), HTTPCode: 404, Message: "Not Found"}
	paused := queueOf("Acme", "debtor.created", "https://acme.example/html/debtors", 0, 0, 0, 0, 0, 0, 0, 12, 3, 2, 1)
	paused.Breaker = wire.BreakerOpen
	paused.FailingSince = ago(now, 19*time.Minute)
	paused.NextProbeDateTime = ago(now, -6*time.Minute-30*time.Second)
	paused.NotSent = 12
	paused.RetryPending = 8
	paused.Pending = 20
	paused.Failed = 18
	paused.LastFailure = &wire.Failed{At: ago(now, 13*time.Minute), HTTPCode: 500, Message: "Internal Server Error"}
	queues := []wire.Queue{refused, paused}
	for i := range 11 {
		url := fmt.Sprintf("https://shop%d.example/hooks", i+1)
		queues = append(queues, queueOf("Shop", fmt.Sprintf("item.%d", i+1), url, int64(600-37*i),
			30, 60, 30, 110, int64(20+20*i), 70, 40, int64(200-15*i), 40, 66))
	}

	queues[2].Delivered -= 15 // 4,550 together

	s := &wire.Stats{
		ServerDateTime: wire.Timestamp(now),
		Daemons:        1,
		Totals:         wire.Traffic{Delivered: 4550, Failed: 18, GivenUp: 17},
		SuccessRate:    new(0.99236),
		Latency: wire.Latency{
			P50: wire.TimeSpan(4 * time.Millisecond),
			P95: wire.TimeSpan(27 * time.Millisecond),
		},
		Depth:         &wire.Depth{NotSent: 12, RetryPending: 8, OldestDateTime: ago(now, 6*time.Minute)},
		InHand:        wire.InHand{InFlight: 3},
		Subscriptions: 13,
		Queues:        queues,
		Minutes: wire.Minutes{
			From:      wire.Timestamp(now.Truncate(time.Minute).Add(-59 * time.Minute)),
			Delivered: make([]int64, 60),
			Failed:    make([]int64, 60),
			GivenUp:   make([]int64, 60),
		},
	}
	for i := range 60 {
		s.Minutes.Delivered[i] = int64(20 + i*i*7%53)
	}
	copy(s.Minutes.Delivered[35:], []int64{190, 150, 60})
	copy(s.Minutes.Delivered[55:], []int64{312, 240, 80})
	copy(s.Minutes.GivenUp[36:], []int64{5, 10})
	s.Minutes.GivenUp[57] = 2
	s.Minutes.Failed[40] = 12
	s.Minutes.Failed[46] = 6

	o := home.Overview{Stats: s, Failures: sampleFailures(now, refused, paused)}
	o.GroupFailures()
	o.Groups[0].Answer = "unknown shop"
	o.Captures = home.Captures{
		Late:    []wire.Capture{{Kind: "IN_Colours", Phase: "capturing", Reason: "a lock", Lag: wire.TimeSpan(10 * time.Minute)}},
		Healthy: 15,
	}
	return o
}

// sampleFailures returns 17 failed messages and 8 that are retried, the newest first.
func sampleFailures(now time.Time, refused, paused wire.Queue) []wire.Message {
	var list []wire.Message
	for i := range 25 {
		q := refused
		status := ui.StatusFailed
		code := 404
		failed := ago(now, 2*time.Minute+time.Duration(i)*80*time.Second)
		if i >= 17 {
			q = paused
			status = ui.StatusRetrying
			code = 500
			failed = ago(now, 26*time.Minute)
		}
		m := wire.Message{
			MessageID:                   fmt.Sprintf("message %d", i),
			SubscriptionID:              q.SubscriptionID,
			EventName:                   q.EventName,
			URL:                         q.URL,
			Status:                      status,
			Retries:                     2,
			MaxRetries:                  2,
			LastSavedDateTime:           failed,
			LastMessageResponseHTTPCode: &code,
			Key:                         fmt.Sprintf("D%d", i),
		}
		if status == ui.StatusRetrying {
			m.MaxRetries = 8
			m.NextAttemptDateTime = ago(now, -6*time.Minute-30*time.Second)
		}
		list = append(list, m)
	}
	return list
}

// show shows an overview on Home.
func show(t *testing.T, o tui.Options, overview func(now time.Time) home.Overview) *tuitest.Driver {
	t.Helper()
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), o)
	d.AwaitLive()
	h := d.App.Front().(*home.Screen)
	d.Respond(h, nil, func(error) tea.Cmd { return h.OnFetched(overview(d.Clock), nil) })
	return d
}

// TestHomeGoldens draws an hour with troubles.
func TestHomeGoldens(t *testing.T) {
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := show(t, o, troubledHour)
		d.Golden("S01-home-board", appearance)
		if appearance == "colour" {
			d.GoldenConsoles("S01-home-board")
		}
	})
}

// TestHomeWithoutTroubles leaves out empty parts.
func TestHomeWithoutTroubles(t *testing.T) {
	d := show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := troubledHour(now)
		s := o.Stats
		s.Queues = s.Queues[2:]
		s.Subscriptions = 11
		s.Totals.Failed, s.Totals.GivenUp = 0, 0
		s.SuccessRate = new(1.0)
		s.Depth = nil
		s.InHand = wire.InHand{}
		clear(s.Minutes.Failed)
		clear(s.Minutes.GivenUp)
		return home.Overview{Stats: s}
	})
	for _, size := range tuitest.Sizes {
		d.Resize(size[0], size[1])
		d.CheckScreen()
		d.WantText("✓ 4,550", "100 %")
		for _, text := range []string{"Queue", "Capture", "Failures", "Saved views", "Recent"} {
			d.WantNoText(text)
		}
	}
}

// TestHomeBeforeSubscriptions checks the hint how to start, and opens the form.
func TestHomeBeforeSubscriptions(t *testing.T) {
	empty := func(now time.Time) home.Overview {
		return home.Overview{Stats: &wire.Stats{ServerDateTime: wire.Timestamp(now), Daemons: 1}}
	}
	d := show(t, tui.Options{}, empty)
	for _, size := range tuitest.Sizes {
		d.Resize(size[0], size[1])
		d.CheckScreen()
		d.WantText("No subscriber yet. n creates one.", "n new subscriber")
	}
	d.Press("n")
	d.WantText("New subscriber", "Subscribers")

	d = show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := empty(now)
		o.Subscribers = 2
		return o
	})
	d.WantText("No subscription yet. 3 opens the subscribers")
}

// TestHomeInAllSizes draws every size, with many troubles.
func TestHomeInAllSizes(t *testing.T) {
	many := func(now time.Time) home.Overview {
		o := troubledHour(now)
		for i := range 20 {
			q := o.Stats.Queues[i%2]
			q.SubscriptionID = fmt.Sprintf("%s %d", q.SubscriptionID, i)
			q.URL += "/" + fmt.Sprint(i)
			o.Stats.Queues = append([]wire.Queue{q}, o.Stats.Queues...)
			m := o.Failures[0]
			m.EventName = fmt.Sprintf("event.%d", i)
			m.MessageID = m.EventName
			o.Failures = append(o.Failures, m)
		}
		o.Stats.Subscriptions = len(o.Stats.Queues)
		for i := range 3 {
			o.Captures.Late = append(o.Captures.Late, wire.Capture{Kind: fmt.Sprint("KIND_", i), Phase: "stopped"})
		}
		o.Groups = nil
		o.GroupFailures()
		return o
	}
	for name, overview := range map[string]func(time.Time) home.Overview{"some": troubledHour, "many": many} {
		d := show(t, tui.Options{}, overview)
		h := d.App.Front().(*home.Screen)
		for width := ui.MinWidth; width <= 220; width += 7 {
			for height := ui.MinHeight; height <= 70; height += 3 {
				d.Resize(width, height)
				d.CheckScreen()
				h.SelectedIndex = len(h.Entries()) - 1
				d.CheckScreen()
				d.WantText("▌")
				h.SelectedIndex = 0
			}
		}
		if t.Failed() {
			t.Fatalf("with %s troubles", name)
		}
	}
}

// TestHomeClicks selects the entry at a click, and opens it with two.
func TestHomeClicks(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {70, 20}} {
		d := show(t, tui.Options{}, troubledHour)
		d.Resize(size[0], size[1])
		h := d.App.Front().(*home.Screen)
		d.ClickOn("500 Internal")
		d.WantText("2 of 2   8 messages of debtor.created to acme.example/html/debtors")
		d.ClickOn("404 unknown shop")
		d.WantText("1 of 2   creditor.created of Billing GmbH, 17 failed")
		if h.SelectedIndex != 0 {
			t.Errorf("%v: a click on the endpoint selects entry %d, want 0", size, h.SelectedIndex)
		}
		d.ClickOn("IN_Colours")
		d.WantText("changes of IN_Colours are late: a lock")
		d.ClickOn("IN_Colours")
		d.WantText("Changes of IN_Colours")
	}
}

// TestHomeRetriesGroup retries the messages of a group that the question has counted.
func TestHomeRetriesGroup(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.WantText("enter messages  r retry 1 ", "! all failures")
	d.Press("j", "r")
	d.WantText("Retry 3 messages?", "debtor.updated to", "503 upstream is down", "y retry 3")
	d.Advance(ui.ConfirmPause)
	d.Press("y")
	d.WantText("3 messages are due now")
}

// TestHomeRetriesEndpoint retries the failed messages of an endpoint, of all groups, or explains why
// there are none.
func TestHomeRetriesEndpoint(t *testing.T) {
	d := show(t, tui.Options{}, troubledHour)
	h := d.App.Front().(*home.Screen)
	h.SelectedIndex = 0
	id := strings.TrimPrefix(h.Entries()[0].Key, "endpoint ")
	d.WantText("r retry ")
	d.Press("r")
	d.WantText("failed messages?", "creditor.created to")
	d.Press("esc")

	d.App.Session.Queues.Known[id] = wire.Queue{Pending: 4}
	h.Failures = nil
	d.Press("r")
	d.WantText("4 wait because the subscription is disabled: i, then o enables it")
	d.App.Session.Queues.Known[id] = wire.Queue{IsEnabled: true}
	d.Press("r")
	d.WantText("none of the newest failures is of this endpoint: enter lists its messages")
}

// TestHomeRetryOfPausedEndpoint checks that the question describes the pace of a paused endpoint.
func TestHomeRetryOfPausedEndpoint(t *testing.T) {
	d := show(t, tui.Options{}, troubledHour)
	h := d.App.Front().(*home.Screen)
	h.SelectedIndex = 0
	queues := d.App.Session.Queues.Known
	id := strings.TrimPrefix(h.Entries()[0].Key, "endpoint ")
	queue := queues[id]
	queue.IsEnabled = true
	queue.Breaker = wire.BreakerOpen
	queues[id] = queue
	d.Press("r")
	d.WantText("The endpoint is paused: one is sent at a time until")
}

// TestHomeTabGoesToNextList goes round the lists in both directions.
func TestHomeTabGoesToNextList(t *testing.T) {
	d := show(t, tui.Options{}, troubledHour)
	d.WantText("tab next list")
	h := d.App.Front().(*home.Screen)
	selected := func() string {
		kind, _, _ := strings.Cut(h.Entries()[h.SelectedIndex].Key, " ")
		return kind
	}
	want := []string{"endpoint", "capture", "group", "endpoint"}
	for _, kind := range want {
		d.Press("tab")
		if selected() != kind {
			t.Errorf("tab selects %s, want the first %s", h.SelectedKey, kind)
		}
	}
	d.Press("j", "shift+tab")
	if selected() != "group" || h.SelectedIndex != len(h.Entries())-2 {
		t.Errorf("shift+tab selects entry %d, %s, want the first group", h.SelectedIndex, h.SelectedKey)
	}

	d = show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := troubledHour(now)
		o.Stats.Queues = nil
		o.Captures = home.Captures{}
		o.Failures = nil // the groups stay
		return o
	})
	d.WantNoText("next list")
}

// TestHomeOpensWhy opens the history of the newest message of a group.
func TestHomeOpensWhy(t *testing.T) {
	d := show(t, tui.Options{}, troubledHour)
	d.WantText("w why")
	d.Press("w")
	d.WantText("D0")
	d = show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := troubledHour(now)
		o.Groups[0].Newest.Key = ""
		return o
	})
	d.Press("w")
	d.WantText("the event of this message has no key")
}

// TestManyTroublesLeaveRoom checks that 20 endpoints in trouble do not push the failures and the other
// lists off the screen, also without any attempt in the last hour, and that those without room are
// counted.
func TestManyTroublesLeaveRoom(t *testing.T) {
	for _, hasTraffic := range []bool{true, false} {
		for _, size := range tuitest.Sizes {
			d := show(t, tui.Options{}, func(now time.Time) home.Overview {
				o := troubledHour(now)
				for i := range 18 {
					q := o.Stats.Queues[1]
					q.SubscriptionID = fmt.Sprint("stopped ", i)
					q.URL = fmt.Sprintf("https://stopped%d.example/in", i)
					o.Stats.Queues = append(o.Stats.Queues, q)
				}
				o.Stats.Subscriptions = len(o.Stats.Queues)
				if !hasTraffic {
					o.Stats.SuccessRate = nil
				}
				return o
			})
			d.Resize(size[0], size[1])
			d.CheckScreen()
			d.WantText("404 unknown shop", "waiting 20")
			if size[1] < 60 {
				d.WantText("in trouble")
			}
			if size[1] >= 40 {
				d.WantText("Recent failures")
			}
			h := d.App.Front().(*home.Screen)
			for h.SelectedIndex = range h.Entries() { // each one that can be selected is on the screen
				d.WantText("▌")
			}
			if t.Failed() {
				t.Fatalf("at %dx%d, with traffic: %v", size[0], size[1], hasTraffic)
			}
		}
	}
}

// TestOtherEndpoints checks the line of the endpoints without trouble: it is not cut, and counts
// messages as delivered by any of their attempts.
func TestOtherEndpoints(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *wire.Stats)
		want   []string
		not    []string
	}{
		"many without trouble": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:]
				s.Subscriptions = 12_345
				s.Totals.GivenUp = 0
			},
			want: []string{"● 12,345 endpoints   all delivered"},
		},
		"many below a short name": {
			change: func(s *wire.Stats) {
				s.Queues[0].URL = "http://crm/in"
				s.Queues = s.Queues[:1]
				s.Subscriptions = 1_235
			},
			want: []string{"● 1,234 others"},
		},
		"no other one": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[:2]
				s.Subscriptions = 2
			},
			want: []string{"2 of 2 in trouble"},
			not:  []string{"0 other"},
		},
		"all disabled": {
			change: func(s *wire.Stats) {
				s.Queues = nil
				s.Subscriptions = 3
				s.Disabled = 3
			},
			want: []string{"all subscriptions are disabled"},
			not:  []string{"0 endpoints", "no messages"},
		},
		"second attempts": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:]
				s.Subscriptions = 11
				s.Totals = wire.Traffic{Delivered: 10, Failed: 10}
				s.Queues = s.Queues[:1]
				s.Queues[0].Delivered = 10
				s.Queues[0].Failed = 10
			},
			want: []string{"● 11 endpoints   all delivered, some by retries"},
			not:  []string{"50 %", "50.0 %"},
		},
		"failed ones": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:]
				s.Subscriptions = 11
				s.Totals = wire.Traffic{Delivered: 3, Failed: 10, GivenUp: 1}
				s.Queues = s.Queues[:1]
				s.Queues[0].Delivered = 3
				s.Queues[0].Failed = 10
				s.Queues[0].GivenUp = 1
			},
			want: []string{"● 11 endpoints   75.0 % delivered"},
		},
		"a disabled one had failures": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:4]
				s.Queues[0].Delivered = 10
				s.Queues[1].IsEnabled = false
				s.Queues[1].Delivered = 0
				s.Queues[1].GivenUp = 100
				s.Subscriptions = 2
				s.Disabled = 1
				s.Totals = wire.Traffic{Delivered: 10, GivenUp: 100}
			},
			want: []string{"● 1 endpoint   all delivered"},
			not:  []string{"9.1 %"},
		},
		"a removed one had failures": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:3]
				s.Queues[0].Delivered = 10
				s.Subscriptions = 1
				s.Totals = wire.Traffic{Delivered: 10, GivenUp: 100}
			},
			want: []string{"● 1 endpoint   all delivered"},
			not:  []string{"9.1 %"},
		},
		"omitted ones": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[2:3]
				s.Queues[0].Delivered = 10
				s.Subscriptions = 4
				s.OtherQueues = 3
				s.Totals = wire.Traffic{Delivered: 50, GivenUp: 50}
			},
			want: []string{"● 4 endpoints   50.0 % delivered"},
		},
		"omitted ones, and a message was given up after the totals were read": {
			change: func(s *wire.Stats) {
				s.Queues = s.Queues[1:3]
				s.Queues[0].GivenUp = 1
				s.Queues[1].Delivered = 10
				s.Subscriptions = 3
				s.OtherQueues = 1
				s.Totals = wire.Traffic{Delivered: 10}
			},
			want: []string{"● 2 others", "all delivered"},
			not:  []string{"111 %"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := show(t, tui.Options{}, func(now time.Time) home.Overview {
				o := troubledHour(now)
				c.change(o.Stats)
				return o
			})
			d.WantText(c.want...)
			for _, size := range [][2]int{{80, 24}, {120, 40}} {
				d.Resize(size[0], size[1])
				d.CheckScreen()
				for _, text := range c.not {
					d.WantNoText(text)
				}
			}
		})
	}
}

// TestNextAttemptIsWorded checks the words for a next attempt that is due, and for one without a time.
func TestNextAttemptIsWorded(t *testing.T) {
	d := show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := troubledHour(now)
		o.Stats.Queues[1].NextProbeDateTime = ago(now, time.Second)
		return o
	})
	d.WantText("paused, due now")
	d = show(t, tui.Options{}, func(now time.Time) home.Overview {
		o := troubledHour(now)
		o.Stats.Queues[1].NextProbeDateTime = wire.Timestamp{}
		for i := range o.Groups {
			o.Groups[i].Next = time.Time{}
		}
		return o
	})
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		d.Resize(size[0], size[1])
		d.WantText("500 Internal Server Error")
		d.WantNoText("next in")
		d.WantNoText("next try")
		d.Press("t")
		d.WantNoText("next at")
		d.WantNoText("at -")
	}
}
