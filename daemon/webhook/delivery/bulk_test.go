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
// for the first, and messages in every state for the other.
func (h *testEnv) addMessages(url, otherURL string, failed int) (r, other webhook.Subscription) {
	h.t.Helper()
	ctx := context.Background()
	now := time.Now().UTC().Truncate(time.Microsecond)
	kept := h.store.Webhooks
	shop := admin.Subscriber{Name: "Shop", Enabled: true}
	b, err := kept.Admin.AddSubscriber(ctx, shop, audit.Entry{Actor: audit.System(), At: now})
	if err != nil {
		h.t.Fatal(err)
	}
	h.subscriber = b.GUID
	lease, err := kept.Engine.Lease(ctx, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	add := func(url string, states ...state) webhook.Subscription {
		r, err := kept.Admin.AddSubscription(ctx, webhook.Subscription{
			Subscriber:  b.GUID,
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
			h.insert(lease, r, s, now)
		}
		return r
	}

	later := now.Add(time.Hour)
	r = add(url, state{webhook.State{Status: webhook.Failed, Attempts: 3}, failed})
	other = add(otherURL,
		state{webhook.State{Next: later}, 10},
		state{webhook.State{Status: webhook.Successful, Attempts: 1}, 10},
		state{webhook.State{Status: webhook.RetryPending, Attempts: 2, Next: later}, 10},
		state{webhook.State{Status: webhook.Failed, Attempts: 3}, 10})
	return r, other
}

// insert writes messages, each with its own event, in one batch.
func (h *testEnv) insert(lease delivery.Lease, r webhook.Subscription, s state, at time.Time) {
	h.t.Helper()
	ctx, kept := context.Background(), h.store.Webhooks
	version, err := kept.Engine.Version(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	first, err := kept.Engine.AllocateIDs(ctx, 2*s.count)
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
	if err := kept.Engine.Write(ctx, b); err != nil {
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

	mu                             sync.Mutex
	arrived, inFlight, maxInFlight int
	maxWhileDown                   int // concurrent requests during the outage
	overlapping                    int // requests concurrent to another one, after the breaker must be open
}

// breakerOpenAfter is the number of requests after which the breaker must be open:
// those in flight when the first one fails, and one for each failure before the one
// that opens it.
const breakerOpenAfter = 8 + 4

func (o *outage) serve(int, string) int {
	o.mu.Lock()
	o.arrived++
	o.inFlight++
	down := o.arrived <= o.down
	o.maxInFlight = max(o.maxInFlight, o.inFlight)
	if down {
		o.maxWhileDown = max(o.maxWhileDown, o.inFlight)
		if o.arrived > breakerOpenAfter && o.inFlight > 1 {
			o.overlapping++
		}
	}
	o.mu.Unlock()
	<-o.release
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight--
	if down {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// TestBulkRetryAfterOutage retries 5,000 failed messages while their endpoint has not
// fully recovered.
func TestBulkRetryAfterOutage(t *testing.T) {
	const failed, down = 2000, 50
	h := newTestEnv(t)
	h.limit = testTimeout
	h.policy.Schedule = slices.Repeat([]time.Duration{time.Millisecond}, 100)
	o := &outage{down: down, release: make(chan struct{})}
	shop, other := newEndpoint(t, o.serve), newEndpoint(t, always(200))
	r, untouched := h.addMessages(shop.URL, other.URL, failed)
	before := h.messageRows(untouched)
	h.start()

	got, err := h.service.RetryMessages(context.Background(), h.selection("Status=3&SubscriptionID="+r.GUID), audit.System())
	if err != nil || got != (admin.BulkResult{Matched: failed, Done: failed}) {
		t.Fatalf("%+v (%v)", got, err)
	}
	close(o.release)
	shop.awaitDelivered(t, failed)
	shop.checkDeliveredOnce(t, failed)
	h.stop(testTimeout)

	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 1 AND NextAttemptDateTime IS NULL", r.ID), failed)
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Attempts = 4", r.ID), failed-int64(retriedCount(shop)))
	h.expect("SY_WebhookMessageResponse WHERE Status = 1", failed)
	h.expect("SY_WebhookMessageResponse WHERE HTTPCode = 503", down)
	if after := h.messageRows(untouched); !slices.Equal(after, before) || len(before) != 40 {
		t.Errorf("the messages of the other subscription have changed:\n%s", strings.Join(after, "\n"))
	}
	if len(other.times) != 0 {
		t.Errorf("the other endpoint got %d messages", len(other.times))
	}
	if o.maxWhileDown > 8 || o.maxInFlight > 50 || o.overlapping > 0 || o.arrived != failed+down {
		t.Errorf("%d requests, at most %d concurrent, %d during the outage, %d concurrent to a probe",
			o.arrived, o.maxInFlight, o.maxWhileDown, o.overlapping)
	}
	t.Logf("%d requests, at most %d concurrent, %d during the outage", o.arrived, o.maxInFlight, o.maxWhileDown)
}

// retriedCount returns the number of messages that needed more than one request.
func retriedCount(e *endpoint) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, times := range e.times {
		if times > 1 {
			n++
		}
	}
	return n
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
			t.Errorf("%+v (%v)", got, err)
		}
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", messages)
		const page, reread = 128, 1000
		if n := x.faultyStore.Calls(deliverytest.OpenMessages); n > 2*(messages+3*reread)/page {
			t.Errorf("%d pages were read", n)
		}
	})
}

// TestBulkRemovalCancelsPendingAttempts removes messages in memory and others that are
// only in the store.
func TestBulkRemovalCancelsPendingAttempts(t *testing.T) {
	simulate(t, func(x *simulation) {
		r := x.subscribe("http://127.0.0.1/hook", "*")
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 503 })
		for range 300 {
			x.publish("debtor.updated", "cancelled")
		}
		x.advance(time.Second / 2)
		selection := x.selection("SubscriptionID=" + r.GUID)
		selection.DryRun = true
		want := admin.BulkResult{Matched: 300, Done: 300}
		if got, err := x.service.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != want {
			t.Errorf("a dry run: %+v (%v)", got, err)
		}
		x.expect("SY_WebhookMessage", 300)
		selection.DryRun = false
		if got, err := x.service.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != want {
			t.Errorf("%+v (%v)", got, err)
		}
		sent, _ := x.fakeSender.counts()
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.publish("debtor.updated", "after")
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 1)
		x.expect("WH_Event", 1)
		x.expect("SY_WebhookMessageResponse", 1)
		if total, delivered := x.fakeSender.counts(); delivered != 1 || total != sent+1 {
			t.Errorf("%d messages were sent, %d before the removal; %d delivered", total, sent, delivered)
		}
		x.fakeSender.sent = map[string]int{} // which checkFinalState compares with the store
	})
}

// TestBulkRemovalWithConcurrentChanges changes messages between reading and removing
// them. Those that no longer match are kept, the others are removed.
func TestBulkRemovalWithConcurrentChanges(t *testing.T) {
	h := newTestEnv(t)
	r, other := h.addMessages("http://127.0.0.1/hook", "http://127.0.0.1/other", 20)
	h.start()
	selection := h.selection("StatusIn=2,3")
	pick, calls := selection.Select, 0
	selection.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page, err := pick(ctx, after, last, limit)
		calls++
		if calls == 1 {
			x := simulation{testEnv: h}
			x.exec(fmt.Sprintf(`UPDATE SY_WebhookMessage SET Status = 1
				WHERE ID IN (SELECT ID FROM SY_WebhookMessage WHERE SubscriptionID = %d LIMIT 5)`, r.ID))
			x.exec(fmt.Sprintf("UPDATE SY_WebhookMessage SET Attempts = Attempts + 1 WHERE SubscriptionID = %d", other.ID))
		}
		return page, err
	}
	got, err := h.service.RemoveMessages(context.Background(), selection, audit.System())
	want := admin.BulkResult{Matched: 40, Done: 35}
	if err != nil || got != want || calls != 3 { // the page, its changed messages, and none after it
		t.Errorf("%+v after %d reads (%v)", got, calls, err)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 1", r.ID), 5)
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status IN (0, 1)", other.ID), 20)
	h.expect("SY_WebhookMessage", 25)
}

// TestBulkRemovalLimitAndCancel removes a limited number of messages, and cancels a
// removal.
func TestBulkRemovalLimitAndCancel(t *testing.T) {
	h := newTestEnv(t)
	r, _ := h.addMessages("http://127.0.0.1/hook", "http://127.0.0.1/other", 1000)
	h.start()
	oldest := h.messageRows(r)[300:]
	selection := h.selection("SubscriptionID=" + r.GUID)
	selection.Max = 300
	want := admin.BulkResult{Matched: 300, Done: 300}
	if got, err := h.service.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != want {
		t.Errorf("%+v (%v)", got, err)
	}
	if !slices.Equal(h.messageRows(r), oldest) {
		t.Error("the removed messages were not the oldest")
	}
	selection.Max = admin.Unlimited
	ctx, leave := context.WithCancel(context.Background())
	pick := selection.Select
	selection.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page, err := pick(ctx, after, last, limit)
		leave()
		return page, err
	}
	got, err := h.service.RemoveMessages(ctx, selection, audit.System())
	if !errors.Is(err, context.Canceled) || got.Done != 250 {
		t.Errorf("%+v (%v)", got, err)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", r.ID), 450)
	h.expect("WH_Audit WHERE Action = 'messages delete' AND Subject = 'messages'", 2)
}
