package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Members of a bulk operation, in addition to the filters of a message query and
// those of period.
const (
	memberDryRun  = "DryRun"  // count the messages without changing them
	memberCounted = "Counted" // only messages of an earlier dry run, which returned this text
	memberAll     = "All"     // all messages: no filter is required
	memberStatus  = "Status"
)

// bulk has the handlers of operations on many messages.
type bulk struct {
	admin   *admin.Service
	queries *queries.Handler
}

// Retry makes all matching messages due that have failed or wait for a retry, and sends
// delivered ones again if the filter names their status.
func (h *bulk) Retry(x *edge.Context) error {
	selection, err := h.selection(x)
	if err != nil {
		return err
	}
	tally, err := h.admin.RetryMessages(x.Request.Context(), selection.Selection, accounts.Actor(x))
	if err != nil {
		return err
	}
	return x.Respond("MessagesRetried", wire.MessagesRetried{
		Matched:  tally.Matched,
		Retried:  tally.Done,
		Skipped:  tally.Matched - tally.Done,
		Replayed: tally.Replayed,
		InOrder:  tally.Ordered,
		Warning:  orderWarning(tally.Ordered),
		DryRun:   selection.DryRun,
		Counted:  selection.counted(),
	}, nil)
}

// orderWarning returns the warning that n delivered messages are sent again in an order. It is
// empty if n is 0.
func orderWarning(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("delivered messages of subscriptions with an order: %d; newer messages of these subscriptions wait until the delivered ones have been sent again",
		n)
}

// Remove deletes all matching messages and cancels pending attempts.
func (h *bulk) Remove(x *edge.Context) error {
	selection, err := h.selection(x)
	if err != nil {
		return err
	}
	tally, err := h.admin.RemoveMessages(x.Request.Context(), selection.Selection, accounts.Actor(x))
	if err != nil {
		return err
	}
	return x.Respond("MessagesDeleted", wire.MessagesDeleted{
		Matched: tally.Matched,
		Deleted: tally.Done,
		DryRun:  selection.DryRun,
		Counted: selection.counted(),
	}, nil)
}

// selection is the selection of a bulk operation, with the extent of the messages that have been
// selected so far.
type selection struct {
	admin.Selection
	seen *extent
}

// counted returns the text that bounds a change to the messages of this dry run. It is empty for
// a change, and if no message matched.
func (s selection) counted() string {
	if !s.DryRun || s.seen.lastID == 0 {
		return ""
	}
	return s.seen.String()
}

// selection reads the filter of a bulk operation. It is stricter than a query: an
// ignored or misread filter could select too many messages, and they would be lost.
func (h *bulk) selection(x *edge.Context) (selection, error) {
	kind, _ := h.queries.System.Lookup(queries.MessageKind)
	b := &bulkForm{Form: form.Read(x), kind: kind}
	if b.Err != nil {
		return selection{}, b.Err
	}

	b.read()
	take := form.Value(b.Form, query.Take, form.Count)
	dryRun := form.Value(b.Form, memberDryRun, form.Bool)
	counted := form.Value(b.Form, memberCounted, parseExtent)
	selectAll := form.Value(b.Form, memberAll, form.Bool)
	if err := form.Invalid(b.Wrong); err != nil {
		return selection{}, err
	}
	if len(b.where) == 0 && !form.Or(selectAll, false) {
		return selection{}, fault.New(fault.Invalid,
			"a filter is required: add one, such as SubscriptionID or Status=3, or use %s=true to select all messages",
			memberAll)
	}

	where := b.where
	if counted != nil {
		where = append(where, counted.conditions(kind)...)
	}
	seen := new(extent)
	return selection{
		Selection: admin.Selection{
			Select: h.picker(kind, where, seen),
			Filter: b.detail,
			Max:    form.Or(take, admin.Unlimited),
			DryRun: form.Or(dryRun, false),
			Replay: b.delivered,
		},
		seen: seen,
	}, nil
}

// extent bounds a set of messages: those that have been counted are within it, and a message that
// matches a filter only later is not. A new message has a higher ID. An older one that changes has a
// later time. The times are those of the messages, so that the clock need not be right.
type extent struct {
	lastID  int64
	savedAt string // the latest LastSavedDateTime, in wire.DateLayout
}

// add extends e to a message.
func (e *extent) add(id int64, savedAt string) {
	e.lastID = max(e.lastID, id)
	e.savedAt = max(e.savedAt, savedAt) // the layout has the order of the times
}

// String returns the text that parseExtent reads.
func (e *extent) String() string { return e.savedAt + "/" + strconv.FormatInt(e.lastID, 10) }

// parseExtent reads the text of a dry run.
func parseExtent(text string) (extent, error) {
	savedAt, id, _ := strings.Cut(text, "/")
	_, timeErr := time.Parse(wire.DateLayout, savedAt)
	lastID, idErr := strconv.ParseInt(id, 10, 64)
	if timeErr != nil || idErr != nil {
		return extent{}, fmt.Errorf("must be the text that a request with %s=true has returned",
			memberDryRun)
	}
	return extent{lastID: lastID, savedAt: savedAt}, nil
}

// conditions returns the conditions on messages within e.
func (e *extent) conditions(kind *record.Kind) []query.Condition {
	id := wire.Value{Int: e.lastID}
	savedAt := wire.Value{Text: e.savedAt}
	return []query.Condition{
		queries.Condition(kind, "ItemNo", record.LessThanOrEqualTo, id),
		queries.Condition(kind, "LastSavedDateTime", record.LessThanOrEqualTo, savedAt),
	}
}

// bulkForm reads the members of a bulk operation.
type bulkForm struct {
	*form.Form
	kind      *record.Kind
	where     []query.Condition
	delivered bool         // a filter names the status of delivered messages
	detail    audit.Detail // the request, for the audit trail
}

// bulkMembers are the members that are not filters.
var bulkMembers = []string{
	queries.MemberSince, queries.MemberUntil, query.Take, memberDryRun, memberCounted, memberAll,
}

// bulkControls are members that do not affect the selection.
var bulkControls = []string{query.Format, query.Callback, query.BOM, query.Strict, query.Meta, "v", query.JSConfig}

// noValue is the error message of a member without a value.
const noValue = "has no value: add one, or omit the member"

// read reads all members.
func (b *bulkForm) read() {
	for _, m := range b.Members {
		_, isFilter := b.kind.Member(m.Name)
		isMember := form.HasName(bulkMembers, m.Name)
		hasValue := !m.Empty && (len(m.Texts) > 0 || m.Other)
		switch {
		case form.HasName(bulkControls, m.Name): // no part of the selection
		case !isFilter && !isMember:
			b.Refuse(edge.ShownName(m.Name), b.unknown(m.Name))
		case !hasValue:
			b.Refuse(edge.ShownName(m.Name), noValue)
		case isFilter:
			b.filter(m)
		default:
			b.auditMember(m.Name, m.Texts)
		}
	}

	where, wrong := queries.PeriodOf(b.kind, b.Members)
	b.where = append(b.where, where...)
	b.Wrong = append(b.Wrong, wrong...)
}

// unknown returns the error for a member that is not a filter.
func (b *bulkForm) unknown(name string) string {
	hasName := func(p query.Parameter) bool { return query.SameName(p.Name, name) }
	if slices.ContainsFunc(query.Parameters(), hasName) {
		return "is not supported here: messages are processed oldest first, and no rows are returned"
	}
	text := "is unknown"
	if near := record.Suggest(strings.TrimSpace(name), append(b.kind.Members(), bulkMembers...)); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// filter reads one filter. It must result in a condition: an empty list is an error.
func (b *bulkForm) filter(m query.Member) {
	req, err := query.Parse(b.kind, query.Members{m}, query.Options{})
	switch {
	case err != nil:
		b.Wrong = append(b.Wrong, fault.From(err).Fields...)
	case len(req.Where) == 0:
		b.Refuse(edge.ShownName(m.Name), noValue)
	case queries.HasInvalidID(b.kind, req.Where):
		b.Refuse(edge.ShownName(m.Name), "must be a whole ID, such as 01234567-89ab-cdef-0123-456789abcdef; StartsWith and EndsWith select by parts")
	default:
		queries.StoredIDs(b.kind, req.Where)
		b.where = append(b.where, req.Where...)
		b.delivered = b.delivered || slices.ContainsFunc(req.Where, b.namesDelivered)
		target, _ := b.kind.Member(m.Name)
		b.auditMember(b.kind.Fields[target.Field].Name+target.Operator.Suffix(), m.Texts)
	}
}

// namesDelivered reports whether a condition names the status of delivered messages. One that
// includes it in a range does not: nothing is sent again unless that was requested.
func (b *bulkForm) namesDelivered(c query.Condition) bool {
	if b.kind.Fields[c.Field].Name != memberStatus {
		return false
	}
	if c.Operator != record.Equal && c.Operator != record.In {
		return false
	}
	return slices.ContainsFunc(c.Operands, func(v wire.Value) bool { return v.Int == int64(webhook.Successful) })
}

// Limits of the members in the audit trail; its entries have a maximum length.
const (
	shownItems  = 5
	shownLength = 100
)

// auditMember adds a member to the audit trail. Secrets are masked, and long values shortened.
func (b *bulkForm) auditMember(name string, texts []string) {
	var parts []string
	for i, text := range texts {
		if i == shownItems {
			parts = append(parts, "... "+strconv.Itoa(len(texts))+" in total")
			break
		}
		shown := requestlog.Mask(name, text)
		if len(shown) > shownLength {
			shown = strings.ToValidUTF8(shown[:shownLength], "") + "..."
		}
		parts = append(parts, shown)
	}
	b.detail.Set(name, strings.Join(parts, ","))
}

// SelectionMembers are the documented members of a bulk operation. MessageQuery
// documents the other filters.
var SelectionMembers = append([]metadata.Member{
	{Name: inSubscription, Type: "string", Help: "a filter; all filters of MessageQuery are supported"},
	{Name: memberStatus, Type: "int", Help: "a filter, like StatusIn, EventNameStartsWith and the others of MessageQuery"},
	{Name: query.Take, Type: "int", Help: "maximum number of messages, oldest first"},
	{Name: memberDryRun, Type: "bool", Help: "true: count the messages without changing them"},
	{
		Name: memberCounted,
		Type: "string",
		Help: "the text that an earlier request with DryRun=true has returned: select only messages " +
			"that were counted then and have not changed since",
	},
	{Name: memberAll, Type: "bool", Help: "true: select all messages if there is no filter"},
}, PeriodMembers...)

// candidateColumns are the columns that readCandidates reads. The first one orders the pages.
var candidateColumns = []string{"ItemNo", "Status", "Retries", "LastSavedDateTime"}

// picker returns a function that finds matching messages page by page, and extends seen to them.
// It locks nothing.
func (h *bulk) picker(kind *record.Kind, where []query.Condition, seen *extent) admin.Selector {
	columns := make([]int, len(candidateColumns))
	for i, name := range candidateColumns {
		columns[i], _ = kind.Column(name)
	}

	return func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
		afterID := queries.Condition(kind, "ItemNo", record.GreaterThan, wire.Value{Int: after})
		untilLast := queries.Condition(kind, "ItemNo", record.LessThanOrEqualTo, wire.Value{Int: last})
		rows, err := h.queries.Store.Select(ctx, &query.Plan{
			Kind:    kind,
			Columns: columns,
			Where:   append(slices.Clip(where), afterID, untilLast),
			Order:   []query.Order{{Field: columns[0]}},
			Take:    int64(limit),
		})
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		return readCandidates(rows, seen)
	}
}

// readCandidates reads all rows with the columns candidateColumns, and extends seen to them.
func readCandidates(rows row.Source, seen *extent) ([]admin.Candidate, error) {
	var candidates []admin.Candidate
	for {
		cells, err := rows.Next()
		if err != nil {
			return nil, err
		}
		if cells == nil {
			return candidates, nil
		}
		seen.add(cells[0].Int, cells[3].Text(record.DateTime))
		candidates = append(candidates, admin.Candidate{
			ID:      cells[0].Int,
			Status:  webhook.Status(cells[1].Int),
			Retries: int(cells[2].Int),
		})
	}
}
