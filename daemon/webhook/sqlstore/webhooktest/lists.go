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
	hooks
	store *storage.Store
	ids   map[string][]string // values of fields
	last  int64               // highest ID

	pages, totals int // number of lists with statements of their own
}

// messageLists compares lists of messages and attempts with the same lists read in the
// general way, which joins and sorts everything, while messages are added, attempted,
// retried and removed in every way.
func messageLists(h hooks) {
	ctx, l := h.t.Context(), h.lease(time.Hour)
	ls := lists{hooks: h, store: h.reopen(), ids: map[string][]string{"SubscriberID": {guid(1)}, "SubscriptionID": {guid(2)}}}
	var subs []webhook.Subscription
	for n := range 3 {
		subs = append(subs, h.subscribe())
		for range n { // one, two and three subscriptions
			last := subs[len(subs)-1]
			added := webhook.Subscription{Subscriber: last.Subscriber, Pattern: "*", URL: "http://a", Secret: "s", SavedAt: noon}
			s, err := h.Admin.AddSubscription(ctx, added, nil)
			h.check(err)
			subs = append(subs, s)
		}
	}
	for _, s := range subs {
		ls.ids["SubscriberID"] = append(ls.ids["SubscriberID"], s.Subscriber)
		ls.ids["SubscriptionID"] = append(ls.ids["SubscriptionID"], s.GUID)
	}
	keys := []string{"", "a", "a", "A"}
	var sent []*webhook.Message
	send := func() {
		b := h.batch(l)
		for n := range 60 { // the first subscription gets most, the last but one none
			to := []int64{subs[0].ID, subs[n%5*n%5].ID, subs[5*(n%7/6)].ID}
			slices.Sort(to)
			to = slices.Compact(to)
			if n%2 == 0 {
				to = to[:1]
			}
			m := h.publish(&b, noon, "{}", to...)[0]
			m.Event.Key = keys[n%len(keys)]
		}
		h.check(h.Engine.Write(ctx, b))
		sent = append(sent, b.Messages...)
		for i, m := range b.Messages {
			switch i % 5 {
			case 0:
			case 1:
				h.record(l, attempt(m, 500, webhook.RetryPending, noon.Add(time.Hour)))
				m.Attempts++
				h.record(l, attempt(m, 500, webhook.Failed, time.Time{}))
			case 2:
				h.record(l, attempt(m, 500, webhook.RetryPending, noon.Add(time.Hour)))
			default:
				h.record(l, attempt(m, 200, webhook.Successful, time.Time{}))
			}
		}
	}
	send()
	ls.compare("sent")
	ls.shortPages()
	ls.pagesByCursor()
	var failed []admin.Candidate
	for i := 1; i < len(sent); i += 10 {
		failed = append(failed, admin.Candidate{ID: sent[i].ID, Status: webhook.Failed, Retries: 1})
	}
	_, err := h.Admin.RetryMessages(ctx, failed[:len(failed)/2], noon)
	h.check(err)
	_, err = h.Admin.RemoveMessages(ctx, failed[len(failed)/2:], noon)
	h.check(err)
	send()
	ls.compare("retried and removed")
	for _, s := range []webhook.Subscription{subs[2], subs[5]} {
		_, err = h.Admin.RemoveSubscription(ctx, s.Subscriber, s.GUID, noon)
		h.check(err)
	}
	_, err = h.Admin.RemoveSubscriber(ctx, subs[1].Subscriber, auditEntry())
	h.check(err)
	ls.compare("subscriptions removed")
	_, err = h.Engine.Prune(ctx, delivery.Prune{Limit: 20, Successful: noon.Add(time.Second), Failed: noon.Add(time.Second)})
	h.check(err)
	for isDone := false; !isDone; {
		r, err := h.Engine.Sweep(ctx, 7)
		h.check(err)
		isDone = !r.More
	}
	ls.compare("pruned and swept")
	if ls.pages == 0 || ls.totals == 0 {
		h.t.Errorf("%d pages and %d totals had statements of their own", ls.pages, ls.totals)
	}
}

// compare compares generated lists.
func (ls *lists) compare(name string) {
	var err error
	ls.last, err = ls.Admin.LastMessage(ls.t.Context())
	ls.check(err)
	rapid.Check(ls.t, func(t *rapid.T) {
		plan := ls.draw(t)
		faster := ls.Admin.ListPlan(plan)
		if faster.PageKeys != nil {
			ls.pages++
		}
		if faster.Matches != nil {
			ls.totals++
		}
		limits := func() executor.Limits { return executor.Limits{} }
		plain, err := executor.Select(context.Background(), ls.store.AppDB, limits, plan)
		want := read(t, plan, plain, err)
		listed, err := ls.store.Select(context.Background(), plan)
		if got := read(t, plan, listed, err); got != want {
			t.Fatalf("%s: %+v\nlists\n%s\nwant\n%s", name, plan, got, want)
		}
	})
}

// shortPages checks that the total of a page is counted if its messages have changed
// between the two reads of SQL Server.
func (ls *lists) shortPages() {
	for _, name := range []string{"Message", "Attempt"} {
		for _, count := range []bool{false, true} {
			kind, _ := record.System().Lookup(name)
			owner, _ := kind.Column("SubscriberID")
			plan := &query.Plan{Kind: kind, Columns: []int{kind.KeyField()}, Where: []query.Condition{{Field: owner, Operator: record.Equal, Operands: []wire.Value{{Text: ls.ids["SubscriberID"][1]}}}},
				Order: []query.Order{{Field: kind.KeyField()}}, Take: 1000, Count: count}
			var tails []executor.Tail
			for _, keys := range []*query.Fragment{nil, {SQL: "SELECT -1"}} {
				listed := *ls.Admin.ListPlan(plan)
				listed.PageKeys = keys
				r, err := executor.Select(ls.t.Context(), ls.store.AppDB, func() executor.Limits { return executor.Limits{} }, &listed)
				ls.check(err)
				rows := int64(0)
				for {
					cells, err := r.Next()
					ls.check(err)
					if cells == nil {
						break
					}
					rows++
				}
				tail, err := r.Tail(rows)
				ls.check(errors.Join(err, r.Close()))
				tails = append(tails, tail)
			}
			if want := tails[0].Total; want == 0 || !tails[1].Known || tails[1].Total != want {
				ls.t.Errorf("%s, count %v: the total is %+v, want %d", name, count, tails[1], want)
			}
		}
	}
}

// pagesByCursor checks that a page by cursor is not read by the keys of the first page.
func (ls *lists) pagesByCursor() {
	kind, _ := record.System().Lookup("Message")
	plan := &query.Plan{Kind: kind, Columns: []int{kind.KeyField()}, Order: []query.Order{{Field: kind.KeyField()}}, Take: 3}
	owner, _ := kind.Column("SubscriberID")
	plan.Where = []query.Condition{{Field: owner, Operator: record.Equal, Operands: []wire.Value{{Text: ls.ids["SubscriberID"][1]}}}}
	if ls.Admin.ListPlan(plan).PageKeys == nil {
		ls.t.Error("the page is not read by keys")
	}
	plan.Place = &query.Place{}
	if ls.Admin.ListPlan(plan) != plan {
		ls.t.Error("a page by cursor is read by the keys of the first page")
	}
}

// draw draws a list: mostly of the kinds that an index serves.
func (ls *lists) draw(t *rapid.T) *query.Plan {
	kind, found := record.System().Lookup(rapid.SampledFrom([]string{"Message", "Message", "Message", "Attempt"}).Draw(t, "kind"))
	if !found {
		t.Fatal("no such kind")
	}
	p := &query.Plan{
		Kind:  kind,
		Skip:  rapid.SampledFrom([]int64{0, 0, 0, 1, 5, 1000}).Draw(t, "skip"),
		Take:  rapid.SampledFrom([]int64{query.NoTake, 0, 1, 3, 10, 10, 1000}).Draw(t, "take"),
		Count: rapid.Bool().Draw(t, "count"),
	}
	operator := func(label string, operators ...record.Operator) record.Operator {
		return rapid.SampledFrom(operators).Draw(t, label)
	}
	where := func(name string, op record.Operator, operands ...wire.Value) {
		field, found := kind.Column(name)
		if !found {
			return
		}
		p.Where = append(p.Where, query.Condition{Field: field, Operator: op, Operands: operands})
	}
	for _, name := range []string{"SubscriberID", "SubscriptionID"} {
		if rapid.Bool().Draw(t, name) {
			op := operator("by", record.Equal, record.Equal, record.Equal, record.NotEqualTo, record.StartsWith)
			where(name, op, wire.Value{Text: rapid.SampledFrom(ls.ids[name]).Draw(t, "id")})
		}
	}
	if rapid.Bool().Draw(t, "by status") {
		var statuses []wire.Value
		for _, status := range rapid.SliceOfN(rapid.SampledFrom([]int64{0, 1, 2, 3, 3, 4}), 1, 4).Draw(t, "is") {
			statuses = append(statuses, wire.Value{Int: status})
		}
		if rapid.Bool().Draw(t, "in") {
			where("Status", record.In, statuses...)
		} else {
			where("Status", operator("status", record.Equal, record.Equal, record.LessThan), statuses[0])
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "by event key") == 0 {
		op := operator("key", record.Equal, record.Equal, record.NotEqualTo)
		where("Key", op, wire.Value{Text: rapid.SampledFrom([]string{"a", "A", "none"}).Draw(t, "value")})
	}
	if rapid.IntRange(0, 3).Draw(t, "by null") == 0 {
		name := rapid.SampledFrom([]string{"HTTPCode", "LastMessageResponseHTTPCode", "URL"}).Draw(t, "null")
		where(name, operator("is null", record.IsNull, record.IsNotNull))
	}
	key := kind.Fields[kind.KeyField()].Name
	if rapid.IntRange(0, 3).Draw(t, "by key") == 0 {
		op := operator("compared", record.GreaterThan, record.LessThanOrEqualTo, record.Equal, record.NotEqualTo)
		where(key, op, wire.Value{Int: rapid.Int64Range(0, ls.last).Draw(t, "with")})
	}
	order := []string{key}
	if rapid.IntRange(0, 5).Draw(t, "other order") == 0 {
		order = []string{"Status", key}
	}
	if kind.Name == "Attempt" {
		order = append(order, "ItemNo")
	}
	for _, name := range order {
		field, _ := kind.Column(name)
		p.Order = append(p.Order, query.Order{Field: field, Desc: rapid.Bool().Draw(t, "desc")})
	}
	for _, name := range slices.Compact([]string{key, "ItemNo", "Status", "SubscriptionID", "Retries"}) {
		field, _ := kind.Column(name)
		p.Columns = append(p.Columns, field)
	}
	p.Distinct = rapid.IntRange(0, 9).Draw(t, "distinct") == 0
	return p
}

// read returns the rows and the total of a result.
func read(t *rapid.T, plan *query.Plan, r *executor.Result, err error) string {
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	types, rows := plan.Types(), int64(0)
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
