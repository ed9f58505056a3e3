package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/bizhook/whd/client/assistant"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/rest/webhooks"
)

// MCPOperation is the name of the operation that serves the tools.
const MCPOperation = "MCP"

// assistants serves the tools of package assistant. Their queries are those of the common
// route, with its settings and limits.
type assistants struct {
	access  *accounts.Access
	queries *queries.Handler
	why     func(*edge.Context) error
	service assistant.Service
}

// serve answers one message. A user of any role acts as a reader, but only an admin may call
// why.
func (h *assistants) serve(x *edge.Context) error {
	if err := h.access.CheckOrigin(x); err != nil {
		return err
	}
	isList := bytes.HasPrefix(bytes.TrimLeft(x.Body, " \t\r\n"), []byte("["))
	if isList { // its messages would run at the same time
		return fault.New(fault.Malformed, "the body must be one message; lists of messages are not supported")
	}

	source := &records{x: x, role: x.Identity.Role, queries: h.queries, why: h.why}
	x.Identity.Role = min(x.Identity.Role, account.Reader)
	r := x.Request.WithContext(x.Request.Context())
	r.Body = io.NopCloser(bytes.NewReader(x.Body))
	reply := &message{header: make(http.Header)}
	h.service.Handler(source).ServeHTTP(reply, r)
	if err := r.Context().Err(); err != nil {
		return err
	}
	for _, name := range []string{"Content-Type", "Allow"} {
		if text := reply.header.Get(name); text != "" {
			x.Response.Header().Set(name, text)
		}
	}
	return x.Write(reply.status, reply.body)
}

// message is a ResponseWriter that keeps a response.
type message struct {
	header http.Header
	status int
	body   []byte
}

func (m *message) Header() http.Header { return m.header }

func (m *message) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
}

func (m *message) Write(b []byte) (int, error) {
	m.WriteHeader(http.StatusOK)
	m.body = append(m.body, b...)
	return len(b), nil
}

// maxPage limits the size of a page in bytes before it is shortened to that of a result.
const maxPage = 1 << 20

// records is the source of the tools for the user of a request.
type records struct {
	x       *edge.Context
	role    account.Role // role of the user; why requires admin
	queries *queries.Handler
	why     func(*edge.Context) error
}

// Kinds returns the kinds that the user may read.
func (r *records) Kinds(context.Context) (*record.Registry, error) {
	return r.x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayRead(r.x, k) }), nil
}

// Query queries a kind. The request log shows the kind and the members.
func (r *records) Query(_ context.Context, kind *record.Kind, members map[string]any) (*assistant.Page, error) {
	page := new(assistant.Page)
	part, err := r.serve(r.queries.Serve, kind, members, page)
	page.Clamped = part.Response.Header().Get(wire.HeaderTakeClamped) != ""
	return page, err
}

// Why returns the history of a key.
func (r *records) Why(_ context.Context, key string) (*wire.Why, error) {
	asAdmin := func(part *edge.Context) error {
		if !r.role.Includes(account.Admin) {
			return fault.New(fault.Forbidden, "requires the role admin")
		}
		return r.why(part)
	}
	why := new(wire.Why)
	_, err := r.serve(asAdmin, nil, map[string]any{webhooks.MemberKey: key}, why)
	return why, err
}

// serve runs a handler with a request of its own, and decodes its response.
func (r *records) serve(
	handle func(*edge.Context) error, kind *record.Kind, members map[string]any, response any,
) (*edge.Context, error) {
	x := r.x
	kept := &edge.Kept{Room: maxPage}
	body, err := json.Marshal(members)
	part := x.Part(body, kept)
	part.Kind = kind
	part.URLMembers = nil
	part.Params = nil
	if err == nil {
		err = handle(part)
	}

	// The request log shows these, also after a failure.
	x.Kind = kind
	x.Members = part.Members
	x.Timing = part.Timing
	if kept.Full {
		return part, assistant.ErrTooLarge
	}
	if err == nil {
		err = json.Unmarshal(kept.Body, response)
	}
	if err == nil {
		return part, nil
	}
	status := x.LogFailure(publicError(x, err))
	return part, &assistant.Error{Message: status.Message, Fields: status.Errors}
}
