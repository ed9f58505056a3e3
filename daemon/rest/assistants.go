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

// serve answers one message. No user acts as more than a reader, but an admin may call why.
func (h *assistants) serve(x *edge.Context) error {
	if err := h.access.CheckOrigin(x); err != nil {
		return err
	}
	isList := bytes.HasPrefix(bytes.TrimLeft(x.Body, " \t\r\n"), []byte("["))
	if isList { // its messages would run at the same time
		return fault.New(fault.Malformed, "the body must be one message; lists of messages are not supported")
	}

	source := &userRecords{x: x, role: x.Identity.Role, queries: h.queries, why: h.why}
	x.Identity.Role = min(x.Identity.Role, account.Reader)
	r := x.Request.WithContext(x.Request.Context()) // a copy with a body that is read again
	r.Body = io.NopCloser(bytes.NewReader(x.Body))
	reply := &replyRecorder{header: make(http.Header)}
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

// replyRecorder is a ResponseWriter that keeps a response.
type replyRecorder struct {
	header http.Header
	status int
	body   []byte
}

func (rec *replyRecorder) Header() http.Header { return rec.header }

func (rec *replyRecorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
}

func (rec *replyRecorder) Write(b []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	rec.body = append(rec.body, b...)
	return len(b), nil
}

// maxPage limits the size of a page in bytes before it is shortened to that of a result.
const maxPage = 1 << 20

// userRecords is the source of the tools: the data that the user of a request may read.
type userRecords struct {
	x       *edge.Context
	role    account.Role // role of the user; why requires admin
	queries *queries.Handler
	why     func(*edge.Context) error
}

// Kinds returns the kinds that the user may read.
func (r *userRecords) Kinds(context.Context) (*record.Registry, error) {
	return r.x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayRead(r.x, k) }), nil
}

// Query queries a kind. The request log shows the kind and the members.
func (r *userRecords) Query(_ context.Context, kind *record.Kind, members map[string]any) (*assistant.Page, error) {
	page := new(assistant.Page)
	part, err := r.serve(r.queries.Serve, kind, members, page)
	page.Clamped = part.Response.Header().Get(wire.HeaderTakeClamped) != ""
	return page, err
}

// Why returns the history of a key.
func (r *userRecords) Why(_ context.Context, key string) (*wire.Why, error) {
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
func (r *userRecords) serve(
	handle func(*edge.Context) error, kind *record.Kind, members map[string]any, response any,
) (*edge.Context, error) {
	r.x.Kind = kind // for the request log, also after a failure
	kept := &edge.Kept{Room: maxPage}
	body, err := json.Marshal(members)
	part := r.x.Part(body, kept)
	if err != nil {
		return part, r.fail(err)
	}
	part.Kind = kind
	part.URLMembers = nil
	part.Params = nil
	err = handle(part)

	// The request log shows these, like the kind.
	r.x.Members = part.Members
	r.x.Timing = part.Timing
	if kept.Full {
		return part, assistant.ErrTooLarge
	}
	if err != nil {
		return part, r.fail(err)
	}
	if err := json.Unmarshal(kept.Body, response); err != nil {
		return part, r.fail(err)
	}
	return part, nil
}

// fail logs why a tool failed, and returns that as a model may read it.
func (r *userRecords) fail(err error) error {
	status := r.x.LogFailure(publicError(r.x, err))
	return &assistant.Error{Message: status.Message, Fields: status.Errors}
}
