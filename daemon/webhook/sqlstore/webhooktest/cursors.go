package webhooktest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
)

// pagesByCursor reads lists of messages and attempts page by page, by cursor, and compares them
// with the same lists read at once and in the general way.
func (ls *lists) pagesByCursor() {
	for _, name := range []string{"Message", "MessageResponse", "Attempt"} {
		kind, _ := record.System().Lookup(name)
		conditions := map[string][]query.Condition{
			"all":            nil,
			"a subscriber":   {ls.equals(kind, "SubscriberID", wire.Value{Text: ls.subs[0].Subscriber})},
			"a subscription": {ls.equals(kind, "SubscriptionID", wire.Value{Text: ls.subs[0].GUID})},
			"not sent":       {ls.equals(kind, "Status", wire.Value{Int: int64(webhook.NotSent)})},
		}
		for which, where := range conditions {
			for _, desc := range []bool{true, false} { // newest and oldest first
				var order []query.Order
				for _, field := range kind.KeyFields() {
					order = append(order, query.Order{Field: field, Desc: desc})
				}
				want := ls.wholeList(kind, where, order)
				got := ls.cursorPages(kind, where, order)
				if !slices.Equal(got, want) {
					ls.h.t.Errorf("%s, %s, descending %v: by cursor the rows\n%v, want\n%v",
						name, which, desc, got, want)
				}
			}
		}
	}
}

// equals returns the condition that a field equals a value.
func (ls *lists) equals(kind *record.Kind, name string, value wire.Value) query.Condition {
	field, found := kind.Column(name)
	if !found {
		ls.h.t.Fatalf("%s has no field %s", kind.Name, name)
	}
	return query.Condition{Field: field, Operator: record.Equal, Operands: []wire.Value{value}}
}

// wholeList returns the keys of all rows, read in the general way.
func (ls *lists) wholeList(kind *record.Kind, where []query.Condition, order []query.Order) []string {
	ls.h.t.Helper()
	plan, err := query.NewPlan(&query.Request{
		Kind: kind, Fields: kind.KeyFields(), Where: where, Order: order, Take: query.NoTake, SkipSet: true,
	}, false)
	ls.h.check(err)
	limits := func() executor.Limits { return executor.Limits{} }
	rows, err := executor.Select(ls.h.t.Context(), ls.store.AppDB, limits, plan)
	ls.h.check(err)
	keys, _ := ls.readKeys(plan, rows)
	return keys
}

// cursorPages returns the keys of all rows, read in small pages.
func (ls *lists) cursorPages(kind *record.Kind, where []query.Condition, order []query.Order) []string {
	ls.h.t.Helper()
	var keys []string
	next := ""
	for isFirst := true; isFirst || next != ""; isFirst = false {
		r := &query.Request{Kind: kind, Take: 7, Total: query.TotalOff, Cursor: &next}
		if isFirst {
			r.Fields = kind.KeyFields()
			r.Where = where
			r.Order = order
		}
		ls.h.check(ls.store.SetPlace(ls.h.t.Context(), r, nil))
		plan, err := query.NewPlan(r, false)
		ls.h.check(err)
		rows, err := ls.store.Select(ls.h.t.Context(), plan)
		ls.h.check(err)
		var page []string
		page, next = ls.readKeys(plan, rows)
		keys = append(keys, page...)
	}
	return keys
}

// readKeys returns the keys of the rows of a result, and the cursor of the next page.
func (ls *lists) readKeys(plan *query.Plan, rows *executor.Result) (keys []string, next string) {
	ls.h.t.Helper()
	defer rows.Close()
	types := plan.Types()
	for {
		cells, err := rows.Next()
		ls.h.check(err)
		if cells == nil {
			break
		}
		key := ""
		for i, c := range cells {
			key += c.Text(types[i]) + " "
		}
		keys = append(keys, key)
	}
	tail, err := rows.Tail(int64(len(keys)))
	ls.h.check(err)
	return keys, tail.Next
}

// drawnPages compares generated lists in pages by cursor with whole ones.
func (ls *lists) drawnPages() {
	rapid.Check(ls.h.t, func(t *rapid.T) {
		drawn := ls.draw(t)
		order := drawn.Order
		key := drawn.Kind.KeyFields()
		for _, field := range key {
			isOrdered := func(o query.Order) bool { return o.Field == field }
			if !slices.ContainsFunc(order, isOrdered) {
				order = append(order, query.Order{Field: field, Desc: order[len(order)-1].Desc})
			}
		}
		want := ls.wholeList(drawn.Kind, drawn.Where, order)
		got := ls.cursorPages(drawn.Kind, drawn.Where, order)
		if !slices.Equal(got, want) {
			t.Fatalf("%s with the conditions %+v in the order %+v: by cursor the rows\n%v, want\n%v",
				drawn.Kind.Name, drawn.Where, order, got, want)
		}
	})
}
