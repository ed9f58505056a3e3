package webhooktest

import (
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
)

// longPeriods compares pages of periods with so many messages that they are searched in the blocks
// of IDs with the pages that are read in the general way. The messages of each hour are added in
// another order than that of their IDs, and the first hour comes last.
func longPeriods(h hooks) {
	const perHour = 1200
	store := h.reopen()
	lease := h.lease(24 * time.Hour)
	sub := h.subscribe()
	for _, hour := range []time.Duration{2, 3, 1} {
		const part = 300 // messages of a batch
		for first := 0; first < perHour; first += part {
			b := h.batch(lease)
			id, err := h.Engine.AllocateIDs(h.t.Context(), 2*part)
			h.check(err)
			for i := range part {
				m := add(&b, id+2*int64(i), noon, "{}", sub.ID)[0]
				second := time.Duration((first + i) * 7919 % perHour)
				m.Event.AddedAt = noon.Add(hour*time.Hour + second*time.Second)
				m.GUID = webhook.GUIDTime(m.Event.AddedAt) + m.GUID[13:]
			}
			h.check(h.Engine.Write(h.t.Context(), b))
		}
	}

	last, err := h.Admin.LastMessage(h.t.Context())
	h.check(err)
	kind, _ := record.System().Lookup("Message")
	fromID := func(op record.Operator) query.Condition {
		middle := wire.Value{Int: last - 4000}
		return query.Condition{Field: kind.KeyField(), Operator: op, Operands: []wire.Value{middle}}
	}
	for _, period := range [][2]time.Duration{
		{time.Hour, 2 * time.Hour},
		{time.Hour, 3 * time.Hour},
		{2 * time.Hour, 3 * time.Hour},
		{3*time.Hour + 30*time.Second, 4 * time.Hour},
		{0, 5 * time.Hour},
	} {
		added := addedFrom(kind, period)
		for _, where := range [][]query.Condition{
			added,
			append(added, fromID(record.LessThan)),
			append(added, fromID(record.GreaterThan)),
		} {
			for _, desc := range []bool{false, true} {
				plan := &query.Plan{
					Kind:    kind,
					Columns: []int{kind.KeyField()},
					Where:   where,
					Order:   []query.Order{{Field: kind.KeyField(), Desc: desc}},
					Skip:    3,
					Take:    10,
				}
				listed := h.Admin.ListPlan(plan)
				got := keysOf(h, store, listed)
				want := keysOf(h, store, plan)
				if listed.PageKeys == nil || !slices.Equal(got, want) {
					h.t.Errorf("with the conditions %+v, descending %t: got %v, want %v", where, desc, got, want)
				}
			}
		}
	}
}

// addedFrom returns the conditions that messages are added in a period after noon.
func addedFrom(kind *record.Kind, period [2]time.Duration) []query.Condition {
	added, _ := kind.Column("AddedDateTime")
	bound := func(op record.Operator, after time.Duration) query.Condition {
		text := noon.Add(after).Format(wire.DateLayout)
		return query.Condition{Field: added, Operator: op, Operands: []wire.Value{{Text: text}}}
	}
	return slices.Clip([]query.Condition{
		bound(record.GreaterThanOrEqualTo, period[0]),
		bound(record.LessThan, period[1]),
	})
}

// keysOf returns the first column of the rows of a plan.
func keysOf(h hooks, store *storage.Store, plan *query.Plan) (keys []int64) {
	h.t.Helper()
	result, err := executor.Select(h.t.Context(), store.AppDB, noLimits, plan)
	h.check(err)
	defer result.Close()
	for {
		cells, err := result.Next()
		h.check(err)
		if cells == nil {
			return keys
		}
		keys = append(keys, cells[0].Int)
	}
}
