package rest

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
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

// serve answers a query: find the kind, read the request, plan it, select the
// rows, stream them.
func (h *queries) serve(x *edge.Context) error {
	plan, err := h.plan(x)
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
	return stream(x, h.shape(x, plan), plan, rows)
}

// serveOneway checks a query and answers nothing.
func (h *queries) serveOneway(x *edge.Context) error {
	if _, err := h.plan(x); err != nil {
		return err
	}
	x.Response.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *queries) plan(x *edge.Context) (*query.Plan, error) {
	members, err := readMembers(x)
	if err != nil {
		return nil, err
	}
	return h.planMembers(x, members)
}

// planMembers plans a query with conditions beside those that its members are.
func (h *queries) planMembers(x *edge.Context, members query.Members, where ...query.Condition) (*query.Plan, error) {
	filters, period, err := withoutPeriod(x, members)
	if err != nil {
		return nil, err
	}
	req, err := query.Parse(x.Kind, filters, x.Options.Query)
	if err != nil {
		return nil, err
	}
	req.Where = slices.Concat(req.Where, where, period)
	x.Members = members
	if x.HTML() && req.Take == query.NoTake {
		req.Take = pageTake
	}
	x.Timing.Parsed = time.Now()
	if x.Format.Bare() {
		dropAggregates(req)
	}
	noteRequest(x.Response.Header(), req)
	return query.NewPlan(req, x.Options.CountPages)
}

// dropAggregates takes out what a reply that is nothing but rows has no place
// for, and says so.
func dropAggregates(req *query.Request) {
	for _, a := range req.Include {
		req.Ignored = append(req.Ignored, a.Name)
	}
	req.Include = nil
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
	for _, near := range h.registry.Near(name) {
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

// noteRequest says in headers what of the request was not done as asked.
func noteRequest(h http.Header, req *query.Request) {
	if len(req.Ignored) > 0 {
		h.Set(wire.HeaderIgnoredMembers, edge.Clean(strings.Join(req.Ignored, ", ")))
	}
	if req.Clamped {
		h.Set(wire.HeaderTakeClamped, strconv.FormatInt(req.Take, 10))
	}
}

func (h *queries) shape(x *edge.Context, plan *query.Plan) encode.Shape {
	sh := encode.Shape{
		Operation: plan.Kind.Operation(),
		Record:    plan.Kind.Name,
		Columns:   make([]encode.Column, len(plan.Columns)),
		Nulls:     strings.EqualFold(x.Members.Text(query.Nulls), "include"),
	}
	for i, c := range plan.Columns {
		f := plan.Kind.Fields[c]
		sh.Columns[i] = encode.Column{Name: f.Name, Type: f.Type}
	}
	if x.HTML() {
		sh.Links, sh.View = otherFormats(x), view(x, plan)
	}
	return sh
}
