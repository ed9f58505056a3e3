package delivery_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// fakeOutbox is a real store with the outbox that only server stores have, for tests
// with a simulated clock.
type fakeOutbox struct {
	delivery.Store

	mu       sync.Mutex
	rows     []delivery.OutboxEvent // the oldest first
	last     int64
	refused  map[string]string // reasons, by body
	readOnly bool              // rows cannot be refused
}

// put adds events, as a transaction that is committed now.
func (o *fakeOutbox) put(name string, bodies ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range bodies {
		o.last++
		o.rows = append(o.rows, delivery.OutboxEvent{
			ID:       o.last,
			Name:     name,
			Body:     []byte(body),
			TooLarge: body == "large",
		})
	}
}

// ReadOutbox implements delivery.Store.
func (o *fakeOutbox) ReadOutbox(_ context.Context, limit int, _ []string) ([]delivery.OutboxEvent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.rows[:min(limit, len(o.rows))]), nil
}

// RefuseOutbox implements delivery.Store.
func (o *fakeOutbox) RefuseOutbox(_ context.Context, e delivery.OutboxEvent, reason string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.readOnly {
		return errAway
	}
	i := slices.IndexFunc(o.rows, func(r delivery.OutboxEvent) bool { return r.ID == e.ID })
	o.refused[string(o.rows[i].Body)] = reason
	o.rows = slices.Delete(o.rows, i, i+1)
	return nil
}

// Write implements delivery.Store.
func (o *fakeOutbox) Write(ctx context.Context, b delivery.Batch) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids := slices.SortedFunc(slices.Values(b.Outbox), cmp.Compare)
	for i, id := range ids {
		if i >= len(o.rows) || o.rows[i].ID != id {
			return delivery.ErrOutboxTaken
		}
	}
	b.Outbox = nil
	if err := o.Store.Write(ctx, b); err != nil {
		return err
	}
	o.rows = o.rows[len(ids):]
	return nil
}

func (o *fakeOutbox) setReadOnly(readOnly bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.readOnly = readOnly
}

func (o *fakeOutbox) remaining() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.rows)
}

// withOutbox runs a test with a store that has an outbox.
func withOutbox(t *testing.T, test func(x *simulation, o *fakeOutbox)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		o := &fakeOutbox{Store: x.store.Webhooks.Engine, refused: make(map[string]string)}
		x.startEngine(func(c *delivery.Config) {
			x.faultyStore = deliverytest.New(o)
			c.Store = x.faultyStore
			c.OutboxInterval = time.Second
			c.EventName = inHouse().Event
		})
		x.subscribe("http://127.0.0.1/hook", "debtor.*")
		test(x, o)
	})
}

// publishedBodies returns the bodies of the events, ordered by ID.
func (x *simulation) publishedBodies() []string {
	x.t.Helper()
	return x.texts("SELECT Body FROM WH_Event ORDER BY EventID")
}

// expectOutbox checks which bodies were published, in their order, and how many rows are left.
func (x *simulation) expectOutbox(o *fakeOutbox, published []string, left int) {
	x.t.Helper()
	if got := x.publishedBodies(); !slices.Equal(got, published) {
		x.t.Errorf("published %q, want %q", got, published)
	}
	if got := o.remaining(); got != left {
		x.t.Errorf("%d rows are left in the outbox, want %d", got, left)
	}
}

func numbered(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprint(i))
	}
	return bodies
}

// TestOutboxInOrder checks that events leave the outbox in order and once, regardless of
// failing writes.
func TestOutboxInOrder(t *testing.T) {
	withOutbox(t, func(x *simulation, o *fakeOutbox) {
		const all = 2000
		rules := []deliverytest.Rule{
			deliverytest.Refuse(deliverytest.Unavailable("busy")),
			deliverytest.FailAfter(deliverytest.Unavailable("the connection was lost")),
			nil,
			nil,
		}
		x.faultyStore.SetRule(func(ctx context.Context, do func(context.Context) error) error {
			if rule := rules[rand.IntN(len(rules))]; rule != nil {
				return rule(ctx, do)
			}
			return do(ctx)
		}, deliverytest.Write)
		for _, body := range numbered(all) {
			o.put("Debtor.Updated", body)
			if rand.IntN(20) == 0 {
				x.advance(300 * time.Millisecond)
			}
		}
		x.advance(5 * time.Minute)
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(5 * time.Minute)
		if got := x.publishedBodies(); !slices.Equal(got, numbered(all)) {
			t.Errorf("%d events of %d were published, or in another order: %.200q", len(got), all, got)
		}
		x.expect(`SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
			WHERE m.Status = 1 AND e.EventName = 'debtor.updated'`, all)
	})
}

// TestOutboxRefuses checks that invalid events are refused without delaying others, and that
// events without subscribers leave no rows.
func TestOutboxRefuses(t *testing.T) {
	withOutbox(t, func(x *simulation, o *fakeOutbox) {
		o.put("no.event", "unpublished")
		o.put("debtor.*", "a family")
		o.put("webhooks.test", "reserved")
		o.put("debtor.updated", "", "large", "zero\x00", "\xff")
		o.put("creditor.updated", "unsubscribed")
		o.put(" DEBTOR.Updated ", "fine")
		x.advance(10 * time.Second)
		x.expectOutbox(o, []string{"fine"}, 0)
		for body, why := range map[string]string{
			"unpublished": "not a published event",
			"a family":    "not a published event",
			"reserved":    "not a published event",
			"":            "empty",
			"large":       "larger than 4194304 bytes",
			"zero\x00":    "the character 0",
			"\xff":        "text",
		} {
			if !strings.Contains(o.refused[body], why) {
				t.Errorf("%q was refused because of %q, want %q", body, o.refused[body], why)
			}
		}
	})
}

// TestOutboxWithoutRefusal checks that rows before an invalid one that cannot be refused are
// published.
func TestOutboxWithoutRefusal(t *testing.T) {
	withOutbox(t, func(x *simulation, o *fakeOutbox) {
		o.setReadOnly(true)
		o.put("debtor.updated", "a", "b", "", "c")
		x.advance(10 * time.Second)
		x.expectOutbox(o, []string{"a", "b"}, 2)
		o.setReadOnly(false)
		x.advance(10 * time.Second)
		x.expectOutbox(o, []string{"a", "b", "c"}, 0)
	})
}

// TestOutboxTakenElsewhere checks that concurrent publishers are not affected if another daemon
// publishes a row first.
func TestOutboxTakenElsewhere(t *testing.T) {
	withOutbox(t, func(x *simulation, o *fakeOutbox) {
		gate := deliverytest.NewGate()
		x.faultyStore.SetRuleOnce(func(ctx context.Context, do func(context.Context) error) error {
			err := gate.Hold(ctx, do)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.rows = o.rows[2:] // by another daemon
			return err
		}, deliverytest.Write)
		o.put("debtor.updated", "a", "b", "c")
		first := x.publishAside("first")
		gate.Await(1)
		x.advance(2 * time.Second) // the rows await the next write now
		second := x.publishAside("second")
		x.advance(time.Second)
		gate.Open()
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
		x.advance(10 * time.Second)
		got := x.publishedBodies()
		slices.Sort(got)
		if want := []string{"c", "first", "second"}; !slices.Equal(got, want) {
			t.Errorf("published %q, want %q", got, want)
		}
		if left := o.remaining(); left != 0 {
			t.Errorf("%d rows are left in the outbox, want none", left)
		}
	})
}

// publishAside publishes debtor.updated while the test goes on, and returns the result.
func (x *simulation) publishAside(body string) <-chan error {
	engine := x.engine
	result := make(chan error, 1)
	go func() {
		_, err := engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte(body)})
		result <- err
	}()
	return result
}

// TestOutboxOfAStoppedEngine checks that an engine that stops leaves unpublished rows in the
// outbox.
func TestOutboxOfAStoppedEngine(t *testing.T) {
	withOutbox(t, func(x *simulation, o *fakeOutbox) {
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("busy")), deliverytest.Write)
		o.put("debtor.updated", numbered(10)...)
		x.advance(10 * time.Second)
		x.stop(testTimeout)
		if left := o.remaining(); left != 10 {
			t.Errorf("%d rows are left in the outbox, want 10", left)
		}
	})
}
