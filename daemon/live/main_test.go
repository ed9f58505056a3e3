package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// changes returns n changes numbered by their Retries, starting at from.
func changes(from, n int) []webhook.Change {
	all := make([]webhook.Change, n)
	for i := range all {
		all[i] = webhook.Change{
			Message: "6b1c9f9e-7c3e-4c7b-9a55-0d6c6ad90b11",
			Event:   "debtor.updated",
			Retries: from + i,
			At:      time.UnixMilli(1530660012345),
		}
	}
	return all
}

// event is an event that a listener received.
type event struct{ id, name, data string }

// listener reads a stream and records its events.
type listener struct {
	t    testing.TB
	stop context.CancelFunc
	done chan struct{} // closed when the reader has ended
	err  error         // returned by Run

	mu       sync.Mutex
	received *sync.Cond
	events   []event
	text     string // all of it, as received
	lastID   string
}

var never = func(context.Context) error { return nil }

// listen opens a reader and runs it.
func listen(t testing.TB, h *Hub, topics Topics, lastID string) *listener {
	t.Helper()
	return listenWith(t, h, topics, lastID, func(context.Context) error { return nil }, never)
}

// listenWith is listen with a function that is called before each send, and a check.
func listenWith(t testing.TB, h *Hub, topics Topics, lastID string, before, check func(context.Context) error) *listener {
	t.Helper()
	r, err := h.Open(topics, lastID)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	l := &listener{t: t, stop: stop, done: make(chan struct{}), lastID: lastID}
	l.received = sync.NewCond(&l.mu)
	go func() {
		defer close(l.done)
		l.err = r.Run(ctx, func(ctx context.Context, b []byte) error {
			if err := before(ctx); err != nil {
				return err
			}
			l.take(string(b))
			return nil
		}, check)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.received.Broadcast()
	}()
	return l
}

// take records the events of a send.
func (l *listener) take(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += text
	for part := range strings.SplitSeq(text, "\n\n") {
		var e event
		for line := range strings.SplitSeq(part, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				e.id, l.lastID = value, value
			case "event":
				e.name = value
			case "data":
				e.data = value
			}
		}
		if e.name != "" {
			l.events = append(l.events, e)
		}
	}
	l.received.Broadcast()
}

// await waits for a matching event and returns it.
func (l *listener) await(isWanted func(event) bool) event {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := 0 // events that were tested
	for {
		for _, e := range l.events[seen:] {
			if isWanted(e) {
				return e
			}
		}
		seen = len(l.events)
		select {
		case <-l.done:
			l.t.Fatalf("the reader has ended: %v", l.err)
		default:
		}
		l.received.Wait()
	}
}

func named(name string) func(event) bool { return func(e event) bool { return e.name == name } }

// number waits for the change with a number.
func (l *listener) number(h *Hub, n int) {
	l.t.Helper()
	id := h.id(uint64(n))
	l.await(func(e event) bool { return e.name == wire.EventMessage && e.id == id })
}

// numbers returns the received changes, by their Retries.
func (l *listener) numbers() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []int
	for _, e := range l.events {
		if e.name != wire.EventMessage {
			continue
		}
		var c wire.MessageChange
		if err := json.Unmarshal([]byte(e.data), &c); err != nil {
			l.t.Errorf("%s: %v", e.data, err)
		}
		if !strings.HasSuffix(e.id, fmt.Sprintf("-%d", c.Retries)) {
			l.t.Errorf("change %d has the id %s", c.Retries, e.id)
		}
		all = append(all, c.Retries)
	}
	return all
}

func (l *listener) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, e := range l.events {
		all = append(all, e.name)
	}
	return all
}

// end ends the listener, or waits for its end, and checks the error.
func (l *listener) end(want error) {
	l.t.Helper()
	if want == context.Canceled {
		l.stop()
	}
	<-l.done
	l.stop()
	if !errors.Is(l.err, want) {
		l.t.Errorf("ended by %v, want %v", l.err, want)
	}
}

func newHub(t testing.TB, c Config) *Hub {
	h := New(c)
	t.Cleanup(h.Close)
	return h
}
