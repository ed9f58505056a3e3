package client

import (
	"errors"
	"net/http"

	"github.com/go-resty/resty/v2"
)

// ErrNotSent is the outcome of a call whose request was only shown.
var ErrNotSent = errors.New("not sent")

// Request is a request that was put together and not sent. Its header is
// without secrets; its body is whole.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// shown describes what a call would send.
func (c *Client) shown(what call, r *resty.Request) Request {
	header := redactHeader(r.Header)
	header.Set("User-Agent", c.options.UserAgent)
	if r.UserInfo != nil {
		header.Set("Authorization", "Basic "+hidden)
	}
	if r.Token != "" {
		header.Set("Authorization", "Bearer "+hidden)
	}
	for name, values := range header {
		if len(values) == 0 {
			delete(header, name)
		}
	}
	return Request{Method: what.method, URL: c.base + what.path, Header: header, Body: what.body}
}
