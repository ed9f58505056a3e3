package edge

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// What pages of listed origins may read and send, beside what browsers let any
// page read and send.
var (
	exposedHeaders = strings.Join([]string{
		wire.HeaderRequestID, wire.HeaderRowCount, wire.HeaderDigest, wire.HeaderOffset, wire.HeaderTotal,
		wire.HeaderTakeClamped, wire.HeaderIgnoredMembers, wire.HeaderReplayed, "Content-Disposition", "Location", "Retry-After", "Server-Timing",
	}, ", ")
	acceptedHeaders = strings.Join([]string{"Authorization", "Content-Type", wire.HeaderSessionID, wire.HeaderRequestID, "Want-Digest", wire.HeaderIdempotencyKey, wire.HeaderLastEventID}, ", ")
)

// preflightAge is for how long browsers may remember an answer, in seconds.
const preflightAge = "600"

// CORS are the origins whose pages may use the service, as browsers write them.
type CORS []string

// Share lets a page of a listed origin read the reply. Others get no word
// of it, which makes their browsers keep the reply from them.
func (c CORS) Share(x *Context) {
	if len(c) == 0 {
		return
	}
	h := x.Response.Header()
	h.Add("Vary", "Origin")
	origin := x.Request.Header.Get("Origin")
	if !slices.Contains(c, origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// Preflight answers what a browser asks before it lets a page send a request
// that is more than a form or a link could send.
func (c CORS) Preflight(x *Context, methods []string) {
	h := x.Response.Header()
	if h.Get("Access-Control-Allow-Origin") == "" || x.Request.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers", acceptedHeaders)
	h.Set("Access-Control-Max-Age", preflightAge)
}
