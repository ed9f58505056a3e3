package rest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/spill"
)

// Store runs the queries.
type Store interface {
	// Select runs a plan in the database of its kind.
	Select(ctx context.Context, plan *query.Plan) (*executor.Result, error)
	// ERPVersion returns the version of the ERP, empty if it is not known.
	ERPVersion(ctx context.Context) (string, error)
	// Ready returns an error if the service's own data cannot be used.
	Ready(ctx context.Context) error
	// ERPReady returns an error if the ERP's records cannot be read.
	ERPReady(ctx context.Context) error
}

// queries has the handlers of queries of any kind.
type queries struct {
	store    Store
	registry *record.Registry
	system   *record.Registry // the service's own kinds
	names    []string         // of operations other than queries of registry
	space    *spill.Space     // for responses that clients read slowly; nil for none
}

// serve answers a query: it reads the members, plans, selects the rows and streams
// them.
func (h *queries) serve(x *edge.Context) error {
	members, err := readMembers(x)
	if err != nil {
		return err
	}
	plan, err := h.plan(x, members)
	if err != nil {
		return err
	}
	return h.rows(x, plan)
}

// rows responds with the rows of a plan. A query without a response is only validated. A
// query that the server stops to resolve a deadlock is repeated while nothing has been
// sent.
func (h *queries) rows(x *edge.Context, plan *query.Plan) error {
	if x.Route.Oneway {
		return x.NoContent(nil)
	}
	for attempt := 1; ; attempt++ {
		err := h.send(x, plan)
		if attempt == executor.MaxAttempts || !executor.IsDeadlock(err) || x.Response.Status != 0 {
			return err
		}
		if executor.Backoff(x.Request.Context(), attempt) != nil {
			return err
		}
	}
}

func (h *queries) send(x *edge.Context, plan *query.Plan) error {
	if err := h.fits(x, plan); err != nil {
		return err
	}
	rows, err := h.store.Select(x.Request.Context(), plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	space := h.space
	if !rows.HoldsLocks() {
		space = nil
	}
	return stream(x, plan, rows, space)
}

// fits returns an error if the result has more rows than the format can hold. It only
// counts them if the plan allows that; otherwise the response may be aborted later.
func (h *queries) fits(x *edge.Context, plan *query.Plan) error {
	most := x.Format.MaxRows
	if most == 0 || !plan.Count || plan.Take != query.NoTake && plan.Take <= most {
		return nil
	}
	count := *plan
	count.Take, count.Aggregates = 0, nil
	rows, err := h.store.Select(x.Request.Context(), &count)
	if err != nil {
		return err
	}
	defer rows.Close()
	tail, err := rows.Tail(0)
	if err == nil && tail.Known && tail.Total-plan.Skip > most {
		return fault.New(fault.Invalid, "%d rows match, but a sheet of a workbook holds at most %d; add conditions, use Take, or use csv", tail.Total, most)
	}
	return err
}

// plan plans a query with additional conditions. Headers report the parts of the request that
// are ignored or limited.
func (h *queries) plan(x *edge.Context, members query.Members, where ...query.Condition) (*query.Plan, error) {
	if x.Kind.Name == messageKind {
		period, wrong := periodOf(x.Kind, members)
		if err := invalidMembers(wrong); err != nil {
			return nil, err
		}
		members, where = without(members, memberSince, memberUntil), append(where, period...)
	}
	req, err := query.Parse(x.Kind, members, x.Options.Query)
	if err != nil {
		return nil, err
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

// without returns the members except those with the names, ignoring letter case.
func without(members query.Members, names ...string) query.Members {
	return slices.DeleteFunc(slices.Clone(members), func(m query.Member) bool { return hasName(names, m.Name) })
}

// kind returns the record kind of the route or in the path, nil if there is none.
func (h *queries) kind(r *edge.CompiledRoute, p edge.Params) (*record.Kind, error) {
	if r != nil && r.Kind != "" {
		kind, _ := h.system.Lookup(r.Kind) // a test checks that all kinds of the table exist
		return kind, nil
	}
	noun, nameOf, others := "operation", (*record.Kind).Operation, h.names
	name := p.Get(edge.ParamOperation)
	if name == "" {
		noun, nameOf, others = "record kind", func(k *record.Kind) string { return k.Name }, nil
		name = p.Get(edge.ParamKind)
	}
	if name == "" {
		return nil, nil
	}
	if kind, ok := h.registry.Lookup(name); ok && strings.EqualFold(name, nameOf(kind)) {
		return kind, nil
	}
	return nil, fault.New(fault.NotFound, "unknown %s %s; %s", noun, edge.Clean(name), h.instead(name, nameOf, others))
}

// instead returns similar names of kinds and of others, or else all names.
func (h *queries) instead(name string, nameOf func(*record.Kind) string, others []string) string {
	var names []string
	for _, kind := range h.registry.Kinds() {
		names = append(names, nameOf(kind))
	}
	names = append(names, others...)
	near := record.Suggest(name, names)
	if near == nil { // the registry knows kinds by both of their names
		for _, one := range h.registry.Suggest(name) {
			kind, _ := h.registry.Lookup(one)
			near = append(near, nameOf(kind))
		}
	}
	if near != nil {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "known: " + strings.Join(names, ", ")
}

// messageKind is the kind of messages. Its queries accept a period.
const messageKind = "Message"

// The members that limit the time when messages were added, in addition to the
// filters of every query.
const (
	memberSince = "Since" // inclusive
	memberUntil = "Until" // exclusive
)

// periodOf converts Since and Until to conditions.
func periodOf(kind *record.Kind, members query.Members) (where []query.Condition, wrong []fault.Field) {
	for _, end := range []struct {
		member   string
		operator record.Operator
	}{{memberSince, record.GreaterThanOrEqualTo}, {memberUntil, record.LessThan}} {
		if date := valueOf(members, end.member, &wrong, parseDate); date != nil {
			where = append(where, condition(kind, "AddedDateTime", end.operator, wire.Value{Text: *date}))
		}
	}
	return where, wrong
}

// valueOf returns a parsed member of a query, nil if it is not given. Errors are
// appended to wrong.
func valueOf[T any](members query.Members, name string, wrong *[]fault.Field, parse func(string) (T, error)) *T {
	m, given := members.Get(name)
	if !given || m.Empty {
		return nil
	}
	message := "takes one value"
	if !m.List && !m.Other && len(m.Texts) == 1 {
		v, err := parse(m.Texts[0])
		if err == nil {
			return &v
		}
		message = err.Error()
	}
	*wrong = append(*wrong, fault.Field{Name: name, Message: message})
	return nil
}

func parseDate(text string) (string, error) { return wire.ParseDate(text, time.UTC) }

// condition returns a condition on a field, which must exist in the kind.
func condition(kind *record.Kind, name string, op record.Operator, operand wire.Value) query.Condition {
	field, _ := kind.Column(name)
	return query.Condition{Field: field, Operator: op, Operands: []wire.Value{operand}}
}
