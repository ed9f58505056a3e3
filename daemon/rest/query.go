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
)

// Store has what is queried.
type Store interface {
	// Select runs a plan in the database that has its kind.
	Select(ctx context.Context, plan *query.Plan) (*executor.Result, error)
	// Ready reports why the store cannot be used, if so.
	Ready(ctx context.Context) error
}

// queries are the handlers of queries of any kind.
type queries struct {
	store    Store
	registry *record.Registry
	system   *record.Registry // the kinds that the service itself keeps
}

// serve answers a query: read its members, plan it, select the rows, stream them.
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

// rows answers with the rows of a plan.
func (h *queries) rows(x *edge.Context, plan *query.Plan) error {
	rows, err := h.store.Select(x.Request.Context(), plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	return stream(x, plan, rows)
}

// serveOneway checks a query and answers nothing.
func (h *queries) serveOneway(x *edge.Context) error {
	members, err := readMembers(x)
	if err == nil {
		_, err = h.plan(x, members)
	}
	return x.NoContent(err)
}

// plan plans a query with conditions beside those that its members are. What of
// the request is not done as asked, headers say.
func (h *queries) plan(x *edge.Context, members query.Members, where ...query.Condition) (*query.Plan, error) {
	if x.Kind.Name == messageKind {
		period, wrong := periodOf(x.Kind, members)
		if err := refused(wrong); err != nil {
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
	if x.Format.Bare() { // nothing but rows: there is no place for aggregates
		for _, a := range req.Include {
			req.Ignored = append(req.Ignored, a.Name)
		}
		req.Include = nil
	}
	if len(req.Ignored) > 0 {
		x.Response.Header().Set(wire.HeaderIgnoredMembers, edge.Clean(strings.Join(req.Ignored, ", ")))
	}
	if req.Clamped {
		x.Response.Header().Set(wire.HeaderTakeClamped, strconv.FormatInt(req.Take, 10))
	}
	return query.NewPlan(req, x.Options.CountPages)
}

// without leaves members out by their names, in any letter case.
func without(members query.Members, names ...string) query.Members {
	return slices.DeleteFunc(slices.Clone(members), func(m query.Member) bool { return named(names, m.Name) })
}

// kind finds the record kind of the route, or that the path names, nil where
// there is none.
func (h *queries) kind(r *edge.CompiledRoute, p edge.Params) (*record.Kind, error) {
	if r != nil && r.Kind != "" {
		kind, _ := h.system.Lookup(r.Kind) // which a test of the table looks up too
		return kind, nil
	}
	what, nameOf := "operation", (*record.Kind).Operation
	name := p.Get(edge.ParamOperation)
	if name == "" {
		what, nameOf = "record kind", func(k *record.Kind) string { return k.Name }
		name = p.Get(edge.ParamKind)
	}
	if name == "" {
		return nil, nil
	}
	if kind, ok := h.registry.Lookup(name); ok && strings.EqualFold(name, nameOf(kind)) {
		return kind, nil
	}
	return nil, fault.New(fault.NotFound, "there is no %s %s; %s", what, edge.Clean(name), h.instead(name, nameOf))
}

// instead lists the kinds that resemble a name, or else all of them.
func (h *queries) instead(name string, nameOf func(*record.Kind) string) string {
	var names []string
	for _, near := range h.registry.Suggest(name) {
		if kind, ok := h.registry.Lookup(near); ok {
			names = append(names, nameOf(kind))
		}
	}
	if names != nil {
		return "near: " + strings.Join(names, ", ")
	}
	for _, kind := range h.registry.Kinds() {
		names = append(names, nameOf(kind))
	}
	return "there are: " + strings.Join(names, ", ")
}

// messageKind is the kind of messages, whose queries take a period.
const messageKind = "Message"

// The members that say when messages were added, beside the filters of every
// query.
const (
	memberSince = "Since" // and later
	memberUntil = "Until" // and earlier, but not at that time
)

// periodOf makes conditions of Since and Until.
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

// valueOf is the value of a member of a query as parse reads it, nil where it is
// not given. What is wrong with it goes to wrong.
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

// condition compares a field of a kind of ours, which has it.
func condition(kind *record.Kind, name string, op record.Operator, operand wire.Value) query.Condition {
	field, _ := kind.Column(name)
	return query.Condition{Field: field, Operator: op, Operands: []wire.Value{operand}}
}
