package client

import (
	"errors"
	"net/http"

	"github.com/go-resty/resty/v2"
)

// ErrNotSent is returned by calls if Options.DryRun is set.
var ErrNotSent = errors.New("not sent")

// Request is a request that is not sent. Secrets in the header are masked; the body is
// complete.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// dryRunRequest returns the request that a call would send.
func (c *Client) dryRunRequest(req call, r *resty.Request) Request {
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
	body, _ := r.Body.([]byte) // nil for none
	return Request{Method: req.method, URL: c.base + req.path, Header: header, Body: body}
}
