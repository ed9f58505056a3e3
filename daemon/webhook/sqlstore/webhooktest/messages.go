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

// messageRows reads a message in both ways: as an open message, and by its GUIDs.
func messageRows(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	sent := h.publish(&b, noon.Add(time.Second), `{"a":"ä"}`, sub.ID)[0]
	sent.Event.Key = "Ä \"4711\" 😀"
	h.check(h.Engine.Write(ctx, b))

	got, err := h.Admin.Message(ctx, addressOf(sub, sent))
	h.check(err)
	h.expectUnsent("read by its GUID", got, sent)
	open := h.open(lease.Partition, sub.ID)
	h.expectIDs("open messages", open, sent)
	for _, m := range open {
		h.expectUnsent("listed", m, sent)
	}

	for _, address := range []admin.Address{
		{Subscriber: guid(9), Subscription: sub.GUID, Message: sent.GUID},
		{Subscriber: sub.Subscriber, Subscription: guid(9), Message: sent.GUID},
		{Subscriber: sub.Subscriber, Subscription: sub.GUID, Message: guid(1 << 40)},
	} {
		_, err := h.Admin.Message(ctx, address)
		h.expectMissing(err)
	}
}

// expectUnsent compares all columns of a message without an attempt, and of its event.
func (h hooks) expectUnsent(name string, got, want *webhook.Message) {
	h.t.Helper()
	isSame := got.ID == want.ID && got.GUID == want.GUID && got.URL == want.URL
	isHere := got.Partition == want.Partition && got.Subscription == want.Subscription
	isNew := got.Status == webhook.NotSent && got.Attempts == 0 && got.Next.Equal(want.Next)
	if !isSame || !isHere || !isNew {
		h.t.Errorf("%s: the message is %+v, want %+v", name, got, want)
	}

	event, wanted := got.Event, want.Event
	if event.ID != wanted.ID || event.GUID != wanted.GUID || event.Key != wanted.Key {
		h.t.Errorf("%s: the event is %+v, want %+v", name, event, wanted)
	}
	hasBody := slices.Equal(event.Body, wanted.Body)
	if event.Name != wanted.Name || !hasBody || !event.AddedAt.Equal(wanted.AddedAt) {
		h.t.Errorf("%s: the event is %+v, want %+v", name, event, wanted)
	}
}

// specialTexts checks that bodies are stored byte for byte.
func specialTexts(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
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
		h.publish(&b, noon, body, sub.ID)
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	open := h.open(lease.Partition, sub.ID)
	h.expectIDs("open messages", open, b.Messages...)
	for i, m := range open {
		got, want := string(m.Event.Body), bodies[i]
		if got != want {
			h.t.Errorf("body %d is %.60q of %d bytes, want %.60q of %d", i, got, len(got), want, len(want))
		}
	}

	// Responses may contain anything.
	result := attempt(b.Messages[0], 500, webhook.RetryPending, noon)
	result.Text = []byte("\x00\xff" + strings.Repeat("é", 4000))
	result.Detail = "\x00\xc3" + strings.Repeat("é", 4000)
	h.record(lease, result)
}

// pagesOfKey reads the open messages of a subscription with a key.
func pagesOfKey(h hooks) {
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	var sent []*webhook.Message // to sub
	for _, key := range []string{"a", "b", "a", "", "A", "a"} {
		both := h.publish(&b, noon.Add(time.Hour), "{}", sub.ID, otherSub.ID)
		both[0].Event.Key = key
		sent = append(sent, both[0])
	}
	h.check(h.Engine.Write(h.t.Context(), b))

	page := delivery.Page{
		Partition:    lease.Partition,
		Subscription: sub.ID,
		InOrder:      true,
		Key:          "a",
		Limit:        10,
	}
	h.expectIDs("all with the key", h.page(page), sent[0], sent[2], sent[5])
	page.Limit = 2
	h.expectIDs("the first two", h.page(page), sent[0], sent[2])
	page.After.ID = sent[0].ID
	h.expectIDs("the next two", h.page(page), sent[2], sent[5])
	h.record(lease, attempt(sent[2], 200, webhook.Successful, time.Time{}))
	h.expectIDs("after a delivery", h.page(page), sent[5])
	page.Partition++
	h.expectIDs("in another partition", h.page(page))
}

// makeDue makes messages of one subscription and partition due, in two steps: those that were not
// attempted after the URL changed, and those that were, but at the old one.
func makeDue(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 6)
	otherSent := h.send(lease, otherSub.ID, 4)
	later := noon.Add(time.Hour)
	for _, m := range slices.Concat(sent, otherSent) {
		h.record(lease, attempt(m, 500, webhook.RetryPending, later))
	}

	moved := noon.Add(time.Minute)
	now := noon.Add(2 * time.Minute)
	upper := strings.ToUpper(sub.URL) // another URL: the case of a path matters
	for i, url := range []string{sub.URL, "https://shop.example/old", upper} {
		m := sent[3+i]
		m.Attempts = 1
		attempted := attempt(m, 500, webhook.RetryPending, later)
		attempted.Began = moved.Add(time.Second)
		attempted.URL = url
		h.record(lease, attempted)
	}

	for i, want := range []int64{2, 2, 1} {
		n, err := h.Engine.MakeDue(ctx, sub.ID, lease.Partition, moved, now, 2)
		h.check(err)
		if n != want {
			h.t.Errorf("call %d made %d messages due, want %d", i+1, n, want)
		}
	}
	n, err := h.Engine.MakeDue(ctx, otherSub.ID, lease.Partition+1, moved, now, 100)
	h.check(err)
	if n != 0 {
		h.t.Errorf("%d messages of another partition were made due, want none", n)
	}

	due := delivery.Page{Partition: lease.Partition, Subscription: sub.ID, Until: now, Limit: 10}
	h.expectIDs("due messages", h.page(due), sent[0], sent[1], sent[2], sent[4], sent[5])
	due.Subscription = otherSub.ID
	h.expectIDs("due messages of the other subscription", h.page(due))
}

// attemptedURL records attempts at other URLs than those of their messages, which get them. A
// result that is written twice changes nothing.
func attemptedURL(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 3)
	urlOf := func(m *webhook.Message) string {
		h.t.Helper()
		got, err := h.Admin.Message(ctx, addressOf(sub, m))
		h.check(err)
		return got.URL
	}
	first := attempt(sent[0], 500, webhook.RetryPending, noon)
	first.URL = "https://shop.example/ä'\"moved"
	second := attempt(sent[1], 200, webhook.Successful, time.Time{})
	second.URL = sent[1].URL
	h.record(lease, first, second)
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
	h.record(lease, third)
	h.record(lease, first)
	if got := urlOf(sent[0]); got != third.URL {
		h.t.Errorf("the URL is %q after the first attempt was written again, want %q", got, third.URL)
	}
}

// pagesInOrder reads pages of messages in the orders of their due times and of their IDs.
func pagesInOrder(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	dueAt := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	for _, seconds := range []int{5, 1, 3, 1, 0, 3, 9} {
		h.publish(&b, dueAt(seconds), "{}", sub.ID)
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	m := b.Messages
	byDue := []*webhook.Message{m[4], m[1], m[3], m[2], m[5], m[0], m[6]}

	start := delivery.Position{}
	behind := func(m *webhook.Message) delivery.Position {
		return delivery.Position{Next: m.Next, ID: m.ID}
	}
	behindNoMessage := delivery.Position{Next: dueAt(4), ID: 1 << 40}
	const none = -1
	for _, c := range []struct {
		name    string
		after   delivery.Position
		until   int // seconds
		limit   int
		want    []*webhook.Message
		nextDue int // seconds
	}{
		{"from the start", start, 9, 10, byDue, 0},
		{"a limit", start, 9, 2, byDue[:2], 0},
		{"until", start, 3, 10, byDue[:5], 0},
		{"none is due", start, -1, 10, nil, 0},
		{"behind the first of two", behind(m[1]), 9, 3, byDue[2:5], 1},
		{"behind the first of two, a limit", behind(m[1]), 9, 1, byDue[2:3], 1},
		{"behind the second of two", behind(m[3]), 3, 10, byDue[3:5], 3},
		{"behind a place without a message", behindNoMessage, 9, 10, byDue[5:], 5},
		{"before until", behind(m[2]), 2, 10, nil, 3},
		{"behind the last", behind(m[6]), 99, 10, nil, none},
	} {
		page := delivery.Page{
			Partition:    lease.Partition,
			Subscription: sub.ID,
			After:        c.after,
			Until:        dueAt(c.until),
			Limit:        c.limit,
		}
		h.expectPage(c.name, page, c.want...)

		want := dueAt(c.nextDue)
		if c.nextDue == none {
			want = time.Time{}
		}
		got, err := h.Engine.NextDue(h.t.Context(), page)
		h.check(err)
		if !got.Equal(want) {
			h.t.Errorf("%s: the next message is due at %v, want %v", c.name, got, want)
		}
	}

	for _, c := range []struct {
		name  string
		after int64 // ID
		limit int
		want  []*webhook.Message
	}{
		{"in order", 0, 10, m},
		{"in order behind a message", m[2].ID, 2, m[3:5]},
		{"in order behind the last", m[6].ID, 10, nil},
	} {
		page := delivery.Page{
			Partition:    lease.Partition,
			Subscription: sub.ID,
			After:        delivery.Position{Next: dueAt(9), ID: c.after}, // the time is ignored
			InOrder:      true,
			Limit:        c.limit,
		}
		h.expectPage(c.name, page, c.want...)
	}
	h.expectIDs("another partition", h.open(lease.Partition+1, sub.ID))
	h.expectIDs("another subscription", h.open(lease.Partition, sub.ID+1))
}

// outcomesOnce checks that an attempt is stored once, however often it is written,
// and not if its message was removed or has another number of attempts.
func outcomesOnce(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 3)
	retried, failed := sent[0], sent[1]
	gone := sent[2]
	_, err := h.Admin.RemoveMessage(ctx, addressOf(sub, gone))
	h.check(err)

	first := attempt(retried, 500, webhook.RetryPending, noon.Add(time.Minute))
	timeout := attempt(failed, 0, webhook.Failed, time.Time{})
	timeout.Cause = webhook.TimedOut
	timeout.Detail = "after 15 s"
	expectFirst := func() {
		h.t.Helper()
		h.expectState(addressOf(sub, retried), first.After)
		h.expectState(addressOf(sub, failed), webhook.State{Status: webhook.Failed, Attempts: 1})
	}
	for range 2 {
		h.record(lease, first, timeout, attempt(gone, 200, webhook.Successful, time.Time{}))
		expectFirst()
	}
	_, err = h.Admin.Message(ctx, addressOf(sub, gone))
	h.expectMissing(err)

	late := attempt(failed, 200, webhook.Successful, time.Time{})
	late.After.Attempts = 2 // the message is not open any more
	early := first
	early.After.Attempts = 3 // the attempt before is unknown
	h.record(lease, late, early)
	expectFirst()

	second := first
	second.After = webhook.State{Status: webhook.RetryPending, Attempts: 2, Next: noon.Add(time.Hour)}
	third := first
	third.After = webhook.State{Status: webhook.Successful, Attempts: 3}
	h.record(lease, second, third, third) // all in one batch
	h.expectState(addressOf(sub, retried), third.After)
	h.expectIDs("open messages", h.open(lease.Partition, sub.ID))
	h.expectOpenSubscriptions(lease.Partition)
}

// expectOpenSubscriptions checks which subscriptions have open messages in a partition.
func (h hooks) expectOpenSubscriptions(partition int64, want ...int64) {
	h.t.Helper()
	got, err := h.Engine.OpenSubscriptions(h.t.Context(), partition)
	h.check(err)
	if !slices.Equal(got, want) {
		h.t.Errorf("subscriptions with open messages: %v, want %v", got, want)
	}
}

// repeatedWrite writes a batch again, as after an unknown result.
func repeatedWrite(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	delivered := h.publish(&b, noon, "{}", sub.ID)[0]
	h.check(h.Engine.Write(ctx, b))
	h.record(lease, attempt(delivered, 200, webhook.Successful, time.Time{}))

	added := h.publish(&b, noon, "{}", sub.ID)
	h.check(h.Engine.Write(ctx, b))
	h.expectIDs("open messages", h.open(lease.Partition, sub.ID), added...)
	h.expectState(addressOf(sub, delivered), webhook.State{Status: webhook.Successful, Attempts: 1})
}

// publishShared writes an event with a message for each of two subscriptions.
func (h hooks) publishShared(lease delivery.Lease, first, second webhook.Subscription) []*webhook.Message {
	h.t.Helper()
	b := h.batch(lease)
	both := h.publish(&b, noon, "shared", first.ID, second.ID)
	h.check(h.Engine.Write(h.t.Context(), b))
	return both
}

// expectShared checks that a message of an event of publishShared is the only open one of its
// subscription, and has its body.
func (h hooks) expectShared(sub webhook.Subscription, want *webhook.Message) {
	h.t.Helper()
	open := h.open(want.Partition, sub.ID)
	h.expectIDs("open messages of the other subscription", open, want)
	if len(open) == 1 && string(open[0].Event.Body) != "shared" {
		h.t.Errorf("the body of the other message is %q, want %q", open[0].Event.Body, "shared")
	}
}

// removeMessage removes one of two messages of an event, twice.
func removeMessage(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	both := h.publishShared(lease, sub, otherSub)
	message := both[0]
	h.record(lease, attempt(message, 500, webhook.RetryPending, noon))

	removed, err := h.Admin.RemoveMessage(ctx, addressOf(otherSub, message))
	h.check(err)
	if removed != nil {
		h.t.Errorf("removed message %d of another subscriber", removed.ID)
	}
	removed, err = h.Admin.RemoveMessage(ctx, addressOf(sub, message))
	h.check(err)
	if removed == nil || removed.ID != message.ID {
		h.t.Errorf("removed %+v, want message %d", removed, message.ID)
	}
	removed, err = h.Admin.RemoveMessage(ctx, addressOf(sub, message))
	h.check(err)
	if removed != nil {
		h.t.Errorf("removed message %d a second time", removed.ID)
	}
	h.expectIDs("open messages", h.open(lease.Partition, sub.ID))
	h.expectShared(otherSub, both[1])
}

// retryMessage retries a message of each status. Those with an attempt are due at once, apart from
// the delivered one.
func retryMessage(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	later := noon.Add(time.Minute)
	sent := h.oneOfEach(lease, sub)
	due := webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: later}
	for _, c := range []struct {
		name    string
		message *webhook.Message
		want    webhook.State
	}{
		{"not sent", sent.notSent, webhook.State{Next: noon}},
		{"pending", sent.pending, due},
		{"failed", sent.failed, due},
	} {
		_, err := h.Admin.RetryMessage(ctx, addressOf(sub, c.message), later)
		if err != nil {
			h.t.Errorf("retrying the message that is %s: %v", c.name, err)
		}
		h.expectState(addressOf(sub, c.message), c.want)
	}
	_, err := h.Admin.RetryMessage(ctx, addressOf(sub, sent.delivered), later)
	if !fault.Is(err, fault.Conflict) {
		h.t.Errorf("retrying the delivered message: error %v, want Conflict", err)
	}
	h.expectState(addressOf(sub, sent.delivered), webhook.State{Status: webhook.Successful, Attempts: 1})
	h.expectIDs("open messages", h.open(lease.Partition, sub.ID), sent.notSent, sent.pending, sent.failed)

	sent.failed.Attempts = 1
	h.record(lease, attempt(sent.failed, 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(sub, sent.failed), webhook.State{Status: webhook.Successful, Attempts: 2})

	missing := admin.Address{Subscriber: sub.Subscriber, Subscription: sub.GUID, Message: guid(1 << 40)}
	_, err = h.Admin.RetryMessage(ctx, missing, later)
	h.expectMissing(err)
}

// sweepRemoved checks that messages of a removed subscription are invisible
// immediately and deleted in steps.
func sweepRemoved(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	both := h.publishShared(lease, sub, otherSub)
	sent := h.send(lease, sub.ID, 24)
	h.record(lease, attempt(sent[0], 500, webhook.RetryPending, noon))
	now, err := h.Engine.Now(ctx)
	h.check(err)
	removed, err := h.Admin.RemoveSubscription(ctx, sub.Subscriber, sub.GUID, now)
	h.check(err)
	if !removed {
		h.t.Fatal("the subscription was not removed")
	}

	h.expectIDs("open messages of the removed subscription", h.open(lease.Partition, sub.ID))
	_, err = h.Admin.Message(ctx, addressOf(sub, sent[1]))
	h.expectMissing(err)
	h.expectOpenSubscriptions(lease.Partition, otherSub.ID)
	next, err := h.Engine.NextDue(ctx, delivery.Page{Partition: lease.Partition, Subscription: sub.ID})
	h.check(err)
	if !next.IsZero() {
		h.t.Errorf("the next message of the removed subscription is due at %v, want none", next)
	}

	// The result of an attempt that was in flight at the removal.
	h.record(lease, attempt(sent[1], 200, webhook.Successful, time.Time{}))
	for i, want := range []int{10, 10, 5, 0, 0} {
		got, err := h.Engine.Sweep(ctx, 10)
		h.check(err)
		if got.Rows != want || got.More != (want > 0) {
			h.t.Errorf("sweep %d removed %+v, want %d rows, and more unless it is 0", i, got, want)
		}
	}
	h.expectShared(otherSub, both[1])
}

// tenThousand reads a large backlog page by page, in both orders.
func tenThousand(h hooks) {
	const total, batchSize = 10_000, 500
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	for range total / batchSize {
		h.send(lease, sub.ID, batchSize) // all due at the same time
	}
	for _, inOrder := range []bool{false, true} {
		n := h.countByPages(delivery.Page{
			Partition:    lease.Partition,
			Subscription: sub.ID,
			Until:        noon,
			InOrder:      inOrder,
			Limit:        999,
		})
		if n != total {
			h.t.Errorf("in order %v: read %d messages, want %d", inOrder, n, total)
		}
	}
}

// countByPages reads pages from a first one to the end, and returns the number of messages. Their
// IDs must ascend.
func (h hooks) countByPages(p delivery.Page) int {
	h.t.Helper()
	n := 0
	lastID := int64(0)
	for {
		page, err := h.Engine.OpenMessages(h.t.Context(), p)
		h.check(err)
		for _, m := range page {
			if m.ID <= lastID {
				h.t.Fatalf("in order %v: message %d comes after %d", p.InOrder, m.ID, lastID)
			}
			lastID = m.ID
		}
		n += len(page)
		if len(page) < p.Limit {
			return n
		}
		p.After = delivery.Position{Next: page[len(page)-1].Next, ID: lastID}
	}
}
