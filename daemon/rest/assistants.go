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
)

// MCPOperation is the name of the operation that serves the tools.
const MCPOperation = "MCP"

// assistants serves the tools of package assistant. Their queries are those of the common
// route, with its settings and limits.
type assistants struct {
	access  *accounts.Access
	queries *queries.Handler
	service assistant.Service
}

// serve answers one message. A user of any role acts as a reader.
func (h *assistants) serve(x *edge.Context) error {
	if err := h.access.CheckOrigin(x); err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(x.Body, " \t\r\n"), []byte("[")) { // they would run at the same time
		return fault.New(fault.Malformed, "the body must be one message; lists of messages are not supported")
	}
	x.Identity.Role = min(x.Identity.Role, account.Reader)
	r := x.Request.WithContext(x.Request.Context())
	r.Body = io.NopCloser(bytes.NewReader(x.Body))
	reply := &message{header: make(http.Header)}
	h.service.Handler(&records{x, h.queries}).ServeHTTP(reply, r)
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

// Header implements http.ResponseWriter.
func (m *message) Header() http.Header { return m.header }

// WriteHeader implements http.ResponseWriter.
func (m *message) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
}

// Write implements http.ResponseWriter.
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
	queries *queries.Handler
}

// Kinds implements assistant.Source.
func (r *records) Kinds(context.Context) (*record.Registry, error) {
	return r.x.Options.Kinds().Filter(func(k *record.Kind) bool { return queries.MayRead(r.x, k) }), nil
}

// Query implements assistant.Source. The request log shows the kind and the members.
func (r *records) Query(_ context.Context, kind *record.Kind, members map[string]any) (*assistant.Page, error) {
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	x, kept := r.x, &edge.Kept{Room: maxPage}
	part := x.Part(body, kept)
	part.Kind, part.URLMembers, part.Params = kind, nil, nil
	err = r.queries.Serve(part)
	x.Kind, x.Members, x.Timing = kind, part.Members, part.Timing
	page := &assistant.Page{Clamped: part.Response.Header().Get(wire.HeaderTakeClamped) != ""}
	switch {
	case kept.Full:
		return nil, assistant.ErrTooLarge
	case err == nil:
		err = json.Unmarshal(kept.Body, page)
	}
	if err == nil {
		return page, nil
	}
	status := x.LogFailure(publicError(x, err))
	return nil, &assistant.Error{Message: status.Message, Fields: status.Errors}
}
