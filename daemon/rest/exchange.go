package rest

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
)

// exchange is one request on its way through the server, and what is known of
// it so far.
type exchange struct {
	w  *response
	r  *http.Request
	id string

	options *Options // the settings as they were when the request came

	route    *compiledRoute
	params   params
	suffix   string       // format named by a path suffix
	kind     *record.Kind // that the path names, if any
	start    time.Time
	parsed   time.Time // when the request had been read
	firstRow time.Time // when the first row had come from the store

	address string // of the client, behind trusted proxies
	secure  bool   // the client came by TLS
	host    string // that the client asked for
	who     account.Identity

	urlMembers query.Members
	members    query.Members // of path, URL and body, once they are read
	nulls      bool          // nulls are written
	reply      reply
	body       []byte
	reserved   int64  // bytes that it took from the budget of bodies
	anonymous  bool   // from the part of it that needs no login
	answer     []byte // the beginning of a reply that is held whole, where the request log wants it
	keepAnswer bool
	shownPath  string // what logs may show of the path and the query
	shownQuery string
	failure    *wire.ResponseStatus // that was answered
	coding     *coding              // that the client accepts, nil for none
}

// document answers with a single value in the negotiated format.
func (x *exchange) document(status int, name string, v any) error {
	h := x.w.Header()
	h.Set("Content-Type", x.reply.format.ContentType)
	body, err := x.reply.format.Document(x.reply.open(h, nil), name, v)
	if err != nil {
		return err
	}
	return x.write(status, x.reply.close(body))
}

// write sends a body that is complete.
func (x *exchange) write(status int, body []byte) error {
	h := x.w.Header()
	if x.keepAnswer {
		x.answer = bytes.Clone(body[:min(len(body), requestlog.MaxBody+1)])
	}
	if x.coding != nil && len(body) >= compressFrom {
		small, err := x.coding.whole(body)
		if err != nil {
			return err
		}
		x.coding.announce(h)
		body = small
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, err := x.w.Write(body)
	return err
}
