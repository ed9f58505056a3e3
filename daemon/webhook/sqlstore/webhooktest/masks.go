package webhooktest

import (
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
)

// hiddenBodies checks that a mask hides the bodies of open messages and of attempts that failed, in
// rows, totals, groups and conditions, for lists of any number of events.
func (ls *lists) hiddenBodies() {
	for _, name := range []string{"Message", "Attempt"} {
		kind, _ := record.System().Lookup(name)
		body, _ := kind.Column("Body")
		event, _ := kind.Column("EventName")
		status, _ := kind.Column("Status")
		condition := func(field int, op record.Operator, values ...wire.Value) query.Condition {
			return query.Condition{Field: field, Operator: op, Operands: values}
		}
		delivered := wire.Value{Int: int64(webhook.Successful)}
		events := []wire.Value{{Text: "debtor.created"}}
		for range 100 { // which is one parameter on SQL Server
			events = append(events, wire.Value{Text: "debtor." + strings.Repeat("x", len(events))})
		}
		mask := &query.Mask{Field: body}
		mask.Where = append(mask.Where, condition(status, record.NotEqualTo, delivered))
		isBody := condition(body, record.Equal, wire.Value{Text: "{}"})
		plan := query.Plan{Kind: kind, Columns: []int{status, body}, Take: query.NoTake}
		all := ls.rows(plan)
		shown := strings.Count(all, "|{}")
		notDelivered := shown - strings.Count(all, "|1|{}")
		if notDelivered == 0 || notDelivered == shown {
			ls.h.t.Fatalf("%d of %d rows of %s are not delivered, want some", notDelivered, shown, name)
		}

		for _, n := range []int{1, len(events)} {
			mask := *mask
			mask.Where = append(mask.Where, condition(event, record.In, events[:n]...))
			plan := plan
			plan.Mask = &mask
			if got := ls.rows(plan); strings.Count(got, "|{}") != shown-notDelivered || strings.Count(got, "|1|{}") != shown-notDelivered {
				ls.h.t.Errorf("%s with a mask of %d events:\n%s\nwithout:\n%s", name, n, got, all)
			}
			plan.Where = []query.Condition{isBody}
			if got := strings.Count(ls.rows(plan), "|{}"); got != shown-notDelivered {
				ls.h.t.Errorf("%s: a condition on hidden bodies finds %d rows, want %d", name, got, shown-notDelivered)
			}
			plan.Where = nil
			plan.Distinct = true
			plan.Columns = []int{body}
			plan.Order = []query.Order{{Field: body}}
			if got := ls.rows(plan); got != "||\n|{}|\n" {
				ls.h.t.Errorf("%s: the distinct bodies are %q", name, got)
			}
		}
	}
}

// rows returns the rows of a plan as text.
func (ls *lists) rows(plan query.Plan) string {
	result, err := executor.Select(ls.h.t.Context(), ls.store.AppDB, noLimits, &plan)
	ls.h.check(err)
	defer func() { ls.h.check(result.Close()) }()
	var text strings.Builder
	for {
		cells, err := result.Next()
		ls.h.check(err)
		if cells == nil {
			return text.String()
		}
		for i, cell := range cells {
			text.WriteString("|")
			if plan.Kind.Fields[plan.Columns[i]].Type == record.Int {
				text.WriteString(string('0' + rune(cell.Int)))
				continue
			}
			text.Write(cell.Data)
		}
		text.WriteString("|\n")
	}
}
