package webhooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// lists is a store with messages, and the values to filter them by.
type lists struct {
	h     hooks
	store *storage.Store
	lease delivery.Lease
	subs  []webhook.Subscription
	sent  []*webhook.Message
	ids   map[string][]string // values of fields
	last  int64               // highest ID

	pages, totals int // number of lists with statements of their own
}

// messageLists compares lists of messages and attempts with the same lists read in the
// general way, which joins and sorts everything, while messages are added, attempted,
// retried and removed in every way.
func messageLists(h hooks) {
	ctx := h.t.Context()
	ls := &lists{
		h:     h,
		store: h.reopen(),
		lease: h.lease(time.Hour),
		ids:   map[string][]string{"SubscriberID": {guid(1)}, "SubscriptionID": {guid(2)}},
	}
	ls.subscribeAll()
	ls.sendAll()
	ls.compare("after sending")
	ls.shortPages()
	ls.hiddenBodies()
	ls.pagesByCursor()
	ls.importSome()
	ls.compare("after an import")
	ls.drawnPages()

	ls.changeFailed()
	ls.sendAll()
	ls.compare("after retries and removals")

	for _, sub := range []webhook.Subscription{ls.subs[2], ls.subs[5]} {
		_, err := h.Admin.RemoveSubscription(ctx, sub.Subscriber, sub.GUID, noon)
		h.check(err)
	}
	_, err := h.Admin.RemoveSubscriber(ctx, ls.subs[1].Subscriber, auditEntry())
	h.check(err)
	ls.compare("after removals of subscriptions")

	later := noon.Add(time.Second)
	_, err = h.Engine.Prune(ctx, delivery.Prune{Limit: 20, Successful: later, Failed: later})
	h.check(err)
	ls.sweepAll()
	ls.compare("after pruning and sweeping")

	if ls.pages == 0 || ls.totals == 0 {
		h.t.Errorf("%d pages and %d totals had statements of their own, want some of each", ls.pages, ls.totals)
	}
}

// subscribeAll adds three subscribers, with one, two and three subscriptions.
func (ls *lists) subscribeAll() {
	for n := range 3 {
		first := ls.h.subscribe()
		ls.subs = append(ls.subs, first)
		for range n {
			sub, err := ls.h.Admin.AddSubscription(ls.h.t.Context(), webhook.Subscription{
				Subscriber: first.Subscriber,
				Pattern:    "*",
				URL:        "http://a",
				Secret:     "s",
				SavedAt:    noon,
			}, nil)
			ls.h.check(err)
			ls.subs = append(ls.subs, sub)
		}
	}
	for _, sub := range ls.subs {
		ls.ids["SubscriberID"] = append(ls.ids["SubscriberID"], sub.Subscriber)
		ls.ids["SubscriptionID"] = append(ls.ids["SubscriptionID"], sub.GUID)
	}
}

// sendAll writes 60 events, with keys and without, and records attempts. Most messages are for the
// first subscription, none for the last but one. From the second time on, a tenth of the events have
// another name.
func (ls *lists) sendAll() {
	keys := []string{"", "a", "a", "A"}
	b := ls.h.batch(ls.lease)
	for n := range 60 {
		messages := ls.h.publish(&b, noon, "{}", ls.recipients(n)...)
		event := messages[0].Event
		event.Key = keys[n%len(keys)]
		if len(ls.sent) > 0 && n%10 == 0 {
			event.Name = "debtor.deleted"
		}
		event.AddedAt = addedAt(n)
		for _, m := range messages {
			m.GUID = webhook.GUIDTime(event.AddedAt) + m.GUID[13:]
		}
	}
	ls.h.check(ls.h.Engine.Write(ls.h.t.Context(), b))
	ls.sent = append(ls.sent, b.Messages...)

	later := noon.Add(time.Hour)
	for i, m := range b.Messages {
		switch i % 5 {
		case 0: // not sent
		case 1:
			ls.h.record(ls.lease, attempt(m, 500, webhook.RetryPending, later))
			m.Attempts++
			ls.h.record(ls.lease, attempt(m, 500, webhook.Failed, time.Time{}))
		case 2:
			ls.h.record(ls.lease, attempt(m, 500, webhook.RetryPending, later))
		default:
			ls.h.record(ls.lease, attempt(m, 200, webhook.Successful, time.Time{}))
		}
	}
}

// importSome writes messages that keep the GUIDs of another service: these are before or after those
// of all other messages.
func (ls *lists) importSome() {
	b := ls.h.batch(ls.lease)
	for n := range 20 {
		m := ls.h.publish(&b, noon, "{}", ls.subs[n%2].ID)[0]
		m.Event.AddedAt = addedAt(n)
		if n%4 < 2 {
			m.GUID = "f" + m.GUID[1:]
		}
	}
	ctx := ls.h.t.Context()
	ls.h.check(ls.h.Engine.MarkImported(ctx, b.Messages[len(b.Messages)-1].ID))
	ls.h.check(ls.h.Engine.Write(ctx, b))
}

// addedAt returns the time of the nth event: up to three are added in the same millisecond, and the
// times do not grow with the IDs.
func addedAt(n int) time.Time { return noon.Add(time.Duration(n*7%20) * 400 * time.Microsecond) }

// recipients returns the IDs of the subscriptions that get the nth event: one if n is even, up to
// three otherwise.
func (ls *lists) recipients(n int) []int64 {
	square := n % 5 * n % 5
	often := 5 * (n % 7 / 6) // the last one for each seventh event, otherwise the first
	ids := []int64{ls.subs[0].ID, ls.subs[square].ID, ls.subs[often].ID}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if n%2 == 0 {
		return ids[:1]
	}
	return ids
}

// changeFailed retries one half of each tenth message, and removes the other half. All of them
// have failed.
func (ls *lists) changeFailed() {
	var failed []admin.Candidate
	for i := 1; i < len(ls.sent); i += 10 {
		failed = append(failed, admin.Candidate{ID: ls.sent[i].ID, Status: webhook.Failed, Retries: 1})
	}
	half := len(failed) / 2
	_, err := ls.h.Admin.RetryMessages(ls.h.t.Context(), failed[:half], noon)
	ls.h.check(err)
	_, err = ls.h.Admin.RemoveMessages(ls.h.t.Context(), failed[half:], noon)
	ls.h.check(err)
}

// sweepAll removes all messages of removed subscriptions, in steps.
func (ls *lists) sweepAll() {
	for {
		step, err := ls.h.Engine.Sweep(ls.h.t.Context(), 7)
		ls.h.check(err)
		if !step.More {
			return
		}
	}
}

// noLimits returns the limits of a query without limits.
func noLimits() executor.Limits { return executor.Limits{} }

// compare compares generated lists.
func (ls *lists) compare(when string) {
	var err error
	ls.last, err = ls.h.Admin.LastMessage(ls.h.t.Context())
	ls.h.check(err)
	rapid.Check(ls.h.t, func(t *rapid.T) {
		plan := ls.draw(t)
		faster := ls.h.Admin.ListPlan(plan)
		if faster.PageKeys != nil {
			ls.pages++
		}
		if faster.Matches != nil {
			ls.totals++
		}

		general, err := executor.Select(context.Background(), ls.store.AppDB, noLimits, plan)
		want := read(t, plan, general, err)
		listed, err := ls.store.Select(context.Background(), plan)
		got := read(t, plan, listed, err)
		if got != want {
			t.Fatalf("%s: plan %+v\nlists\n%s\nwant\n%s", when, plan, got, want)
		}
	})
}

// ofFirst returns the condition that messages or attempts are of the first subscriber.
func (ls *lists) ofFirst(kind *record.Kind) query.Condition {
	field, _ := kind.Column("SubscriberID")
	id := wire.Value{Text: ls.subs[0].Subscriber}
	return query.Condition{Field: field, Operator: record.Equal, Operands: []wire.Value{id}}
}

// shortPages checks that the total of a page is counted if its messages have changed
// between the two reads of SQL Server: of the keys, and of the messages.
func (ls *lists) shortPages() {
	for _, name := range []string{"Message", "Attempt"} {
		for _, count := range []bool{false, true} {
			kind, _ := record.System().Lookup(name)
			plan := &query.Plan{
				Kind:    kind,
				Columns: []int{kind.KeyField()},
				Where:   []query.Condition{ls.ofFirst(kind)},
				Order:   []query.Order{{Field: kind.KeyField()}},
				Take:    1000,
				Count:   count,
			}
			want := ls.tailWithKeys(plan, nil)
			noneExists := &query.Fragment{SQL: "SELECT -1"}
			got := ls.tailWithKeys(plan, noneExists)
			if want.Total == 0 || !got.Known || got.Total != want.Total {
				ls.h.t.Errorf("%s, count %v: the total of a page without messages is %+v, want %d, above 0",
					name, count, got, want.Total)
			}
		}
	}
}

// tailWithKeys lists the rows with the given keys, or in the general way if they are nil, and
// returns the total.
func (ls *lists) tailWithKeys(plan *query.Plan, keys *query.Fragment) executor.Tail {
	listed := *ls.h.Admin.ListPlan(plan)
	listed.PageKeys = keys
	result, err := executor.Select(ls.h.t.Context(), ls.store.AppDB, noLimits, &listed)
	ls.h.check(err)
	rows := int64(0)
	for {
		cells, err := result.Next()
		ls.h.check(err)
		if cells == nil {
			break
		}
		rows++
	}
	tail, err := result.Tail(rows)
	ls.h.check(errors.Join(err, result.Close()))
	return tail
}

// draw draws a list: mostly of the kinds that an index serves.
func (ls *lists) draw(t *rapid.T) *query.Plan {
	name := rapid.SampledFrom([]string{"Message", "Message", "Message", "Attempt"}).Draw(t, "kind")
	kind, found := record.System().Lookup(name)
	if !found {
		t.Fatalf("there is no kind %s", name)
	}
	d := &planDraw{
		T: t,
		plan: &query.Plan{
			Kind:  kind,
			Skip:  rapid.SampledFrom([]int64{0, 0, 0, 1, 5, 1000}).Draw(t, "skip"),
			Take:  rapid.SampledFrom([]int64{query.NoTake, 0, 1, 3, 10, 10, 1000}).Draw(t, "take"),
			Count: rapid.Bool().Draw(t, "count"),
		},
	}
	d.owners(ls.ids)
	d.status()
	d.eventKey()
	d.eventName()
	d.null()
	d.added()
	d.key(ls.last)
	d.order()

	key := kind.Fields[kind.KeyField()].Name
	for _, name := range slices.Compact([]string{key, "ItemNo", "Status", "SubscriptionID", "Retries", "AddedDateTime"}) {
		field, _ := kind.Column(name)
		d.plan.Columns = append(d.plan.Columns, field)
	}
	d.plan.Distinct = rapid.IntRange(0, 9).Draw(t, "distinct") == 0
	return d.plan
}

// planDraw draws the conditions and the order of a plan.
type planDraw struct {
	*rapid.T
	plan *query.Plan
}

// operator draws an operator.
func (d *planDraw) operator(label string, operators ...record.Operator) record.Operator {
	return rapid.SampledFrom(operators).Draw(d.T, label)
}

// where adds a condition if the kind has the field.
func (d *planDraw) where(name string, op record.Operator, operands ...wire.Value) {
	field, found := d.plan.Kind.Column(name)
	if !found {
		return
	}
	d.plan.Where = append(d.plan.Where, query.Condition{Field: field, Operator: op, Operands: operands})
}

// owners draws conditions on the subscriber and the subscription.
func (d *planDraw) owners(ids map[string][]string) {
	for _, name := range []string{"SubscriberID", "SubscriptionID"} {
		if !rapid.Bool().Draw(d.T, name) {
			continue
		}
		op := d.operator("by", record.Equal, record.Equal, record.Equal, record.NotEqualTo, record.StartsWith)
		d.where(name, op, wire.Value{Text: rapid.SampledFrom(ids[name]).Draw(d.T, "id")})
	}
}

// status draws a condition on the status, with the unknown status 4, too.
func (d *planDraw) status() {
	if !rapid.Bool().Draw(d.T, "by status") {
		return
	}
	var statuses []wire.Value
	for _, status := range rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 2, 3, 3, 4}), 1, 4).Draw(d.T, "is") {
		statuses = append(statuses, wire.Value{Int: status})
	}
	if rapid.Bool().Draw(d.T, "in") {
		d.where("Status", record.In, statuses...)
		return
	}
	d.where("Status", d.operator("status", record.Equal, record.Equal, record.LessThan), statuses[0])
}

// eventKey draws a condition on the key of the event.
func (d *planDraw) eventKey() {
	if rapid.IntRange(0, 2).Draw(d.T, "by event key") != 0 {
		return
	}
	op := d.operator("key", record.Equal, record.Equal, record.NotEqualTo)
	d.where("Key", op, wire.Value{Text: rapid.SampledFrom([]string{"a", "A", "none"}).Draw(d.T, "value")})
}

// eventName draws a condition on the name of the event.
func (d *planDraw) eventName() {
	if rapid.IntRange(0, 2).Draw(d.T, "by event") != 0 {
		return
	}
	names := []string{"debtor.created", "debtor.deleted", "Debtor.Deleted", "debtor.never"}
	op := d.operator("event", record.Equal, record.Equal, record.Equal, record.StartsWith)
	d.where("EventName", op, wire.Value{Text: rapid.SampledFrom(names).Draw(d.T, "name")})
}

// null draws a condition on null.
func (d *planDraw) null() {
	if rapid.IntRange(0, 3).Draw(d.T, "by null") != 0 {
		return
	}
	name := rapid.SampledFrom([]string{"HTTPCode", "LastMessageResponseHTTPCode", "URL"}).Draw(d.T, "null")
	d.where(name, d.operator("is null", record.IsNull, record.IsNotNull))
}

// added draws conditions on the time when messages were added.
func (d *planDraw) added() {
	if rapid.Bool().Draw(d.T, "of any time") {
		return
	}
	operand := func() wire.Value {
		added := addedAt(rapid.IntRange(0, 19).Draw(d.T, "added"))
		return wire.Value{Text: added.Format(wire.DateLayout)}
	}
	op := d.operator("period", record.GreaterThanOrEqualTo, record.GreaterThan, record.LessThan,
		record.LessThanOrEqualTo, record.Equal, record.NotEqualTo, record.Between)
	operands := []wire.Value{operand()}
	if op == record.Between {
		operands = append(operands, operand())
	}
	d.where("AddedDateTime", op, operands...)
}

// key draws a condition on the key field, which has values up to last.
func (d *planDraw) key(last int64) {
	if rapid.IntRange(0, 3).Draw(d.T, "by key") != 0 {
		return
	}
	op := d.operator("compared", record.GreaterThan, record.LessThanOrEqualTo, record.Equal, record.NotEqualTo)
	name := d.plan.Kind.Fields[d.plan.Kind.KeyField()].Name
	d.where(name, op, wire.Value{Int: rapid.Int64Range(0, last).Draw(d.T, "with")})
}

// order draws an order that ends with the key field.
func (d *planDraw) order() {
	key := d.plan.Kind.Fields[d.plan.Kind.KeyField()].Name
	names := []string{key}
	first := rapid.SampledFrom([]string{"", "", "", "Status", "AddedDateTime", "AddedDateTime"}).Draw(d.T, "first")
	if first != "" {
		names = []string{first, key}
	}
	if d.plan.Kind.Name == "Attempt" {
		names = append(names, "ItemNo") // of the attempts of a message
	}
	for _, name := range names {
		field, _ := d.plan.Kind.Column(name)
		d.plan.Order = append(d.plan.Order, query.Order{
			Field: field,
			Desc:  rapid.Bool().Draw(d.T, "desc"),
		})
	}
}

// read returns the rows and the total of a result.
func read(t *rapid.T, plan *query.Plan, r *executor.Result, err error) string {
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	types := plan.Types()
	rows := int64(0)
	for {
		cells, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			break
		}
		rows++
		for i, c := range cells {
			text.WriteString(c.Text(types[i]) + " ")
		}
		text.WriteString("\n")
	}
	tail, err := r.Tail(rows)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(text.String(), tail)
}
