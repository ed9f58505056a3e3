// Package edge is what every request passes at the HTTP edge: framing, routing,
// negotiation, limits, CORS and CSRF, compression, and the writing of replies.
package edge

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

// Context is one request on its way through the service, and what is known of
// it so far.
type Context struct {
	Response *Response
	Request  *http.Request
	ID       string
	Log      *slog.Logger
	Base     string // http.base_path as links need it: empty, or with a leading slash only

	Options *Options // the settings as they were when the request came

	Route  *CompiledRoute
	Params Params
	Suffix string       // format named by a path suffix
	Kind   *record.Kind // that the path names, if any

	Timing   Timing
	Origin   Origin
	Identity account.Identity

	URLMembers query.Members
	Members    query.Members // of path, URL and body, once they are read
	Format     ResponseFormat
	Coding     *Coding // that the client accepts, nil for none
	Body       []byte
	memory     bodyMemory
	Logged     Logged
}

// Config is what the settings say of HTTP that does not change while the service
// runs.
type Config struct {
	BasePath       string
	HostURL        string          // the service's own address, by which the company reaches it; empty where nobody said
	Hosts          []string        // names of the service, beside its own, in small letters
	HostNames      func() []string // of the machine; nil for none
	TrustedProxies []netip.Prefix
	CORSOrigins    []string // as browsers write them
	MaxRequests    int
	MaxBody        int64
	MaxHead        int           // of URL and headers
	BodyMemory     int64         // of all request bodies together; at least minBodyMemory times MaxBody
	BodyTimeout    time.Duration // how long a client may send nothing of a body, or less than bodyRate
	WriteStall     time.Duration // how long a client may take no byte of a reply
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

// Timing is when the parts of a request were done.
type Timing struct {
	Start    time.Time
	Parsed   time.Time // when the request had been read
	FirstRow time.Time // when the first row had come from the store
}

// bodyMemory is what a request took from the budget of bodies.
type bodyMemory struct {
	bytes     int64
	anonymous bool // from the part of it that needs no login
}

// Logged is what logs may show of a request and its reply.
type Logged struct {
	Path, Query string               // without secrets
	Failure     *wire.ResponseStatus // that was answered
	Answer      []byte               // the beginning of a reply that is held whole, where the request log wants it
	MaxAnswer   int                  // bytes of it; 0 for none
}

// HTML reports whether the answer is a page for a person.
func (x *Context) HTML() bool { return x.Format.Name == "html" && x.Format.callback == "" }

// Document answers with a single value in the negotiated format.
func (x *Context) Document(status int, name string, v any) error {
	h := x.Response.Header()
	h.Set("Content-Type", x.Format.ContentType)
	body, err := x.Format.Document(x.Format.Open(h, nil), name, v)
	if err != nil {
		return err
	}
	return x.Write(status, x.Format.Close(body))
}

// Write sends a body that is complete.
func (x *Context) Write(status int, body []byte) error {
	h := x.Response.Header()
	if x.Logged.MaxAnswer > 0 {
		x.Logged.Answer = bytes.Clone(body[:min(len(body), x.Logged.MaxAnswer)])
	}
	if x.Coding != nil && len(body) >= compressFrom {
		small, err := x.Coding.whole(body)
		if err != nil {
			return err
		}
		x.Coding.Announce(h)
		body = small
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.Response.WriteHeader(status)
	_, err := x.Response.Write(body)
	return err
}

// Answer answers with a single value, unless there is an error.
func (x *Context) Answer(name string, v any, err error) error {
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, name, v)
}

// NoContent answers that all is done and there is nothing to say, unless there is
// an error.
func (x *Context) NoContent(err error) error {
	if err != nil {
		return err
	}
	x.Response.WriteHeader(http.StatusNoContent)
	return nil
}

// Redirect sends a browser elsewhere on this host.
func (x *Context) Redirect(status int, to string) error {
	h := x.Response.Header()
	h.Set("Location", to)
	h.Set("Content-Length", "0")
	x.Response.WriteHeader(status)
	return nil
}

// List answers with all of a few things, as their documents, unless there is an
// error.
func List[T, D any](x *Context, name string, all []T, err error, document func(T) D) error {
	if err != nil {
		return err
	}
	documents := make([]D, len(all))
	for i, one := range all {
		documents[i] = document(one)
	}
	x.Response.Header().Set(wire.HeaderTotal, strconv.Itoa(len(all)))
	return x.Document(http.StatusOK, name, documents)
}

// Created answers with a new thing and where it is from now on, unless there is
// an error.
func (x *Context) Created(collection, id, name string, document any, err error) error {
	if err != nil {
		return err
	}
	x.Response.Header().Set("Location", x.Base+collection+"/"+url.PathEscape(id))
	return x.Document(http.StatusCreated, name, document)
}

// Send answers with a body that was made whole.
func (x *Context) Send(contentType string, body []byte, err error) error {
	if err != nil {
		return err
	}
	x.Response.Header().Set("Content-Type", contentType)
	return x.Write(http.StatusOK, body)
}

// Header says where the time went, in milliseconds.
func (t *Timing) Header() string {
	b := appendMilliseconds([]byte("parse;dur="), t.Parsed.Sub(t.Start))
	b = appendMilliseconds(append(b, ", db;dur="...), t.FirstRow.Sub(t.Parsed))
	b = appendMilliseconds(append(b, ", first;dur="...), t.FirstRow.Sub(t.Start))
	return string(b)
}

// appendMilliseconds writes them with two digits after the point.
func appendMilliseconds(b []byte, d time.Duration) []byte {
	hundredths := d.Microseconds() / 10
	b = strconv.AppendInt(b, hundredths/100, 10)
	return append(b, '.', byte('0'+hundredths/10%10), byte('0'+hundredths%10))
}

// RequestID takes over a proxy's id where it is harmless text, else makes one.
func RequestID(r *http.Request) string {
	if id := r.Header.Get(wire.HeaderRequestID); id != "" && len(id) <= 64 && id == Clean(id) && !strings.ContainsAny(id, " \"\\") {
		return id
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
