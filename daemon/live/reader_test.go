package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

func TestStreamFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, Config{})
		h.epoch = "k3v9x2m7qa"
		h.Publish(changes(1, 41))
		l := listen(t, h, Messages|Requests, "")
		synctest.Wait()
		h.Publish([]webhook.Change{
			{
				Message:      "6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11",
				Subscriber:   "0b5d7d7c-9b5e-4d5b-8f5e-5b1f8f5b1c9f",
				Subscription: "11111111-2222-4333-8444-555555555555",
				Event:        "debtor.updated",
				Status:       webhook.RetryPending,
				Retries:      1,
				Next:         time.UnixMilli(1530660017345),
				Code:         503,
				Took:         12300 * time.Microsecond,
				At:           time.UnixMilli(1530660012345),
			},
			{
				Message: "6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11",
				Event:   "a",
				At:      time.UnixMilli(1530660012345),
				Deleted: true,
			},
		})
		synctest.Wait()
		h.Broadcast(Requests, wire.EventRequest, wire.HandledRequest{
			At:                   wire.Timestamp(time.UnixMilli(1530660012345)),
			Method:               "GET",
			PathInfo:             "/Info",
			StatusCode:           200,
			DurationMilliseconds: 1.25,
			RequestID:            "a1",
		})
		synctest.Wait()
		l.end(context.Canceled)
		greeting, events := l.text[:preambleSize], l.text[preambleSize:]
		padding, ok := strings.CutPrefix(greeting, "retry: 2000\n:")
		if !ok || strings.TrimSpace(padding) != "" || !strings.HasSuffix(padding, " \n\n") {
			t.Errorf("starts with %q", greeting)
		}

		const want = `id: k3v9x2m7qa-41
event: heartbeat
data: {"At":"/Date(946684800000+0000)/"}

id: k3v9x2m7qa-42
event: message
data: {"MessageID":"6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11","SubscriberID":"0b5d7d7c-9b5e-4d5b-8f5e-5b1f8f5b1c9f","SubscriptionID":"11111111-2222-4333-8444-555555555555","EventName":"debtor.updated","Status":2,"Retries":1,"NextAttemptDateTime":"/Date(1530660017345+0000)/","HTTPCode":503,"Duration":"PT0.0123S","At":"/Date(1530660012345+0000)/"}

id: k3v9x2m7qa-43
event: message
data: {"MessageID":"6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11","SubscriberID":"","SubscriptionID":"","EventName":"a","Status":0,"Retries":0,"NextAttemptDateTime":null,"HTTPCode":null,"Duration":null,"At":"/Date(1530660012345+0000)/","Deleted":true}

event: request
data: {"At":"/Date(1530660012345+0000)/","Method":"GET","PathInfo":"/Info","StatusCode":200,"DurationMilliseconds":1.25,"RequestID":"a1"}

`
		if events != want {
			t.Errorf("continues with\n%s\nwant\n%s", events, want)
		}
	})
}

// The largest possible change.
func TestChangeSize(t *testing.T) {
	const id = "6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11"
	text := encode(&webhook.Change{
		Message:      id,
		Subscriber:   id,
		Subscription: id,
		Event:        "inventoryclassification.updated",
		Status:       webhook.RetryPending,
		Retries:      9999,
		Next:         time.UnixMilli(1e12),
		Code:         599,
		Took:         3599*time.Second + 123456700,
		At:           time.UnixMilli(1e12),
	})
	if len(text) >= 400 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// Readers share the encoded text of a change.
func TestChangeIsEncodedOnce(t *testing.T) {
	h := newHub(t, Config{})
	h.Publish(changes(1, 3))
	first := func() *byte { return &h.frames.bySlot[slot(2)].text[0] }
	if _, last, hasMore, err := h.readFrames(nil, 0); last != 3 || hasMore || err != nil {
		t.Fatal(last, hasMore, err)
	}
	text := first()
	if _, last, _, err := h.readFrames(nil, 1); last != 3 || err != nil || first() != text {
		t.Error("the second reader encoded it again")
	}
	h.Publish(changes(4, ringSize))
	out, _, _, err := h.readFrames(nil, ringSize+1)
	if err != nil || !strings.HasPrefix(string(out), "id: "+h.id(ringSize+2)) {
		t.Errorf("got %.100s (%v), want the changes after the number %d", out, err, ringSize+1)
	}
}

func TestHeartbeatsAndChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, Config{})
		start := time.Now()
		var checks []time.Duration
		revoked := errors.New("revoked")
		l := listenWith(t, h, Stats, "", func(context.Context) error { return nil }, func(context.Context) error {
			checks = append(checks, time.Since(start))
			if len(checks) == 2 {
				return revoked
			}
			return nil
		})
		<-l.done
		l.end(revoked)
		if !slices.Equal(checks, []time.Duration{15 * time.Second, 30 * time.Second}) {
			t.Errorf("checked at %v", checks)
		}
		// One heartbeat at the start and one every 15 seconds; the last may be missing.
		names := l.names()
		isOther := func(name string) bool { return name != wire.EventHeartbeat }
		if len(names) < 2 || len(names) > 3 || slices.ContainsFunc(names, isOther) {
			t.Errorf("got the events %v, want two or three heartbeats", names)
		}
		if l.lastID != "" {
			t.Errorf("a stream without messages has the id %s", l.lastID)
		}
	})
}

// A hub counts as watched for another minute after its last reader has left.
func TestWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, Config{Shared: true})
		want := func(watched bool) {
			t.Helper()
			synctest.Wait()
			if h.Watched() != watched {
				t.Errorf("watched: %v", h.Watched())
			}
		}
		others := listen(t, h, Stats|Requests, "")
		want(false)
		l := listen(t, h, Messages, "")
		want(true)
		h.Publish(changes(1, 2))
		l.number(h, 2)
		l.end(context.Canceled)
		time.Sleep(watchedGrace - time.Second)
		want(true)

		h.Publish(changes(3, 1))
		l = listen(t, h, Messages, l.lastID)
		l.number(h, 3)
		time.Sleep(2 * watchedGrace)
		want(true)
		l.end(context.Canceled)
		time.Sleep(watchedGrace)
		want(false)

		// Changes of other daemons were not published in between.
		l = listen(t, h, Messages, l.lastID)
		want(true)
		e := l.await(func(event) bool { return true })
		if e.name != wire.EventReset || !strings.Contains(e.data, "there was no reader") {
			t.Errorf("continues with %+v", e)
		}

		h.Publish(changes(4, 1))
		l.number(h, 4)
		l.end(context.Canceled)
		others.end(context.Canceled)
		h.Close()
		want(false)
	})
}

// Broadcasts are for readers of the topic, and no reader blocks the others.
func TestBroadcast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, Config{})
		release := make(chan struct{})
		slow := listenWith(t, h, Requests, "", func(context.Context) error { <-release; return nil }, never)
		quick, other := listen(t, h, Requests, ""), listen(t, h, Messages|Stats, "")
		synctest.Wait()
		const sent = broadcastBuffer + 10
		for n := range sent {
			h.Broadcast(Requests, wire.EventRequest, n)
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		for l, want := range map[*listener]int{slow: broadcastBuffer, quick: sent, other: 0} {
			l.end(context.Canceled)
			got := 0
			for _, e := range l.events {
				if e.name == wire.EventRequest {
					got++
				}
			}
			if got != want {
				t.Errorf("a reader got %d, want %d", got, want)
			}
		}
		if c := h.Counts(); c != (Counts{Skipped: 10}) {
			t.Errorf("counts %+v", c)
		}
	})
}

// The stats source is called only while stats are read, and its data is sent if it has
// changed or a reader has joined.
func TestStatsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		var changed atomic.Bool
		source := func() (any, bool) { return map[string]int32{"Calls": calls.Add(1)}, changed.Load() }
		h := newHub(t, Config{Stats: source})
		time.Sleep(10 * time.Second)
		first := listen(t, h, Stats, "")
		time.Sleep(3*statsInterval + 1)
		second := listen(t, h, Stats, "") // gets them even if unchanged
		time.Sleep(3 * statsInterval)
		changed.Store(true)
		time.Sleep(2 * statsInterval)
		first.end(context.Canceled)
		second.end(context.Canceled)
		time.Sleep(time.Minute)
		if n := calls.Load(); n != 8 {
			t.Errorf("called %d times", n)
		}

		for l, want := range map[*listener][]string{
			first:  {`{"Calls":1}`, `{"Calls":4}`, `{"Calls":7}`, `{"Calls":8}`},
			second: {`{"Calls":4}`, `{"Calls":7}`, `{"Calls":8}`},
		} {
			l.events = slices.DeleteFunc(l.events, func(e event) bool { return e.name == wire.EventHeartbeat })
			var got []string
			for _, e := range l.events {
				got = append(got, e.data)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}
