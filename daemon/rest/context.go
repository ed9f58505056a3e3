package rest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/query"
)

// exchange is one request on its way through the service, and what is known of
// it so far.
type exchange struct {
	w    *response
	r    *http.Request
	id   string
	log  *slog.Logger
	base string // http.base_path as links need it: empty, or with a leading slash only

	options *Options // the settings as they were when the request came

	route  *compiledRoute
	params params
	suffix string       // format named by a path suffix
	kind   *record.Kind // that the path names, if any

	timing timing
	origin origin
	who    account.Identity

	urlMembers query.Members
	members    query.Members // of path, URL and body, once they are read
	reply      reply
	coding     *coding // that the client accepts, nil for none
	body       []byte
	memory     bodyMemory
	logged     logged
}

// Options are what the settings say that may change while the service runs. Each
// change makes others: a request goes by those that it met.
type Options struct {
	Query            query.Options
	CountPages       bool // count the total of every page, not only where asked
	AnonymousQueries bool
	AnonymousPublish bool // events need no login from these networks
	PublishFrom      []netip.Prefix
	LogBodies        bool // the request log has what requests and replies carry
	Rate             Rate // of one address, and of one user or key
	Debug            bool
}

// timing is when the parts of a request were done.
type timing struct {
	start    time.Time
	parsed   time.Time // when the request had been read
	firstRow time.Time // when the first row had come from the store
}

// bodyMemory is what a request took from the budget of bodies.
type bodyMemory struct {
	bytes     int64
	anonymous bool // from the part of it that needs no login
}

// logged is what logs may show of a request and its reply.
type logged struct {
	path, query string               // without secrets
	failure     *wire.ResponseStatus // that was answered
	answer      []byte               // the beginning of a reply that is held whole, where the request log wants it
	maxAnswer   int                  // bytes of it; 0 for none
}

// html reports whether the answer is a page for a person.
func (x *exchange) html() bool { return x.reply.Format.Name == "html" && x.reply.callback == "" }

// document answers with a single value in the negotiated format.
func (x *exchange) document(status int, name string, v any) error {
	h := x.w.Header()
	h.Set("Content-Type", x.reply.Format.ContentType)
	body, err := x.reply.Format.Document(x.reply.open(h, nil), name, v)
	if err != nil {
		return err
	}
	return x.write(status, x.reply.close(body))
}

// write sends a body that is complete.
func (x *exchange) write(status int, body []byte) error {
	h := x.w.Header()
	if x.logged.maxAnswer > 0 {
		x.logged.answer = bytes.Clone(body[:min(len(body), x.logged.maxAnswer)])
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

// nothing answers that all is done and there is nothing to say.
func (x *exchange) nothing() error {
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}

// redirect sends a browser elsewhere on this host.
func (x *exchange) redirect(status int, to string) error {
	h := x.w.Header()
	h.Set("Location", to)
	h.Set("Content-Length", "0")
	x.w.WriteHeader(status)
	return nil
}

// list answers with all of a few things.
func (x *exchange) list(name string, documents any, count int) error {
	x.w.Header().Set(wire.HeaderTotal, strconv.Itoa(count))
	return x.document(http.StatusOK, name, documents)
}

// created answers with a new thing and where it is from now on.
func (x *exchange) created(collection, id, name string, document any) error {
	x.w.Header().Set("Location", x.base+collection+"/"+url.PathEscape(id))
	return x.document(http.StatusCreated, name, document)
}

// made answers with a body that was made whole.
func (x *exchange) made(contentType string, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", contentType)
	return x.write(http.StatusOK, body)
}

// header says where the time went, in milliseconds.
func (t *timing) header() string {
	b := appendMilliseconds([]byte("parse;dur="), t.parsed.Sub(t.start))
	b = appendMilliseconds(append(b, ", db;dur="...), t.firstRow.Sub(t.parsed))
	b = appendMilliseconds(append(b, ", first;dur="...), t.firstRow.Sub(t.start))
	return string(b)
}

// appendMilliseconds writes them with two digits after the point.
func appendMilliseconds(b []byte, d time.Duration) []byte {
	hundredths := d.Microseconds() / 10
	b = strconv.AppendInt(b, hundredths/100, 10)
	return append(b, '.', byte('0'+hundredths/10%10), byte('0'+hundredths%10))
}

// requestID takes over a proxy's id where it is harmless text, else makes one.
func requestID(r *http.Request) string {
	if id := r.Header.Get(wire.HeaderRequestID); id != "" && len(id) <= 64 && id == clean(id) && !strings.ContainsAny(id, " \"\\") {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
