package edge

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// Call is a request in resolved form. The server resolves it once, from the URL, the headers and
// the settings, before it authenticates the caller and reads the body. A call that cannot be
// resolved is as complete as possible: the response to the error has its format.
//
// Some of it may be in the body, and is added when that is read: the path of an operation that is
// called by its name, see WithPath, and the byte order mark of CSV.
type Call struct {
	Route  *CompiledRoute // nil for an unknown path, or a method that it does not have
	Params Params
	Kind   *record.Kind // named by the path, if any

	URLMembers query.Members // members of the query string, without Key
	Key        string        // API key in the query string, if the settings allow it there
	HasSecret  bool          // the query string has an API key, or cannot be read and may have one

	Format ResponseFormat
	Suffix string   // format named by a path suffix
	Coding *Coding  // accepted by the client, nil for none
	Unused []string // names of options of the format that have no effect

	Refresh int // seconds after which a browser loads the page again; 0 for never

	IsForm bool // a page's filter form may have sent the query string, see queries.FormAddress
	IsList bool // the body is a list of requests
	IsFeed bool // the path is below those of Exact routes

	InPortal bool // the path is PortalPath or below it, and the pages of subscribers are served
}

// WithPath returns the call with these path parameters and the kind that they name, nil for none.
func (c Call) WithPath(params Params, kind *record.Kind) Call {
	c.Params = params
	c.Kind = kind
	return c
}
