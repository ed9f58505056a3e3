package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
)

// exchange is one request on its way through the server, and what is known of
// it so far.
type exchange struct {
	w  *response
	r  *http.Request
	id string

	route    *compiledRoute
	params   params
	suffix   string // format named by a path suffix
	start    time.Time
	parsed   time.Time // when the request had been read
	firstRow time.Time // when the first row had come from the store

	address string // of the client, behind trusted proxies
	secure  bool   // the client came by TLS
	host    string // that the client asked for
	who     account.Identity

	urlMembers query.Members
	reply      reply
}

// reply is how the answer is to be written.
type reply struct {
	format   encode.Format
	callback string // JSONP
	html     bool
}

// sameOrigin reports whether a browser sent the request from a page of ours,
// or no browser did. Sec-Fetch-Site decides where it is there; else Origin and
// Referer must name our host.
func (x *exchange) sameOrigin() bool {
	if site := x.r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	for _, name := range []string{"Origin", "Referer"} {
		if text := x.r.Header.Get(name); text != "" {
			from, err := url.Parse(text)
			return err == nil && from.Host == x.host
		}
	}
	return true
}

// document answers with a single value in the negotiated format.
func (x *exchange) document(status int, name string, v any) error {
	var body []byte
	h := x.w.Header()
	h.Set("Content-Type", x.reply.format.ContentType)
	if x.reply.callback != "" {
		body = openCallback(h, x.reply.callback, body)
	}
	body, err := x.reply.format.Document(body, name, v)
	if err != nil {
		return err
	}
	if x.reply.callback != "" {
		body = append(body, ')')
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, err = x.w.Write(body)
	return err
}
