package edge

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// Response and request headers allowed for listed origins, in addition to those that
// browsers always allow.
var (
	exposedHeaders = strings.Join([]string{
		wire.HeaderRequestID, wire.HeaderRowCount, wire.HeaderDigest, wire.HeaderOffset, wire.HeaderTotal,
		wire.HeaderTakeClamped, wire.HeaderFormulaGuard, wire.HeaderIgnoredMembers,
		wire.HeaderReplayed, wire.HeaderListCompleted, "Content-Disposition", "Link", "Location",
		"Retry-After", "Server-Timing",
	}, ", ")
	acceptedHeaders = strings.Join([]string{
		"Authorization", "Content-Type", wire.HeaderSessionID, wire.HeaderRequestID,
		"Want-Digest", wire.HeaderFormulaGuard, wire.HeaderIdempotencyKey,
		wire.HeaderLastEventID, wire.HeaderMethodOverride, "Mcp-Protocol-Version",
	}, ", ")
)

// preflightAge is the time for which browsers may cache a preflight response, in
// seconds.
const preflightAge = "600"

// CORS lists the origins that may use the service, as in the Origin header.
type CORS []string

// Share allows a page of a listed origin to read the response. Without these
// headers, browsers withhold the response from the page.
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

// Preflight answers the OPTIONS request that a browser sends before a request that
// forms and links cannot make.
func (c CORS) Preflight(x *Context, methods []string) {
	h := x.Response.Header()
	if h.Get("Access-Control-Allow-Origin") == "" || x.Request.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", strings.Join(methods, ", "))
	h.Set("Access-Control-Allow-Headers", acceptedHeaders)
	h.Set("Access-Control-Max-Age", preflightAge)
}
