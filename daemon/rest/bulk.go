package rest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// The members of an operation on many messages beside the filters of a query of
// messages, and those of period.
const (
	memberDryRun = "DryRun" // count what would be done, and do nothing
	memberAll    = "All"    // every message there is: no filter is needed
)

// bulk are the handlers of operations on many messages.
type bulk struct {
	admin   *admin.Service
	queries *queries
}

// retry makes all messages due that match and have failed or wait for another
// attempt.
func (h *bulk) retry(x *edge.Context) error {
	selection, err := h.selection(x)
	if err != nil {
		return err
	}
	t, err := h.admin.RetryMessages(x.Request.Context(), selection, actor(x))
	return x.Answer("MessagesRetried",
		wire.MessagesRetried{Matched: t.Matched, Retried: t.Done, Skipped: t.Matched - t.Done, DryRun: selection.DryRun}, err)
}

// remove removes all messages that match, and cancels what is pending of them.
func (h *bulk) remove(x *edge.Context) error {
	selection, err := h.selection(x)
	if err != nil {
		return err
	}
	t, err := h.admin.RemoveMessages(x.Request.Context(), selection, actor(x))
	return x.Answer("MessagesDeleted", wire.MessagesDeleted{Matched: t.Matched, Deleted: t.Done, DryRun: selection.DryRun}, err)
}

// selection reads which messages a request means. It is stricter than a query:
// whatever cannot be taken as it is meant, or means nothing, might have kept
// messages out, and they would be gone.
func (h *bulk) selection(x *edge.Context) (admin.Selection, error) {
	none := admin.Selection{}
	kind, _ := h.queries.system.Lookup(messageKind)
	b := &bulkForm{form: readForm(x), kind: kind}
	if b.err != nil {
		return none, b.err
	}
	b.read()
	selection := admin.Selection{Filter: b.shown, Max: or(read(b.form, query.Take, parseTake), admin.Unlimited), DryRun: or(read(b.form, memberDryRun, asBool), false)}
	all := or(read(b.form, memberAll, asBool), false)
	if err := refused(b.wrong); err != nil {
		return none, err
	}
	if len(b.where) == 0 && !all {
		return none, fault.New(fault.Invalid, "no filter says which messages are meant: give one, such as SubscriptionID and Status=3, or %s=true for every message there is", memberAll)
	}
	selection.Select = h.picker(kind, b.where)
	return selection, nil
}

// parseTake reads how many messages are dealt with at most.
func parseTake(text string) (int64, error) {
	n, err := wire.ParseInteger(record.Int, text)
	if err != nil || n < 0 {
		return 0, errors.New("must be a whole number from 0 to 2147483647")
	}
	return n, nil
}

// bulkForm reads the members of an operation on many messages.
type bulkForm struct {
	*form
	kind  *record.Kind
	where []query.Condition
	shown audit.Detail // what was asked for, for the audit trail
}

// bulkMembers are those that are no filters.
var bulkMembers = []string{memberSince, memberUntil, query.Take, memberDryRun, memberAll}

// bulkControls are those that say nothing of the messages.
var bulkControls = []string{query.Format, query.Callback, query.Strict, query.Meta, "v", "jsconfig"}

func (b *bulkForm) read() {
	for _, m := range b.members {
		_, isFilter := b.kind.Member(m.Name)
		own := named(bulkMembers, m.Name)
		switch {
		case named(bulkControls, m.Name):
		case !isFilter && !own:
			b.refuse(shownName(m.Name), b.unknown(m.Name))
		case m.Empty || len(m.Texts) == 0 && !m.Other:
			b.refuse(shownName(m.Name), "has no value: give one, or leave the member out")
		case isFilter:
			b.filter(m)
		default:
			b.show(m.Name, m.Texts)
		}
	}
	where, wrong := periodOf(b.kind, b.members)
	b.where, b.wrong = append(b.where, where...), append(b.wrong, wrong...)
}

// unknown says why a member is refused that is no filter.
func (b *bulkForm) unknown(name string) string {
	if slices.ContainsFunc(query.Parameters(), func(p query.Parameter) bool { return strings.EqualFold(p.Name, name) }) {
		return "means nothing here: the messages are dealt with from the oldest on, and no rows are shown"
	}
	text := "is not known"
	if near := record.Suggest(strings.TrimSpace(name), append(b.kind.Members(), bulkMembers...)); len(near) > 0 {
		text += "; near: " + strings.Join(near, ", ")
	}
	return text
}

// filter reads one filter, which must be a condition in the end: a list without
// items is none.
func (b *bulkForm) filter(m query.Member) {
	req, err := query.Parse(b.kind, query.Members{m}, query.Options{})
	switch {
	case err != nil:
		b.wrong = append(b.wrong, fault.From(err).Fields...)
	case len(req.Where) == 0:
		b.refuse(shownName(m.Name), "has no value: give one, or leave the member out")
	default:
		b.where = append(b.where, req.Where...)
		target, _ := b.kind.Member(m.Name)
		b.show(b.kind.Fields[target.Field].Name+target.Operator.Suffix(), m.Texts)
	}
}

// What the audit trail shows of a member: its entries are of a bounded length.
const (
	shownItems  = 5
	shownLength = 100
)

func (b *bulkForm) show(name string, texts []string) {
	var parts []string
	for i, text := range texts {
		if i == shownItems {
			parts = append(parts, "... "+strconv.Itoa(len(texts))+" in all")
			break
		}
		if text = requestlog.Mask(name, text); len(text) > shownLength {
			text = strings.ToValidUTF8(text[:shownLength], "") + "..."
		}
		parts = append(parts, text)
	}
	b.shown.Set(name, strings.Join(parts, ","))
}

// selectionMembers are the members of an operation on many messages, for
// documents. The query of messages tells the other filters.
var selectionMembers = append([]metadata.Member{
	{Name: inSubscription, Type: "string", Help: "a filter, as are all those of MessageQuery"},
	{Name: "Status", Type: "int", Help: "a filter, as are StatusIn, EventNameStartsWith and the others of MessageQuery"},
	{Name: query.Take, Type: "int", Help: "at most so many messages, the oldest first"},
	{Name: memberDryRun, Type: "bool", Help: "true: nothing is done, only counted"},
	{Name: memberAll, Type: "bool", Help: "true: without a filter, every message there is"},
}, periodMembers...)

// picker finds the messages that meet conditions, a page at a time. Nothing is
// locked meanwhile.
func (h *bulk) picker(kind *record.Kind, where []query.Condition) admin.Selector {
	columns := make([]int, 3)
	for i, name := range []string{"ItemNo", "Status", "Retries"} {
		columns[i], _ = kind.Column(name)
	}
	return func(ctx context.Context, after, last int64, limit int) (all []admin.Candidate, err error) {
		rows, err := h.queries.store.Select(ctx, &query.Plan{
			Kind: kind, Columns: columns, Order: []query.Order{{Field: columns[0]}}, Take: int64(limit), Where: append(slices.Clip(where),
				condition(kind, "ItemNo", record.GreaterThan, wire.Value{Int: after}), condition(kind, "ItemNo", record.LessThanOrEqualTo, wire.Value{Int: last})),
		})
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for {
			cells, err := rows.Next()
			if err != nil || cells == nil {
				return all, err
			}
			all = append(all, admin.Candidate{ID: cells[0].Int, Status: webhook.Status(cells[1].Int), Retries: int(cells[2].Int)})
		}
	}
}
