package edge

import (
	"net/http"
	"strings"
)

// Part returns one request of several that x consists of. It has its own body, and
// its response is kept in JSON by out.
func (x *Context) Part(body []byte, out *Kept) *Context {
	part := *x
	part.Body = body
	part.Response = NewResponse(out, x.Response.Stall)
	part.Response.Kept = true
	part.Response.Slot = x.Response.Slot
	part.Coding = nil
	part.Format.callback = ""
	if part.Format.Name != JSONFormat().Name {
		part.Format.Format = JSONFormat() // without the options of x, which apply to the whole response
	}
	part.Params = part.Params[:len(part.Params):len(part.Params)] // handlers append
	part.Logged.Ignored = ""
	part.memory = bodyMemory{} // the body is that of x
	return &part
}

// Inner returns the request of a call that serves x, such as one of those that a page consists of. It
// has the credentials of x, its own body, and its response is kept by out.
func (x *Context) Inner(r *http.Request, call Call, body []byte, out *Kept) *Context {
	inner := x.Part(body, out)
	inner.Request = r
	inner.Call = call
	inner.Key = x.Key
	inner.Members = nil
	inner.Logged = Logged{}
	inner.site = nil
	return inner
}

// Adopt adds the cookies, the ignored members and the user of a part to x.
func (x *Context) Adopt(part *Context) {
	x.Identity = part.Identity
	for _, cookie := range part.Response.Header().Values("Set-Cookie") {
		x.Response.Header().Add("Set-Cookie", cookie)
	}
	if names := part.Logged.Ignored; names != "" {
		x.ReportIgnored(strings.Split(names, ignoredSeparator))
	}
}
