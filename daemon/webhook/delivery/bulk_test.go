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

// filtered is a selection of the messages that match a query string.
func (h *house) filtered(filter string) admin.Selection {
	h.t.Helper()
	kind, _ := record.System().Lookup("Message")
	members, err := query.ReadForm(filter + "&OrderBy=ItemNo&Fields=ItemNo,Status,Retries")
	if err != nil {
		h.t.Fatal(err)
	}
	return admin.Selection{Max: admin.Unlimited, Select: func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page := append(slices.Clip(members), query.Member{Name: "ItemNoGreaterThan", Texts: []string{fmt.Sprint(after)}},
			query.Member{Name: "ItemNoLessThanOrEqualTo", Texts: []string{fmt.Sprint(last)}}, query.Member{Name: "Take", Texts: []string{fmt.Sprint(limit)}})
		req, err := query.Parse(kind, page, query.Options{})
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
		var all []admin.Candidate
		for {
			cells, err := rows.Next()
			if err != nil || cells == nil {
				return all, err
			}
			all = append(all, admin.Candidate{ID: cells[0].Int, Status: webhook.Status(cells[1].Int), Retries: int(cells[2].Int)})
		}
	}}
}

// state is a state in which many messages are at the beginning of a test.
type state struct {
	webhook.State
	count int
}

// fill makes two subscriptions and messages of theirs, without an engine: those
// of the first have failed for good, those of the other stand in each state.
func (h *house) fill(url, otherURL string, failed int) (r, other webhook.Subscription) {
	h.t.Helper()
	ctx, kept, now := context.Background(), h.store.Webhooks, time.Now().UTC().Truncate(time.Microsecond)
	b, err := kept.AddSubscriber(ctx, admin.Subscriber{Name: "Shop", Enabled: true}, audit.Entry{Actor: audit.System(), At: now})
	if err != nil {
		h.t.Fatal(err)
	}
	h.subject = b.GUID
	lease, err := kept.Lease(ctx, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	add := func(url string, states ...state) webhook.Subscription {
		r, err := kept.AddSubscription(ctx, webhook.Subscription{Subscriber: b.GUID, Pattern: "*", URL: url, Enabled: true, Secret: webhook.NewSecret(), MadeByAdmin: true, SavedAt: now})
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
	other = add(otherURL, state{webhook.State{Next: later}, 10}, state{webhook.State{Status: webhook.Successful, Attempts: 1}, 10},
		state{webhook.State{Status: webhook.RetryPending, Attempts: 2, Next: later}, 10}, state{webhook.State{Status: webhook.Failed, Attempts: 3}, 10})
	return r, other
}

// insert writes messages, each of an event of its own, at once.
func (h *house) insert(lease delivery.Lease, r webhook.Subscription, s state, at time.Time) {
	h.t.Helper()
	ctx, kept := context.Background(), h.store.Webhooks
	version, err := kept.Version(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	first, err := kept.AllocateIDs(ctx, 2*s.count)
	if err != nil {
		h.t.Fatal(err)
	}
	b := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
	for id := first; id < first+2*int64(s.count); id += 2 {
		e := &webhook.Event{ID: id, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", id), Name: "debtor.updated", Body: []byte(fmt.Sprint(id)), AddedAt: at}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{ID: id + 1, GUID: fmt.Sprintf("00000000-0000-7000-8000-%012x", id+1), Event: e,
			Partition: lease.Partition, Subscription: r.ID, URL: r.URL, MadeByAdmin: true, State: s.State})
	}
	if err := kept.Write(ctx, b); err != nil {
		h.t.Fatal(err)
	}
}

// rows are the rows of a subscription's messages with all of their columns.
func (h *house) rows(r webhook.Subscription) []string {
	h.t.Helper()
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: patience})
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	const columns = `ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, LastSavedDateTime,
	HTTPCode, ResponseMessage, MadeByAdmin`
	st, err := conn.Prepare(`SELECT concat_ws('|', ` + strings.ReplaceAll(columns, `,`, `, '',`) + `) FROM SY_WebhookMessage WHERE SubscriptionID = ` + fmt.Sprint(r.ID) + ` ORDER BY ID`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer st.Reset()
	var all []string
	for {
		more, err := st.Step()
		if err != nil {
			h.t.Fatal(err)
		}
		if !more {
			return all
		}
		all = append(all, string(st.Text(0)))
	}
}

// outage is an endpoint that is down for its first requests, which it holds up
// until it is told to answer.
type outage struct {
	down   int // requests that are answered with 503
	answer chan struct{}

	mu                    sync.Mutex
	arrived, flying, most int
	mostDown              int // at once, while it is down
	beside                int // requests that came beside another one, long after the first failures
}

// surelyOpen is the number of requests after which the breaker of a lane must
// be open: as many as are under way when the first one fails, and one more for
// each failure before the one that trips it.
const surelyOpen = 8 + 4

func (o *outage) serve(int, string) int {
	o.mu.Lock()
	o.arrived++
	o.flying++
	down := o.arrived <= o.down
	o.most = max(o.most, o.flying)
	if down {
		o.mostDown = max(o.mostDown, o.flying)
		if o.arrived > surelyOpen && o.flying > 1 {
			o.beside++
		}
	}
	o.mu.Unlock()
	<-o.answer
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flying--
	if down {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// TestAnOutageIsMendedByOneRetry has 5,000 messages that failed for good while
// their endpoint was away, and one retry of them all. The endpoint is not well
// yet.
func TestAnOutageIsMendedByOneRetry(t *testing.T) {
	const failed, down = 5000, 50
	h := newHouse(t)
	h.limit = patience
	h.policy.Schedule = slices.Repeat([]time.Duration{time.Millisecond}, 100)
	o := &outage{down: down, answer: make(chan struct{})}
	shop, other := newEndpoint(t, o.serve), newEndpoint(t, always(200))
	r, untouched := h.fill(shop.URL, other.URL, failed)
	before := h.rows(untouched)
	h.start()

	got, err := h.desk.RetryMessages(context.Background(), h.filtered("Status=3&SubscriptionID="+r.GUID), audit.System())
	if err != nil || got != (admin.BulkResult{Matched: failed, Done: failed}) {
		t.Fatalf("%+v (%v)", got, err)
	}
	close(o.answer)
	shop.awaitTaken(t, failed)
	shop.once(t, failed)
	h.stop(patience)

	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 1 AND NextAttemptDateTime IS NULL", r.ID), failed)
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Attempts = 4", r.ID), failed-int64(late(shop)))
	h.expect("SY_WebhookMessageResponse WHERE Status = 1", failed)
	h.expect("SY_WebhookMessageResponse WHERE HTTPCode = 503", down)
	if after := h.rows(untouched); !slices.Equal(after, before) || len(before) != 40 {
		t.Errorf("the messages of the other subscription have changed:\n%s", strings.Join(after, "\n"))
	}
	if len(other.times) != 0 {
		t.Errorf("the other endpoint got %d messages", len(other.times))
	}
	if o.mostDown > 8 || o.most > 50 || o.beside > 0 || o.arrived != failed+down {
		t.Errorf("%d requests, at most %d at once, %d while it was down, %d beside a probe", o.arrived, o.most, o.mostDown, o.beside)
	}
	t.Logf("%d requests, at most %d at once, %d while it was down", o.arrived, o.most, o.mostDown)
}

// late is how many messages needed more than one request.
func late(e *endpoint) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, times := range e.times {
		if times > 1 {
			n++
		}
	}
	return n
}

// TestManyRetriesReadTheirMessagesOnce: a lane that is told of each batch would
// read what it has in memory again each time.
func TestManyRetriesReadTheirMessagesOnce(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.stop(patience)
		r, _ := x.fill("http://127.0.0.1/hook", "http://127.0.0.1/other", 5000)
		x.exec("DELETE FROM SY_WebhookMessage WHERE SubscriptionID <> " + fmt.Sprint(r.ID))
		x.exec("DELETE FROM WH_Event WHERE EventID NOT IN (SELECT EventID FROM SY_WebhookMessage)")
		x.exec("UPDATE SY_WebhookMessage SET Attempts = 0")
		x.begin()
		got, err := x.desk.RetryMessages(context.Background(), x.filtered("Status=3"), audit.System())
		if err != nil || got.Done != 5000 {
			t.Errorf("%+v (%v)", got, err)
		}
		x.pass(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 5000)
		const page, again = 128, 1000
		if n := x.faulty.Calls(deliverytest.Page); n > 2*(5000+3*again)/page {
			t.Errorf("%d pages were read", n)
		}
	})
}

// TestManyRemovalsCancelWhatIsPending removes messages that are in memory
// already, and those behind them.
func TestManyRemovalsCancelWhatIsPending(t *testing.T) {
	inBubble(t, func(x *trial) {
		r := x.subscribe("http://127.0.0.1/hook", "*")
		x.postman.answers(func(int, *webhook.Message) int { return 503 })
		for range 300 {
			x.publish("debtor.updated", "cancelled")
		}
		x.pass(time.Second / 2)
		selection := x.filtered("SubscriptionID=" + r.GUID)
		selection.DryRun = true
		if got, err := x.desk.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != (admin.BulkResult{Matched: 300, Done: 300}) {
			t.Errorf("a dry run: %+v (%v)", got, err)
		}
		x.expect("SY_WebhookMessage", 300)
		selection.DryRun = false
		if got, err := x.desk.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != (admin.BulkResult{Matched: 300, Done: 300}) {
			t.Errorf("%+v (%v)", got, err)
		}
		sent, _ := x.postman.counts()
		x.postman.answers(func(int, *webhook.Message) int { return 200 })
		x.publish("debtor.updated", "after")
		x.pass(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 1)
		x.expect("WH_Event", 1)
		x.expect("SY_WebhookMessageResponse", 1)
		if now, taken := x.postman.counts(); taken != 1 || now != sent+1 {
			t.Errorf("%d messages were sent, %d before they were removed; %d taken", now, sent, taken)
		}
		x.postman.sent = map[string]int{} // done compares it with what is stored
	})
}

// TestMessagesThatChangeMeanwhile lets messages change between the look at them
// and the work. Those that match no more are left alone, the others are not
// forgotten.
func TestMessagesThatChangeMeanwhile(t *testing.T) {
	h := newHouse(t)
	r, other := h.fill("http://127.0.0.1/hook", "http://127.0.0.1/other", 20)
	h.start()
	selection := h.filtered("StatusIn=2,3")
	pick, looks := selection.Select, 0
	selection.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page, err := pick(ctx, after, last, limit)
		if looks++; looks == 1 {
			x := trial{house: h}
			x.exec(fmt.Sprintf("UPDATE SY_WebhookMessage SET Status = 1 WHERE ID IN (SELECT ID FROM SY_WebhookMessage WHERE SubscriptionID = %d LIMIT 5)", r.ID))
			x.exec(fmt.Sprintf("UPDATE SY_WebhookMessage SET Attempts = Attempts + 1 WHERE SubscriptionID = %d", other.ID))
		}
		return page, err
	}
	got, err := h.desk.RemoveMessages(context.Background(), selection, audit.System())
	if err != nil || got != (admin.BulkResult{Matched: 40, Done: 35}) || looks != 2 {
		t.Errorf("%+v after %d looks (%v)", got, looks, err)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 1", r.ID), 5)
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status IN (0, 1)", other.ID), 20)
	h.expect("SY_WebhookMessage", 25)
}

// TestSomeOfManyMessages is about how many a selection has, and what becomes of
// it when nobody waits for it any more.
func TestSomeOfManyMessages(t *testing.T) {
	h := newHouse(t)
	r, _ := h.fill("http://127.0.0.1/hook", "http://127.0.0.1/other", 1000)
	h.start()
	oldest := h.rows(r)[300:]
	selection := h.filtered("SubscriptionID=" + r.GUID)
	selection.Max = 300
	if got, err := h.desk.RemoveMessages(context.Background(), selection, audit.System()); err != nil || got != (admin.BulkResult{Matched: 300, Done: 300}) {
		t.Errorf("%+v (%v)", got, err)
	}
	if !slices.Equal(h.rows(r), oldest) {
		t.Error("those were not the oldest")
	}
	selection.Max = admin.Unlimited
	ctx, leave := context.WithCancel(context.Background())
	pick := selection.Select
	selection.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		page, err := pick(ctx, after, last, limit)
		leave()
		return page, err
	}
	if got, err := h.desk.RemoveMessages(ctx, selection, audit.System()); !errors.Is(err, context.Canceled) || got.Done != 250 {
		t.Errorf("%+v (%v)", got, err)
	}
	h.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", r.ID), 450)
	h.expect("WH_Audit WHERE Action = 'messages delete' AND Subject = 'messages'", 2)
}
