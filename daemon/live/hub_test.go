package live

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/wire"
)

// Readers that stay connected, or reconnect with the last ID, get every change once and
// in order.
func TestReadersGetEveryChangeOnceInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := New(Config{})
		defer h.Close()
		steady, reconnecting := listen(t, h, Messages, ""), listen(t, h, Messages, "")
		reconnecting.await(named(wire.EventHeartbeat))
		var got []int
		published := 0
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			n := rapid.SampledFrom([]int{
				0, 1, 2, batchSize - 1, batchSize, batchSize + 1, 400,
			}).Draw(rt, "changes")
			h.Publish(changes(published+1, n))
			published += n
			if rapid.Bool().Draw(rt, "cut") {
				reconnecting.end(context.Canceled)
				got = append(got, reconnecting.numbers()...)
				reconnecting = listen(t, h, Messages, reconnecting.lastID)
			}
		}
		if published > 0 {
			steady.number(h, published)
			reconnecting.await(func(e event) bool { return e.id == h.id(uint64(published)) })
		}

		steady.end(context.Canceled)
		reconnecting.end(context.Canceled)
		var want []int
		for n := range published {
			want = append(want, n+1)
		}

		if all := steady.numbers(); !slices.Equal(all, want) {
			rt.Errorf("the connected reader got %v of %d", all, published)
		}

		got = append(got, reconnecting.numbers()...)
		if !slices.Equal(got, want) {
			rt.Errorf("the reconnecting reader got %v of %d", got, published)
		}
	})
}

func TestResume(t *testing.T) {
	const kept = 10_000
	for name, test := range map[string]struct {
		published int
		id        func(h *Hub) string
		first     string // event
		reason    string // of a reset
		shown     []int  // changes received: the one published after the start and those before it
	}{
		"no ID": {
			published: 5,
			id:        func(h *Hub) string { return "" },
			first:     wire.EventHeartbeat,
			shown:     []int{6},
		},
		"after the second": {
			published: 5,
			id:        func(h *Hub) string { return h.id(2) },
			first:     wire.EventHeartbeat,
			shown:     []int{3, 4, 5, 6},
		},
		"after number 0": {
			published: 2,
			id:        func(h *Hub) string { return h.id(0) },
			first:     wire.EventHeartbeat,
			shown:     []int{1, 2, 3},
		},
		"after the last": {
			published: 5,
			id:        func(h *Hub) string { return h.id(5) },
			first:     wire.EventHeartbeat,
			shown:     []int{6},
		},
		"after a future one": {
			published: 5,
			id:        func(h *Hub) string { return h.id(6) },
			first:     wire.EventReset,
			reason:    "was restarted",
			shown:     []int{6},
		},
		"another epoch": {
			published: 5,
			id:        func(h *Hub) string { return "abcdefghij-2" },
			first:     wire.EventReset,
			reason:    "was restarted",
			shown:     []int{6},
		},
		"not a number": {
			published: 5,
			id:        func(h *Hub) string { return h.epoch + "-two" },
			first:     wire.EventReset,
			reason:    "was restarted",
			shown:     []int{6},
		},
		"garbage": {
			published: 5,
			id:        func(h *Hub) string { return "\x00\n-" },
			first:     wire.EventReset,
			reason:    "was restarted",
			shown:     []int{6},
		},
		"dropped from ring": {
			published: kept + 5,
			id:        func(h *Hub) string { return h.id(4) },
			first:     wire.EventReset,
			reason:    "than the service keeps",
			shown:     []int{kept + 6},
		},
		"oldest in ring": {
			published: kept + 5,
			id:        func(h *Hub) string { return h.id(5) },
			first:     wire.EventHeartbeat,
		},
		"wrapped ring": {
			published: 3*kept + 7,
			id:        func(h *Hub) string { return h.id(3*kept + 5) },
			first:     wire.EventHeartbeat,
			shown:     []int{3*kept + 6, 3*kept + 7, 3*kept + 8},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, Config{})
			h.Publish(changes(1, test.published))
			l := listen(t, h, Messages, test.id(h))
			first := l.await(func(event) bool { return true })
			if first.name != test.first || !strings.Contains(first.data, test.reason) || first.id == "" {
				t.Errorf("starts with %+v", first)
			}
			if test.shown == nil {
				l.number(h, test.published) // before the ring drops another one
			}
			h.Publish(changes(test.published+1, 1))
			l.number(h, test.published+1)
			l.end(context.Canceled)
			got := l.numbers()
			if test.shown == nil && len(got) != kept+1 {
				t.Errorf("got %d changes, want %d", len(got), kept+1)
			}
			if test.shown != nil && !slices.Equal(got, test.shown) {
				t.Errorf("got the changes %.200v, want %v", got, test.shown)
			}
		})
	}
}

// A stalled reader is dropped once its changes have left the ring. Other readers and
// publishers are not affected.
func TestSlowReaderIsDropped(t *testing.T) {
	h := newHub(t, Config{})
	release := make(chan struct{})
	held := make(chan struct{}, 100)
	slow := listenWith(t, h, Messages, "", func(context.Context) error {
		held <- struct{}{}
		<-release
		return nil
	}, never)
	<-held // during the preamble
	quick := listen(t, h, Messages, "")
	const all = ringSize + 200
	for n := 0; n < all; n += 100 {
		h.Publish(changes(n+1, 100))
		quick.number(h, n+100)
	}

	close(release)
	slow.end(ErrBehind)
	names := slow.names()
	if !slices.Equal(names, []string{wire.EventHeartbeat, wire.EventReset}) || slow.lastID != h.id(all) {
		t.Errorf("the slow reader got %v up to %s", names, slow.lastID)
	}

	resumed := listen(t, h, Messages, slow.lastID)
	h.Publish(changes(all+1, 1))
	resumed.number(h, all+1)
	quick.number(h, all+1)
	resumed.end(context.Canceled)
	quick.end(context.Canceled)
	if got := quick.numbers(); len(got) != all+1 {
		t.Errorf("the quick reader got %d changes", len(got))
	}
	if c := h.Counts(); c != (Counts{Behind: 1}) {
		t.Errorf("counts %+v", c)
	}
}

func TestStalledReaderIsDropped(t *testing.T) {
	h := newHub(t, Config{})
	stuck := listenWith(t, h, Messages, "", func(context.Context) error { return os.ErrDeadlineExceeded }, never)
	broken := listenWith(t, h, Messages, "", func(context.Context) error { return os.ErrClosed }, never)
	stuck.end(ErrStalled)
	broken.end(os.ErrClosed)
	if c := h.Counts(); c != (Counts{Stalled: 1}) {
		t.Errorf("counts %+v", c)
	}
}

func TestMaxReaders(t *testing.T) {
	h := newHub(t, Config{})
	var all []*listener
	for range MaxReaders {
		all = append(all, listen(t, h, Requests, ""))
	}
	if _, err := h.Open(Messages, ""); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v", err)
	}
	if c := h.Counts(); c != (Counts{Readers: MaxReaders, Refused: 1}) || h.Watched() {
		t.Errorf("counts %+v", c)
	}
	all[7].end(context.Canceled)
	all[7] = listen(t, h, Messages, "")
	for _, l := range all {
		l.end(context.Canceled)
	}
	if c := h.Counts(); c.Readers != 0 {
		t.Errorf("counts %+v", c)
	}
}

// Closing ends readers immediately, including stalled ones.
func TestClose(t *testing.T) {
	h := New(Config{})
	idle := listen(t, h, Messages|Stats|Requests, "")
	idle.await(named(wire.EventHeartbeat))
	stuck := listenWith(t, h, Messages, "", func(ctx context.Context) error {
		<-ctx.Done()
		return os.ErrDeadlineExceeded
	}, never)
	h.Close()
	idle.end(ErrClosed)
	stuck.end(ErrClosed)
	h.Close()
	h.Publish(changes(1, 3))
	h.Broadcast(Requests, wire.EventRequest, 1)
	if _, err := h.Open(Messages, ""); !errors.Is(err, ErrClosed) || h.Watched() || h.Wanted(Stats) {
		t.Errorf("open after close: %v", err)
	}
	if c := h.Counts(); c != (Counts{}) {
		t.Errorf("counts %+v", c)
	}
}

func TestParseTopics(t *testing.T) {
	for text, want := range map[string]Topics{
		"":                         Messages | Stats,
		" , ":                      Messages | Stats,
		"messages":                 Messages,
		"Stats":                    Stats,
		"requests, MESSAGES":       Requests | Messages,
		"messages,stats,requests,": Messages | Stats | Requests,
		"messages;stats":           0,
		"bodies":                   0,
		"messages,x":               0,
	} {
		got, err := ParseTopics(text)
		if got != want || (want == 0) != (err != nil) ||
			err != nil && err.Error() != "must be of messages, stats, requests" {
			t.Errorf("ParseTopics(%q) is %v (%v), want %v", text, got, err, want)
		}
	}
}
