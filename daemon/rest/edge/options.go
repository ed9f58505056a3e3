package edge

import (
	"net/netip"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// Config has the HTTP settings that do not change while the service runs.
type Config struct {
	BasePath       string
	HostURL        string          // the service's public URL; empty if not configured
	Hosts          []string        // additional names of the service, in lower case
	HostNames      func() []string // returns the names of the machine; nil for none
	TrustedProxies []netip.Prefix
	ForwardedHost  bool          // the proxies set X-Forwarded-Host; otherwise clients may have set it
	CORSOrigins    []string      // in the form of the Origin header
	MaxRequests    int           // in progress at the same time
	MaxBody        int64         // in bytes
	MaxHead        int           // limit of URL and headers together, in bytes
	BodyMemory     int64         // limit of all request bodies, in bytes; at least minBodyFactor times MaxBody
	ReplyMemory    int64         // limit of all responses that are held whole, in bytes; at least minReplyMemory
	BodyTimeout    time.Duration // maximum time for a body without data, or below bodyRate
	WriteStall     time.Duration // maximum time in which a client reads nothing of a response
	Clients        *Clients      // the connections, for metrics; nil for none
}

// Options has the settings that may change while the service runs. A change replaces
// the Options; requests in progress keep theirs.
type Options struct {
	Registry         *record.Registry // the record kinds; nil for the built-in ones
	Events           []record.Event   // those that subscriptions can receive; nil without webhooks
	Unseen           *record.Registry // kinds that are not served, since their tables are not seen; nil for none
	Mistaken         *record.Registry // built-in kinds that mistakes in files leave out; nil for none
	Query            query.Options
	FeedPage         int64 // maximum number of rows on a page of OData
	CountPages       bool  // count the total of every page, not only on request
	AnonymousQueries bool  // queries need no login
	AnonymousPublish bool  // events from the networks PublishFrom need no login
	PublishFrom      []netip.Prefix
	KeyInURL         bool   // accept API keys in URLs
	LogToday         bool   // queries of the request log without a date return today's requests
	FormulaGuard     bool   // cells of CSV that look like a formula get an apostrophe
	LogBodies        bool   // the request log records bodies
	LogLines         bool   // the daemon's own log has a line for each request
	Rate             Rate   // limits of an address, and of a user or key
	ISODates         bool   // times of webhooks are in ISO notation instead of the legacy one
	Debug            bool   // error responses have a stack trace
	MCP              bool   // serve tools for assistants
	Portal           bool   // serve the pages of subscribers
	PublicURL        string // base URL of the service from outside, without a trailing slash; empty if not configured
}

// Kinds returns the record kinds.
func (o *Options) Kinds() *record.Registry {
	if o.Registry == nil {
		return record.Builtin()
	}
	return o.Registry
}
