package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// selection selects the messages that match a query string.
func (h *testEnv) selection(filter string) admin.Selection {
	h.t.Helper()
	members, err := query.ReadForm(filter + "&OrderBy=ItemNo&Fields=ItemNo,Status,Retries")
	if err != nil {
		h.t.Fatal(err)
	}
	return admin.Selection{
		Max: admin.Unlimited,
		Select: func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
			page := append(slices.Clip(members),
				query.Member{Name: "ItemNoGreaterThan", Texts: []string{fmt.Sprint(after)}},
				query.Member{Name: "ItemNoLessThanOrEqualTo", Texts: []string{fmt.Sprint(last)}},
				query.Member{Name: "Take", Texts: []string{fmt.Sprint(limit)}})
			return h.candidates(ctx, page)
		},
	}
}

// candidates returns the messages of a query for their numbers, states and retries.
func (h *testEnv) candidates(ctx context.Context, members []query.Member) ([]admin.Candidate, error) {
	kind, _ := record.System().Lookup("Message")
	req, err := query.Parse(kind, members, query.Options{})
	if err != nil {
		return nil, err
	}
	plan, err := query.NewPlan(req, false)
	if err != nil {
		return nil, err
	}
	rows, err := h.store.Select(ctx, plan)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var candidates []admin.Candidate
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return candidates, err
		}
		candidates = append(candidates, admin.Candidate{
			ID:      cells[0].Int,
			Status:  webhook.Status(cells[1].Int),
			Retries: int(cells[2].Int),
		})
	}
}

// state is a number of messages with the same state.
type state struct {
	webhook.State
	count int
}

// addMessages creates two subscriptions with messages, without an engine: failed ones
// for the first, and ten in every state for the other.
func (h *testEnv) addMessages(url, otherURL string, failed int) (sub, otherSub webhook.Subscription) {
	h.t.Helper()
	ctx := context.Background()
	now := time.Now().UTC().Truncate(time.Microsecond)
	store := h.store.Webhooks
	shop := admin.Subscriber{Name: "Shop", Enabled: true}
	subscriber, err := store.Admin.AddSubscriber(ctx, shop, audit.Entry{Actor: audit.System(), At: now})
	if err != nil {
		h.t.Fatal(err)
	}
	h.subscriber = subscriber.GUID
	lease, err := store.Engine.Lease(ctx, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	add := func(url string, states ...state) webhook.Subscription {
		sub, err := store.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber:  subscriber.GUID,
			Pattern:     "*",
			URL:         url,
			Enabled:     true,
			Secret:      webhook.NewSecret(),
			MadeByAdmin: true,
			SavedAt:     now,
		}, nil)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, s := range states {
			h.insert(lease, sub, s, now)
		}
		return sub
	}

	later := now.Add(time.Hour)
	sub = add(url, state{webhook.State{Status: webhook.Failed, Attempts: 3}, failed})
	otherSub = add(otherURL,
		state{webhook.State{Next: later}, 10},
		state{webhook.State{Status: webhook.Successful, Attempts: 1}, 10},
		state{webhook.State{Status: webhook.RetryPending, Attempts: 2, Next: later}, 10},
		state{webhook.State{Status: webhook.Failed, Attempts: 3}, 10})
	return sub, otherSub
}

// insert writes messages, each with its own event, in one batch.
func (h *testEnv) insert(lease delivery.Lease, r webhook.Subscription, s state, at time.Time) {
	h.t.Helper()
	ctx := context.Background()
	store := h.store.Webhooks
	version, err := store.Engine.Version(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	first, err := store.Engine.AllocateIDs(ctx, 2*s.count)
	if err != nil {
		h.t.Fatal(err)
	}
	b := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
	for id := first; id < first+2*int64(s.count); id += 2 {
		e := &webhook.Event{
			ID:      id,
			GUID:    fmt.Sprintf("00000000-0000-7000-8000-%012x", id),
			Name:    "debtor.updated",
			Body:    []byte(fmt.Sprint(id)),
			AddedAt: at,
		}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{
			ID:           id + 1,
			GUID:         fmt.Sprintf("00000000-0000-7000-8000-%012x", id+1),
			Event:        e,
			Partition:    lease.Partition,
			Subscription: r.ID,
			URL:          r.URL,
			MadeByAdmin:  true,
			State:        s.State,
		})
	}
	err = store.Engine.Write(ctx, b)
	if err != nil {
		h.t.Fatal(err)
	}
}

// messageRows returns all columns of a subscription's messages.
func (h *testEnv) messageRows(r webhook.Subscription) []string {
	h.t.Helper()
	const columns = `ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime,
	AddedDateTime, LastSavedDateTime, HTTPCode, ResponseMessage, MadeByAdmin`
	return h.texts(`SELECT concat_ws('|', ` + strings.ReplaceAll(columns, `,`, `, '',`) + `) FROM SY_WebhookMessage
		WHERE SubscriptionID = ` + fmt.Sprint(r.ID) + ` ORDER BY ID`)
}

// texts returns the first column of the rows that a query returns.
func (h *testEnv) texts(statement string) []string {
	h.t.Helper()
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: testTimeout})
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	st, err := conn.Prepare(statement)
	if err != nil {
		h.t.Fatal(err)
	}
	defer st.Reset()
	var texts []string
	for {
		exists, err := st.Step()
		if err != nil {
			h.t.Fatal(err)
		}
		if !exists {
			return texts
		}
		texts = append(texts, string(st.Text(0)))
	}
}

// outage is an endpoint that fails for its first requests and responds only once
// released.
type outage struct {
	down    int // number of requests with a 503 response
	release chan struct{}

	mu           sync.Mutex
	arrived      int // requests
	inFlight     int
	maxInFlight  int
	maxWhileDown int // concurrent requests during the outage
	overlapping  int // requests concurrent to another one, after the breaker must be open
}

// breakerOpenAfter is the number of requests after which the breaker must be open:
// those in flight when the first one fails, and one for each failure before the one
// that opens it.
const breakerOpenAfter = 8 + 4

// serve counts a request and returns its status once released.
func (o *outage) serve(int, string) int {
	status := o.begin()
	<-o.release
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight--
	return status
}

// begin counts a request, and returns its status.
func (o *outage) begin() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.arrived++
	o.inFlight++
	o.maxInFlight = max(o.maxInFlight, o.inFlight)
	if o.arrived > o.down {
		return http.StatusOK
	}
	o.maxWhileDown = max(o.maxWhileDown, o.inFlight)
	if o.arrived > breakerOpenAfter && o.inFlight > 1 {
		o.overlapping++
	}
	return http.StatusServiceUnavailable
}

// TestBulkRetryAfterOutage retries failed messages while their endpoint has not
// fully recovered.
func TestBulkRetryAfterOutage(t *testing.T) {
	const failed, down = 2000, 50
	h := newTestEnv(t)
	h.limit = testTimeout
	h.policy.Schedule = slices.Repeat([]time.Duration{time.Millisecond}, 100)
	o := &outage{down: down, release: make(chan struct{})}
	shop, other := newEndpoint(t, o.serve), newEndpoint(t, always(200))
	sub, untouched := h.addMessages(shop.URL, other.URL, failed)
	before := h.messageRows(untouched)
	if len(before) != 40 {
		t.Fatalf("the other subscription has %d messages, want 40", len(before))
	}
	h.start()

	selection := h.selection("Status=3&SubscriptionID=" + sub.GUID)
	got, err := h.service.RetryMessages(context.Background(), selection, audit.System())
	if want := (admin.BulkResult{Matched: failed, Done: failed}); err != nil || got != want {
		t.Fatalf("the retry returned %+v (%v), want %+v", got, err, want)
	}
	close(o.release)
	shop.awaitDelivered(t, failed)
	shop.checkDeliveredOnce(t, failed)
	h.stop(testTimeout)

	ofSub := fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", sub.ID)
	h.expect(ofSub+" AND Status = 1 AND NextAttemptDateTime IS NULL", failed)
	h.expect(ofSub+" AND Attempts = 4", failed-int64(retriedCount(shop)))
	h.expect("SY_WebhookMessageResponse WHERE Status = 1", failed)
	h.expect("SY_WebhookMessageResponse WHERE HTTPCode = 503", down)
	if after := h.messageRows(untouched); !slices.Equal(after, before) {
		t.Errorf("the messages of the other subscription have changed to\n%s, want\n%s",
			strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	other.checkDeliveredOnce(t, 0)
	o.check(t, failed+down)
}

// retriedCount returns the number of messages that needed more than one request.
func retriedCount(e *endpoint) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, times := range e.times {
		if times > 1 {
			n++
		}
	}
	return n
}

// check checks the number of requests, and how many were concurrent.
func (o *outage) check(t *testing.T, requests int) {
	t.Helper()
	if o.arrived != requests {
		t.Errorf("%d requests, want %d", o.arrived, requests)
	}
	if o.maxWhileDown > 8 || o.overlapping > 0 {
		t.Errorf("during the outage %d requests were concurrent, and %d to a probe, want at most 8 and none",
			o.maxWhileDown, o.overlapping)
	}
	if o.maxInFlight > 50 {
		t.Errorf("%d requests were concurrent, want at most 50", o.maxInFlight)
	}
	t.Logf("%d requests, at most %d concurrent, %d during the outage", o.arrived, o.maxInFlight, o.maxWhileDown)
}

// TestBulkRetryReadsMessagesOnce: if the queue were notified of each batch, it would
// read its messages again each time.
func TestBulkRetryReadsMessagesOnce(t *testing.T) {
	const messages = 2000
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		r, _ := x.addMessages("http://127.0.0.1/hook", "http://127.0.0.1/other", messages)
		x.exec("DELETE FROM SY_WebhookMessage WHERE SubscriptionID <> " + fmt.Sprint(r.ID))
		x.exec("DELETE FROM WH_Event WHERE EventID NOT IN (SELECT EventID FROM SY_WebhookMessage)")
		x.exec("UPDATE SY_WebhookMessage SET Attempts = 0")
		x.startEngine()
		got, err := x.service.RetryMessages(context.Background(), x.selection("Status=3"), audit.System())
		if err != nil || got.Done != messages {
			t.Errorf("the retry returned %+v (%v), want %d done", got, err, messages)
		}
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", messages)

		const pageSize, reread = 128, 1000 // messages
		const maxPages = 2 * (messages + 3*reread) / pageSize
		if n := x.faultyStore.Calls(deliverytest.OpenMessages); n > maxPages {
			t.Errorf("%d pages were read, want at most %d", n, maxPages)
		}
	})
}

// removeSelected removes the messages of a selection.
func (h *testEnv) removeSelected(s admin.Selection) admin.BulkResult {
	h.t.Helper()
	result, err := h.service.RemoveMessages(context.Background(), s, audit.System())
	if err != nil {
		h.t.Fatal(err)
	}
	return result
}

// TestBulkRemovalCancelsPendingAttempts removes messages in memory and others that are
// only in the store.
func TestBulkRemovalCancelsPendingAttempts(t *testing.T) {
	simulate(t, func(x *simulation) {
		const messages = 300
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 503 })
		for range messages {
			x.publish("debtor.updated", "cancelled")
		}
		x.advance(time.Second / 2)

		selection := x.selection("SubscriptionID=" + sub.GUID)
		want := admin.BulkResult{Matched: messages, Done: messages}
		selection.DryRun = true
		if got := x.removeSelected(selection); got != want {
			t.Errorf("a dry run returned %+v, want %+v", got, want)
		}
		x.expect("SY_WebhookMessage", messages)
		selection.DryRun = false
		if got := x.removeSelected(selection); got != want {
			t.Errorf("the removal returned %+v, want %+v", got, want)
		}

		// Only a message that is published later is sent.
		before, _ := x.fakeSender.counts()
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.publish("debtor.updated", "after")
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 1)
		x.expect("WH_Event", 1)
		x.expect("SY_WebhookMessageResponse", 1)
		sent, delivered := x.fakeSender.counts()
		if sent != before+1 || delivered != 1 {
			t.Errorf("%d messages were sent and %d delivered, want one more than %d sent, and 1 delivered",
				sent, delivered, before)
		}
		clear(x.fakeSender.sent) // which checkFinalState compares with the store
	})
}

// afterSelect makes a selection call a function after each page that it has read.
func afterSelect(s *admin.Selection, run func()) {
	selectPage := s.Select
	s.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page, err := selectPage(ctx, after, last, limit)
		run()
		return page, err
	}
}

// TestBulkRemovalWithConcurrentChanges changes messages between reading and removing
// them. Those that no longer match are kept, the others are removed.
func TestBulkRemovalWithConcurrentChanges(t *testing.T) {
	h := newTestEnv(t)
	sub, otherSub := h.addMessages("http://127.0.0.1/hook", "http://127.0.0.1/other", 20)
	h.start()
	selection := h.selection("StatusIn=2,3")
	calls := 0
	afterSelect(&selection, func() {
		calls++
		if calls > 1 {
			return
		}
		x := simulation{testEnv: h}
		x.exec(fmt.Sprintf(`UPDATE SY_WebhookMessage SET Status = 1
			WHERE ID IN (SELECT ID FROM SY_WebhookMessage WHERE SubscriptionID = %d LIMIT 5)`, sub.ID))
		x.exec(fmt.Sprintf("UPDATE SY_WebhookMessage SET Attempts = Attempts + 1 WHERE SubscriptionID = %d", otherSub.ID))
	})

	got := h.removeSelected(selection)
	want := admin.BulkResult{Matched: 40, Done: 35}
	if got != want {
		t.Errorf("the removal returned %+v, want %+v", got, want)
	}
	if calls != 3 {
		t.Errorf("%d pages were read, want 3: one, its changed messages, and none after it", calls)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 1", sub.ID), 5)
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status IN (0, 1)", otherSub.ID), 20)
	h.expect("SY_WebhookMessage", 25)
}

// TestBulkRemovalLimitAndCancel removes a limited number of messages, and cancels a
// removal.
func TestBulkRemovalLimitAndCancel(t *testing.T) {
	const messages, limit = 1000, 300
	h := newTestEnv(t)
	sub, _ := h.addMessages("http://127.0.0.1/hook", "http://127.0.0.1/other", messages)
	h.start()
	newest := h.messageRows(sub)[limit:]
	selection := h.selection("SubscriptionID=" + sub.GUID)
	selection.Max = limit
	want := admin.BulkResult{Matched: limit, Done: limit}
	if got := h.removeSelected(selection); got != want {
		t.Errorf("the limited removal returned %+v, want %+v", got, want)
	}
	if !slices.Equal(h.messageRows(sub), newest) {
		t.Error("the removed messages were not the oldest")
	}

	selection.Max = admin.Unlimited
	ctx, cancel := context.WithCancel(context.Background())
	afterSelect(&selection, cancel)
	got, err := h.service.RemoveMessages(ctx, selection, audit.System())
	const step = 250 // messages that were removed before the removal noticed
	if !errors.Is(err, context.Canceled) || got.Done != step {
		t.Errorf("the cancelled removal returned %+v (%v), want %d done and %v", got, err, step, context.Canceled)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", sub.ID), messages-limit-step)
	h.expect("WH_Audit WHERE Action = 'messages delete' AND Subject = 'messages'", 2)
}
