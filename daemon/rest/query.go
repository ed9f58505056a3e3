package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// query answers a query: find the kind, read the request, plan it, select the
// rows, stream them.
func (s *Server) query(x *exchange) error {
	plan, err := s.plan(x)
	if err != nil {
		return err
	}
	rows, err := s.Store.Select(x.r.Context(), plan)
	if err != nil {
		return err
	}
	defer rows.Close()
	return s.stream(x, shape(x, plan), plan, rows)
}

// queryOneway checks a query and answers nothing.
func (s *Server) queryOneway(x *exchange) error {
	if _, err := s.plan(x); err != nil {
		return err
	}
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) plan(x *exchange) (*query.Plan, error) {
	kind, err := s.kind(x.params.get("Kind"))
	if err != nil {
		return nil, err
	}
	members, err := s.members(x)
	if err != nil {
		return nil, err
	}
	req, err := query.Parse(kind, members, s.Query)
	if err != nil {
		return nil, err
	}
	noteRequest(x.w.Header(), req)
	x.parsed = time.Now()
	return query.NewPlan(req, s.CountPages)
}

func (s *Server) kind(name string) (*record.Kind, error) {
	if kind, ok := s.Registry.Lookup(name); ok && len(name) <= len(kind.Name) {
		return kind, nil
	}
	near := s.Registry.Near(name)
	if len(near) == 0 {
		return nil, fault.New(fault.NotFound, "there is no record kind %s; /metadata lists them", clean(name))
	}
	return nil, fault.New(fault.NotFound, "there is no record kind %s; near: %s", clean(name), strings.Join(near, ", "))
}

// noteRequest says in headers what of the request was not done as asked.
func noteRequest(h http.Header, req *query.Request) {
	if len(req.Ignored) > 0 {
		h.Set(wire.HeaderIgnoredMembers, clean(strings.Join(req.Ignored, ", ")))
	}
	if req.Clamped {
		h.Set(wire.HeaderTakeClamped, itoa(req.Take))
	}
}

func shape(x *exchange, plan *query.Plan) encode.Shape {
	sh := encode.Shape{
		Operation: plan.Kind.Operation(),
		Record:    plan.Kind.Name,
		Columns:   make([]encode.Column, len(plan.Columns)),
		Nulls:     strings.EqualFold(x.urlMembers.Text(query.Nulls), "include"),
	}
	for i, c := range plan.Columns {
		f := plan.Kind.Fields[c]
		sh.Columns[i] = encode.Column{Name: f.Name, Type: f.Type}
	}
	if x.reply.html {
		sh.Links = formatLinks(x.r.URL.RawQuery, x.r.URL.EscapedPath())
	}
	return sh
}

// formatLinks are addresses of the same rows in other formats.
func formatLinks(rawQuery, path string) []encode.Link {
	var links []encode.Link
	for _, f := range encode.Formats() {
		if f.Name == "html" {
			continue
		}
		link := path + "?format=" + f.Name
		for pair := range strings.SplitSeq(rawQuery, "&") {
			if name, _, _ := strings.Cut(pair, "="); pair != "" && !strings.EqualFold(name, query.Format) {
				link += "&" + pair
			}
		}
		links = append(links, encode.Link{Name: strings.ToUpper(f.Name), URL: link})
	}
	return links
}
