package webhooktest

import (
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func messageRows(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	sent := h.publish(&b, noon.Add(time.Second), `{"a":"ä"}`, r.ID)[0]
	sent.Event.Key = "Ä \"4711\" 😀"
	h.check(h.Engine.Write(ctx, b))
	got, err := h.Admin.Message(ctx, addressOf(r, sent))
	h.check(err)
	for _, m := range append(h.open(l.Partition, r.ID), got) {
		isSame := m.ID == sent.ID && m.GUID == sent.GUID && m.URL == sent.URL
		isHere := m.Partition == l.Partition && m.Subscription == r.ID
		isNew := m.Status == webhook.NotSent && m.Attempts == 0 && m.Next.Equal(sent.Next)
		if !isSame || !isHere || !isNew {
			h.t.Errorf("message is %+v, want %+v", m, sent)
		}
		e := m.Event
		if e.ID != sent.Event.ID || e.GUID != sent.Event.GUID || e.Key != sent.Event.Key {
			h.t.Errorf("event is %+v, want %+v", e, sent.Event)
		}
		if e.Name != "debtor.created" || string(e.Body) != `{"a":"ä"}` || !e.AddedAt.Equal(noon) {
			h.t.Errorf("event is %+v, want %+v", e, sent.Event)
		}
	}
	for _, a := range []admin.Address{
		{Subscriber: guid(9), Subscription: r.GUID, Message: sent.GUID},
		{Subscriber: r.Subscriber, Subscription: guid(9), Message: sent.GUID},
		{Subscriber: r.Subscriber, Subscription: r.GUID, Message: guid(1 << 40)},
	} {
		_, err := h.Admin.Message(ctx, a)
		h.expectMissing(err)
	}
}

// specialTexts checks that bodies are stored byte for byte.
func specialTexts(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	b := h.batch(l)
	bodies := []string{
		"",
		" ",
		"  x  ",
		"\t\r\n",
		`"\` + "\\u0041\u2028\u2029",
		"<&>'%_[",
		"日本語 😀 \U0010FFFF é e\u0301",
		"\x01\x1f\x7f\u0080\uFFFD\uFFFE\uFEFF",
		strings.Repeat("long ", 100_000),
	}
	for _, body := range bodies {
		h.publish(&b, noon, body, r.ID)
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	for i, m := range h.open(l.Partition, r.ID) {
		if string(m.Event.Body) != bodies[i] {
			h.t.Errorf("body is %.60q of %d bytes, want %.60q of %d", m.Event.Body, len(m.Event.Body), bodies[i], len(bodies[i]))
		}
	}
	// responses may contain anything
	o := attempt(b.Messages[0], 500, webhook.RetryPending, noon)
	o.Text = []byte("\x00\xff" + strings.Repeat("é", 4000))
	o.Detail = "\x00\xc3" + strings.Repeat("é", 4000)
	h.record(l, o)
}

// pagesOfKey reads the open messages of a subscription with a key.
func pagesOfKey(h hooks) {
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	for _, key := range []string{"a", "b", "a", "", "A", "a"} {
		h.publish(&b, noon.Add(time.Hour), "{}", r.ID, other.ID)[0].Event.Key = key
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	var m []*webhook.Message // of r
	for i := 0; i < len(b.Messages); i += 2 {
		m = append(m, b.Messages[i])
	}
	page := delivery.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Key: "a", Limit: 10}
	h.expectIDs("all", h.page(page), m[0], m[2], m[5])
	page.Limit = 2
	h.expectIDs("the first two", h.page(page), m[0], m[2])
	page.After.ID = m[0].ID
	h.expectIDs("the next two", h.page(page), m[2], m[5])
	h.record(l, attempt(m[2], 200, webhook.Successful, time.Time{}))
	h.expectIDs("open ones", h.page(page), m[5])
	page.Partition++
	h.expectIDs("of another partition", h.page(page))
}

// makeDue makes messages of one subscription and partition due, in two steps, but not those that
// have been attempted since.
func makeDue(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	for range 4 {
		h.publish(&b, noon, "{}", r.ID, other.ID)
	}
	h.check(h.Engine.Write(ctx, b))
	later := noon.Add(time.Hour)
	for _, m := range b.Messages {
		h.record(l, attempt(m, 500, webhook.RetryPending, later))
	}
	at := noon.Add(time.Minute)
	lastOfR := b.Messages[6]
	lastOfR.Attempts = 1
	attempted := attempt(lastOfR, 500, webhook.RetryPending, later)
	attempted.Began = at.Add(time.Second)
	h.record(l, attempted)

	for i, want := range []int64{2, 1, 0} {
		n, err := h.Engine.MakeDue(ctx, r.ID, l.Partition, at, 2)
		h.check(err)
		if n != want {
			h.t.Errorf("call %d made %d messages due, want %d", i+1, n, want)
		}
	}
	n, err := h.Engine.MakeDue(ctx, other.ID, l.Partition+1, at, 100)
	h.check(err)
	if n != 0 {
		h.t.Errorf("%d messages of another partition were made due", n)
	}
	due := delivery.Page{Partition: l.Partition, Subscription: r.ID, Until: at, Limit: 10}
	h.expectIDs("due", h.page(due), b.Messages[0], b.Messages[2], b.Messages[4])
	due.Subscription = other.ID
	h.expectIDs("due of the other subscription", h.page(due))
}

// attemptedURL records attempts at other URLs than those of their messages, which get them. A
// result that is written twice changes nothing.
func attemptedURL(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	sent := h.send(l, r.ID, 3)
	urlOf := func(m *webhook.Message) string {
		got, err := h.Admin.Message(ctx, addressOf(r, m))
		h.check(err)
		return got.URL
	}
	first := attempt(sent[0], 500, webhook.RetryPending, noon)
	first.URL = "https://shop.example/ä'\"moved"
	second := attempt(sent[1], 200, webhook.Successful, time.Time{})
	second.URL = sent[1].URL
	h.record(l, first, second)
	for i, want := range []string{first.URL, sent[1].URL, sent[2].URL} {
		if got := urlOf(sent[i]); got != want {
			h.t.Errorf("message %d has the URL %q, want %q", i+1, got, want)
		}
	}

	moved := *sent[0]
	moved.Attempts = 1
	moved.URL = first.URL
	third := attempt(&moved, 200, webhook.Successful, time.Time{})
	third.URL = "https://shop.example/third"
	h.record(l, third)
	h.record(l, first)
	if got := urlOf(sent[0]); got != third.URL {
		h.t.Errorf("the URL is %q after the first attempt was written again, want %q", got, third.URL)
	}
}

func pagesInOrder(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	b := h.batch(l)
	dues := []int{5, 1, 3, 1, 0, 3, 9}
	for _, s := range dues {
		h.publish(&b, noon.Add(time.Duration(s)*time.Second), "{}", r.ID)
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	m := b.Messages
	at := func(s int, id int64) delivery.Position {
		return delivery.Position{Next: noon.Add(time.Duration(s) * time.Second), ID: id}
	}
	for _, c := range []struct {
		name    string
		after   delivery.Position
		until   int
		inOrder bool
		limit   int
		want    []*webhook.Message
		due     int // -1: none is due
	}{
		{"from the start", delivery.Position{}, 9, false, 10, []*webhook.Message{m[4], m[1], m[3], m[2], m[5], m[0], m[6]}, 0},
		{"a limit", delivery.Position{}, 9, false, 2, []*webhook.Message{m[4], m[1]}, 0},
		{"until", delivery.Position{}, 3, false, 10, []*webhook.Message{m[4], m[1], m[3], m[2], m[5]}, 0},
		{"none is due", delivery.Position{}, -1, false, 10, nil, 0},
		{"behind the first of two", at(1, m[1].ID), 9, false, 3, []*webhook.Message{m[3], m[2], m[5]}, 1},
		{"behind the first of two, a limit", at(1, m[1].ID), 9, false, 1, []*webhook.Message{m[3]}, 1},
		{"behind the second of two", at(1, m[3].ID), 3, false, 10, []*webhook.Message{m[2], m[5]}, 3},
		{"behind a place without a message", at(4, 1<<40), 9, false, 10, []*webhook.Message{m[0], m[6]}, 5},
		{"before until", at(3, m[2].ID), 2, false, 10, nil, 3},
		{"behind the last", at(9, m[6].ID), 99, false, 10, nil, -1},
		{"in order", delivery.Position{}, 0, true, 10, m, 0},
		{"in order behind a number", at(9, m[2].ID), 0, true, 2, m[3:5], 0},
		{"in order behind the last", at(0, m[6].ID), 99, true, 10, nil, 0},
	} {
		p := delivery.Page{
			Partition:    l.Partition,
			Subscription: r.ID,
			After:        c.after,
			Until:        at(c.until, 0).Next,
			InOrder:      c.inOrder,
			Limit:        c.limit,
		}
		got, err := h.Engine.OpenMessages(h.t.Context(), p)
		h.check(err)
		h.expectIDs(c.name, got, c.want...)
		if c.inOrder {
			continue
		}
		due, err := h.Engine.NextDue(h.t.Context(), p)
		h.check(err)
		want := at(c.due, 0).Next
		if c.due < 0 {
			want = time.Time{}
		}
		if !due.Equal(want) {
			h.t.Errorf("%s: due %v, want %v", c.name, due, want)
		}
	}
	h.expectIDs("another partition", h.open(l.Partition+1, r.ID))
	h.expectIDs("another subscription", h.open(l.Partition, r.ID+1))
}

// outcomesOnce checks that an attempt is stored once, however often it is written,
// and not if its message was removed.
func outcomesOnce(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	sent := h.send(l, r.ID, 3)
	a, b := sent[0], sent[1]
	gone := sent[2]
	_, err := h.Admin.RemoveMessage(h.t.Context(), addressOf(r, gone))
	h.check(err)
	first := attempt(a, 500, webhook.RetryPending, noon.Add(time.Minute))
	timeout := attempt(b, 0, webhook.Failed, time.Time{})
	timeout.Cause = webhook.TimedOut
	timeout.Detail = "after 15 s"
	for range 2 {
		h.record(l, first, timeout, attempt(gone, 200, webhook.Successful, time.Time{}))
		h.expectState(addressOf(r, a), webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: noon.Add(time.Minute)})
		h.expectState(addressOf(r, b), webhook.State{Status: webhook.Failed, Attempts: 1})
	}
	_, err = h.Admin.Message(h.t.Context(), addressOf(r, gone))
	h.expectMissing(err)
	late := attempt(b, 200, webhook.Successful, time.Time{})
	late.After.Attempts = 2 // of a message that is not open any more
	early := first
	early.After.Attempts = 3 // the attempt before is unknown
	h.record(l, late, early)
	h.expectState(addressOf(r, a), webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: noon.Add(time.Minute)})
	h.expectState(addressOf(r, b), webhook.State{Status: webhook.Failed, Attempts: 1})
	second := first
	second.After = webhook.State{Status: webhook.RetryPending, Attempts: 2, Next: noon.Add(time.Hour)}
	third := first
	third.After = webhook.State{Status: webhook.Successful, Attempts: 3}
	h.record(l, second, third, third) // all in one batch
	h.expectState(addressOf(r, a), webhook.State{Status: webhook.Successful, Attempts: 3})
	h.expectIDs("open", h.open(l.Partition, r.ID))
	if open, err := h.Engine.OpenSubscriptions(h.t.Context(), l.Partition); err != nil || len(open) != 0 {
		h.t.Errorf("open are %v (%v)", open, err)
	}
}

// repeatedWrite writes a batch again, as after an unknown result.
func repeatedWrite(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	b := h.batch(l)
	m := h.publish(&b, noon, "{}", r.ID)[0]
	h.check(h.Engine.Write(h.t.Context(), b))
	h.record(l, attempt(m, 200, webhook.Successful, time.Time{}))
	added := h.publish(&b, noon, "{}", r.ID)
	h.check(h.Engine.Write(h.t.Context(), b))
	h.expectIDs("after both", h.open(l.Partition, r.ID), added...)
	h.expectState(addressOf(r, m), webhook.State{Status: webhook.Successful, Attempts: 1})
}

func removeMessage(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	both := h.publish(&b, noon, "shared", r.ID, other.ID)
	h.check(h.Engine.Write(ctx, b))
	h.record(l, attempt(both[0], 500, webhook.RetryPending, noon))
	if gone, err := h.Admin.RemoveMessage(ctx, addressOf(other, both[0])); gone != nil || err != nil {
		h.t.Errorf("removed a message of another subscriber: %v (%v)", gone, err)
	}
	if gone, err := h.Admin.RemoveMessage(ctx, addressOf(r, both[0])); err != nil || gone == nil || gone.ID != both[0].ID {
		h.t.Errorf("removed %v (%v)", gone, err)
	}
	if gone, err := h.Admin.RemoveMessage(ctx, addressOf(r, both[0])); gone != nil || err != nil {
		h.t.Errorf("removed again: %v (%v)", gone, err)
	}
	h.expectIDs("of the first", h.open(l.Partition, r.ID))
	left := h.open(l.Partition, other.ID)
	h.expectIDs("of the other", left, both[1])
	if len(left) == 1 && string(left[0].Event.Body) != "shared" {
		h.t.Errorf("body is %q", left[0].Event.Body)
	}
}

func retryMessage(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	later := noon.Add(time.Minute)
	sent := h.send(l, r.ID, 4)
	h.record(l, attempt(sent[1], 200, webhook.Successful, time.Time{}),
		attempt(sent[2], 500, webhook.RetryPending, noon.Add(time.Hour)), attempt(sent[3], 410, webhook.Failed, time.Time{}))
	want := []webhook.State{
		{Next: noon}, {Status: webhook.Successful, Attempts: 1},
		{Status: webhook.RetryPending, Attempts: 1, Next: later}, {Status: webhook.RetryPending, Attempts: 1, Next: later},
	}
	for i, m := range sent {
		_, err := h.Admin.RetryMessage(ctx, addressOf(r, m), later)
		wasReceived := i == 1
		if fault.Is(err, fault.Conflict) != wasReceived || !wasReceived && err != nil {
			h.t.Errorf("message %d: %v", i, err)
		}
		h.expectState(addressOf(r, m), want[i])
	}
	h.expectIDs("open", h.open(l.Partition, r.ID), sent[0], sent[2], sent[3])
	sent[3].Attempts = 1
	h.record(l, attempt(sent[3], 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(r, sent[3]), webhook.State{Status: webhook.Successful, Attempts: 2})
	_, err := h.Admin.RetryMessage(ctx, admin.Address{Subscriber: r.Subscriber, Subscription: r.GUID, Message: guid(1 << 40)}, later)
	h.expectMissing(err)
}

// sweepRemoved checks that messages of a removed subscription are invisible
// immediately and deleted in steps.
func sweepRemoved(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	b := h.batch(l)
	shared := h.publish(&b, noon, "shared", r.ID, other.ID)
	h.check(h.Engine.Write(ctx, b))
	sent := h.send(l, r.ID, 24)
	h.record(l, attempt(sent[0], 500, webhook.RetryPending, noon))
	now, err := h.Engine.Now(ctx)
	h.check(err)
	if removed, err := h.Admin.RemoveSubscription(ctx, r.Subscriber, r.GUID, now); err != nil || !removed {
		h.t.Fatalf("removed %v (%v)", removed, err)
	}
	h.expectIDs("of a removed subscription", h.open(l.Partition, r.ID))
	_, err = h.Admin.Message(ctx, addressOf(r, sent[1]))
	h.expectMissing(err)
	if open, err := h.Engine.OpenSubscriptions(ctx, l.Partition); err != nil || !slices.Equal(open, []int64{other.ID}) {
		h.t.Errorf("open are %v (%v)", open, err)
	}
	if due, err := h.Engine.NextDue(ctx, delivery.Page{Partition: l.Partition, Subscription: r.ID}); err != nil || !due.IsZero() {
		h.t.Errorf("due %v (%v)", due, err)
	}
	h.record(l, attempt(sent[1], 200, webhook.Successful, time.Time{})) // a result that was in flight
	for i, want := range []int{10, 10, 5, 0, 0} {
		if r, err := h.Engine.Sweep(ctx, 10); err != nil || r.Rows != want || r.More != (want > 0) {
			h.t.Errorf("sweep %d: %+v (%v), want %d", i, r, err, want)
		}
	}
	left := h.open(l.Partition, other.ID)
	h.expectIDs("of the other", left, shared[1])
	if len(left) == 1 && string(left[0].Event.Body) != "shared" {
		h.t.Errorf("body is %q", left[0].Event.Body)
	}
}

// tenThousand reads a large backlog page by page, in both orders.
func tenThousand(h hooks) {
	const total, size = 10_000, 500
	ctx := h.t.Context()
	r := h.subscribe()
	l := h.lease(time.Hour)
	for range total / size {
		h.send(l, r.ID, size) // all due at the same time
	}
	for _, inOrder := range []bool{false, true} {
		p := delivery.Page{Partition: l.Partition, Subscription: r.ID, Until: noon, InOrder: inOrder, Limit: 999}
		var last int64
		n := 0
		for {
			page, err := h.Engine.OpenMessages(ctx, p)
			h.check(err)
			for _, m := range page {
				if m.ID <= last {
					h.t.Fatalf("message %d comes after %d", m.ID, last)
				}
				last = m.ID
			}
			n += len(page)
			if len(page) < p.Limit {
				break
			}
			p.After = delivery.Position{Next: page[len(page)-1].Next, ID: last}
		}
		if n != total {
			h.t.Errorf("%d messages, want %d", n, total)
		}
	}
}
