// Package queries answers queries of any record kind.
package queries

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/spill"
)

// Store runs the plans of queries.
type Store interface {
	// Select runs a plan in the database of its kind.
	Select(ctx context.Context, plan *query.Plan) (*executor.Result, error)
	// SetPlace sets the place of a request with a cursor, which has the conditions of a
	// path as well.
	SetPlace(ctx context.Context, r *query.Request, path []query.Condition) error
}

// Mask returns the values that the caller of a request must not see in the rows of its kind; nil for
// none.
type Mask func(x *edge.Context) *query.Mask

// Handler has the handlers of queries of any kind.
type Handler struct {
	Store  Store
	System *record.Registry // the service's own kinds
	Names  []string         // names of the operations, for suggestions
	Space  *spill.Space     // for responses that clients read slowly; nil for none

	Feed     func() (Feed, error) // returns the feed of changes; nil for none
	Roles    Roles                // the present roles, for requests that have waited
	Mask     Mask                 // hides values of the service's own kinds; nil for none
	Stopping context.Context      // done when the service stops: requests end their waiting
	turns    turns                // turns of requests for changes
}

// Serve answers a query: it reads the members, plans, selects the rows and streams
// them.
func (h *Handler) Serve(x *edge.Context) error {
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	plan, err := h.Plan(x, members)
	if err != nil {
		return err
	}
	return h.Rows(x, plan)
}

// Rows responds with the rows of a plan. A query without a response is only validated. A
// query that the server stops to resolve a deadlock is repeated while nothing has been
// sent.
func (h *Handler) Rows(x *edge.Context, plan *query.Plan) error { return h.RowsWith(x, plan, nil) }

// Meta is a member of the Meta of a response.
type Meta struct{ Name, Value string }

// RowsWith is like Rows, with further members of Meta. Formats without an envelope leave them out.
func (h *Handler) RowsWith(x *edge.Context, plan *query.Plan, meta []Meta) error {
	if x.Route.Oneway {
		return x.NoContent(nil)
	}
	for attempt := 1; ; attempt++ {
		err := h.send(x, plan, meta)
		hasSentNothing := x.Response.Status == 0
		mayRepeat := executor.IsDeadlock(err) && hasSentNothing
		if !mayRepeat || attempt == executor.MaxAttempts {
			return err
		}
		if executor.Backoff(x.Request.Context(), attempt) != nil {
			return err
		}
	}
}

// send runs a plan once and sends its rows.
func (h *Handler) send(x *edge.Context, plan *query.Plan, meta []Meta) error {
	if err := h.fits(x, plan); err != nil {
		return err
	}
	var copied *copying
	if plan.ForCopy != "" {
		var err error
		copied, err = h.copyOf(x, plan)
		if err != nil {
			return err
		}
	}
	rows, err := h.Store.Select(x.Request.Context(), plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	var space *spill.Space
	if rows.HoldsLocks() {
		space = h.Space
	}
	return stream(x, plan, rows, responseWriter{space: space, copied: copied, meta: meta})
}

// Errors of results that are too large, with the number of rows or groups and its maximum.
const (
	tooManyRows   = "%d rows %s, but a sheet of a workbook holds at most %d; add conditions, use Take, or use csv"
	tooManyGroups = "the result has %d groups, at most %d are possible; add conditions, or use Take"
)

// fits returns an error if the result has more rows than the format can hold, or too many
// groups. It only counts rows if the plan allows that; otherwise the response may be aborted
// later.
func (h *Handler) fits(x *edge.Context, plan *query.Plan) error {
	limit := x.Format.MaxRows // 0 for none
	limitsGroups := plan.Group != nil && (limit == 0 || limit > query.MaxGroups)
	if limitsGroups {
		limit = query.MaxGroups
	}
	isCounted := plan.Count || limitsGroups
	isBounded := plan.Take != query.NoTake && plan.Take <= limit
	if limit == 0 || !isCounted || isBounded {
		return nil
	}

	counted := []query.Plan{*plan}
	which := "match"
	if plan.Place != nil && plan.Place.After != nil {
		counted = remaining(plan)
		which = "follow the cursor"
	}
	total := int64(0)
	for i := range counted {
		tail, err := h.count(x, counted[i])
		if err != nil || !tail.Known {
			return err
		}
		total += tail.Total
	}
	if total-plan.Skip <= limit {
		return nil
	}
	if limitsGroups {
		return fault.New(fault.Invalid, tooManyGroups, total, limit)
	}
	return fault.Wrap(encode.ErrWorkbook, fault.Invalid, tooManyRows, total, which, limit)
}

// remaining returns the plans of the rows after a cursor, which the total of a page does not count.
func remaining(plan *query.Plan) []query.Plan {
	parts, _ := plan.Place.Parts(*plan)
	for i := range parts {
		parts[i].Place = nil
		parts[i].CountAgain = true // their number would only be remembered for this cursor
	}
	return parts
}

// count counts the rows of a plan without its limits.
func (h *Handler) count(x *edge.Context, plan query.Plan) (executor.Tail, error) {
	plan.Take = 0 // no rows, only the total
	plan.Aggregates = nil
	plan.Count = true
	rows, err := h.Store.Select(x.Request.Context(), &plan)
	if err != nil {
		return executor.Tail{}, err
	}
	defer rows.Close()
	return rows.Tail(0)
}

// Plan plans a query with additional conditions. Headers report the parts of the request that
// are ignored or limited.
func (h *Handler) Plan(x *edge.Context, members query.Members, where ...query.Condition) (*query.Plan, error) {
	if x.Kind.Database == record.AppDB {
		return h.planOwn(x, members, where)
	}
	req, err := query.Parse(x.Kind, members, x.Options.Query)
	if err != nil {
		return nil, err
	}
	return h.planRequest(x, req, where)
}

// planOwn is Plan for a kind of the service's own, with the members and the IDs that only these
// have.
func (h *Handler) planOwn(x *edge.Context, members query.Members, where []query.Condition) (*query.Plan, error) {
	if x.Kind.Name == MessageKind {
		period, wrong := PeriodOf(x.Kind, members)
		if err := form.Invalid(wrong); err != nil {
			return nil, err
		}
		members = form.Without(members, MemberSince, MemberUntil)
		where = append(where, period...)
	}
	req, err := query.Parse(x.Kind, members, x.Options.Query)
	if err != nil {
		return nil, err
	}
	StoredIDs(x.Kind, req.Where)
	plan, err := h.planRequest(x, req, where)
	if err != nil {
		return nil, err
	}
	if h.Mask != nil {
		plan.Mask = h.Mask(x)
	}
	return plan, nil
}

// planRequest plans a request with additional conditions.
func (h *Handler) planRequest(x *edge.Context, req *query.Request, where []query.Condition) (*query.Plan, error) {
	if req.Cursor != nil {
		if err := h.Store.SetPlace(x.Request.Context(), req, where); err != nil {
			return nil, err
		}
		where = req.Place.Path
	}
	req.Where = slices.Concat(req.Where, where)
	if x.HTML() && req.Take == query.NoTake {
		req.Take = pageTake
	}
	x.Timing.Parsed = time.Now()

	if x.Format.Bare() { // rows only: there is no place for aggregates
		for _, a := range req.Include {
			req.Ignored = append(req.Ignored, a.Name)
		}
		req.Include = nil
	}
	x.ReportIgnored(req.Ignored)
	if req.Clamped {
		x.Response.Header().Set(wire.HeaderTakeClamped, strconv.FormatInt(req.Take, 10))
	}
	return query.NewPlan(req, x.Options.CountPages)
}

// Kind returns the record kind of the route or in the path, nil if there is none.
func (h *Handler) Kind(o *edge.Options, r *edge.CompiledRoute, p edge.Params) (*record.Kind, error) {
	if r != nil && r.Kind != "" {
		kind, _ := h.System.Lookup(r.Kind) // a test checks that all kinds of the table exist
		return kind, nil
	}
	noun := "operation"
	nameOf := (*record.Kind).Operation
	otherNames := h.Names
	name := p.Get(edge.ParamOperation)
	if name == "" {
		noun = "record kind"
		nameOf = func(k *record.Kind) string { return k.Name }
		otherNames = nil
		name = p.Get(edge.ParamKind)
	}
	if name == "" {
		return nil, nil
	}

	kinds := o.Kinds()
	if kind, ok := kinds.Lookup(name); ok {
		sameName := query.SameName
		if r != nil && r.Exact() {
			sameName = func(a, b string) bool { return a == b }
		}
		if sameName(name, nameOf(kind)) { // Lookup finds both names of a kind
			return kind, nil
		}
	}
	if reason := reasonNotServed(o, name); reason != "" {
		return nil, fault.New(fault.NotFound, "%s is not served: %s", edge.Clean(name), reason)
	}
	return nil, fault.New(fault.NotFound, "unknown %s %s; %s", noun, edge.Clean(name),
		instead(kinds, name, nameOf, otherNames))
}

// reasonNotServed returns the reason why a kind, named by its own name or that of its
// operation, is not served, empty if there is no such kind.
func reasonNotServed(o *edge.Options, name string) string {
	if o.Unseen != nil {
		kind, unseen := o.Unseen.Lookup(name)
		if unseen && account.RoleOf(kind).Allows(account.NoRole) {
			return "its table or view is not seen in the ERP's database; whd check lists the remedies"
		}
	}
	if o.Mistaken != nil {
		if _, mistaken := o.Mistaken.Lookup(name); mistaken {
			return "a file of record kinds has a mistake; whd check shows it"
		}
	}
	_, served := o.Kinds().Lookup(name) // by the name that the route does not accept
	_, builtin := record.Builtin().Lookup(name)
	if builtin && !served {
		return "the setting erp.builtin leaves it out"
	}
	return ""
}

// instead returns similar names of kinds and of others, or else all names. Kinds that require a
// role are left out, since the user is not known yet.
func instead(kinds *record.Registry, name string, nameOf func(*record.Kind) string, others []string) string {
	var names []string
	kinds = kinds.Filter(func(k *record.Kind) bool { return account.RoleOf(k).Allows(account.NoRole) })
	for _, kind := range kinds.Kinds() {
		names = append(names, nameOf(kind))
	}
	names = append(names, others...)
	near := record.Suggest(name, names)
	if near == nil { // the registry knows kinds by both of their names
		for _, suggestion := range kinds.Suggest(name) {
			kind, _ := kinds.Lookup(suggestion)
			near = append(near, nameOf(kind))
		}
	}
	if near != nil {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "known: " + Listed(names)
}

// maxListed is the maximum number of names in a message, more than the service has itself.
const maxListed = 150

// Listed returns the names of kinds or operations for a message, or else where they are listed.
func Listed(names []string) string {
	if len(names) > maxListed {
		return strconv.Itoa(len(names)) + " names, which GET /metadata and, for record kinds, GET /Kinds list"
	}
	return strings.Join(names, ", ")
}

// MessageKind is the kind of messages. Its queries accept a period.
const MessageKind = "Message"

// The members that limit the time when messages were added, in addition to the
// filters of every query.
const (
	MemberSince = "Since" // inclusive
	MemberUntil = "Until" // exclusive
)

// PeriodOf converts Since and Until to conditions, and returns the errors of those that are not valid.
func PeriodOf(kind *record.Kind, members query.Members) ([]query.Condition, []fault.Field) {
	const added = "AddedDateTime"
	var where []query.Condition
	var wrong []fault.Field
	if since := form.MemberValue(members, MemberSince, &wrong, ParseDate); since != nil {
		where = append(where, Condition(kind, added, record.GreaterThanOrEqualTo, wire.Value{Text: *since}))
	}
	if until := form.MemberValue(members, MemberUntil, &wrong, ParseDate); until != nil {
		where = append(where, Condition(kind, added, record.LessThan, wire.Value{Text: *until}))
	}
	return where, wrong
}

// ParseDate parses a time, which is in UTC if it has no time zone.
func ParseDate(text string) (string, error) { return wire.ParseDate(text, time.UTC) }

// Condition returns a condition on a field, which must exist in the kind.
func Condition(kind *record.Kind, name string, op record.Operator, operand wire.Value) query.Condition {
	field, _ := kind.Column(name)
	return query.Condition{Field: field, Operator: op, Operands: []wire.Value{operand}}
}
