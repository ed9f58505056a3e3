package edge

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

// Router finds the route of a path. net/http's router is not used because it is
// case-sensitive and redirects superfluous slashes, which clients of the reference
// service do not support.
type Router struct {
	base   []string // segments of http.base_path
	routes []*CompiledRoute
	byEnd  map[string][]int // indexes of routes, by the last segment in lower case; "" for a parameter
	exact  []int            // indexes of Exact routes
}

// Route is one row of the route table. The router, the checks and the documentation
// use it.
type Route struct {
	Methods   string // separated by spaces; GET includes HEAD
	Pattern   string // literal segments in any letter case; {Name} matches any segment
	Role      account.Role
	Serve     func(*Context) error
	Summary   string
	Operation string // name in the documentation
	Kind      string // the queried kind, of the service's own kinds
	Changes   bool   // must not be sent by a page of another origin; see CSRF
	Status    int    // on success, if it is not 200
	SignedIn  bool   // requires the role Reader, but never anonymous, even if queries are
	Large     bool   // its body may be as large as the body of an event
	Webhooks  bool   // belongs to webhooks, which may be disabled
	Streaming bool   // lasts until either side ends it; not counted as a concurrent request
	Oneway    bool   // the response is not sent
	NoHead    bool   // GET does not include HEAD: a changing operation has GET by its name only
	Portal    bool   // a page of subscribers, which the settings may disable
	Redacted  bool   // members and bodies must not be logged; true for some patterns in any case

	// Page is the path of a page about the same, which browsers show for the bare address; empty for
	// none.
	Page string

	// ByName means that the last segment is the name of an operation. With [] after it, the body is
	// a list of requests.
	ByName bool

	// Always is for routes that are polled, or requested by every browser: they are served when the
	// service is full or stopping, and not recorded in the request log.
	Always bool
}

// ExactRoot is the first segment of the paths that are compared as they were sent: their letter
// case, slashes and dots count, and a segment of a pattern may have several parameters.
const ExactRoot = "odata"

// Exact reports whether the path of the route is compared as it was sent.
func (r Route) Exact() bool { return strings.HasPrefix(r.Pattern, "/"+ExactRoot) }

// Path parameters with the same meaning in every route.
const (
	ParamFormat    = "Format"    // the name of a format
	ParamOperation = "Operation" // a record kind, by the name of its operation
	ParamKind      = "Kind"      // a record kind, by its own name
)

// ParamList is set if the path ends with it: the body is a list of requests.
const ParamList = "[]"

// ParamKey is the API key in the query string, if the settings allow it there.
const ParamKey = "apikey"

// CommonParams lists the path parameters that are never members of an operation.
var CommonParams = []string{ParamFormat, ParamOperation}

// CompiledRoute is a Route with its pattern split.
type CompiledRoute struct {
	Route
	methods  []string
	segments []segment
}

// segment is one segment of a pattern: a literal or a parameter.
type segment struct {
	literal string
	param   string
	exact   *regexp.Regexp // pattern of an Exact route; its groups are parameters
}

// Params are the values of a pattern's parameters.
type Params []Param

// Param is the value of one parameter.
type Param struct{ Name, Value string }

// Get returns the value of a parameter, empty if there is none.
func (p Params) Get(name string) string {
	for _, param := range p {
		if param.Name == name {
			return param.Value
		}
	}
	return ""
}

// redactedSegments are first segments of patterns. The members and bodies of these routes are
// never logged, not even masked.
var redactedSegments = []string{"auth", "authenticate", "login", "users", "apikeys", "sessions"}

// Redacts reports whether members and bodies of the route must not be logged.
func (r Route) Redacts() bool {
	if r.Redacted {
		return true
	}
	pattern := strings.ToLower(r.Pattern)
	segments := splitPath(pattern)
	if len(segments) == 0 {
		return false
	}
	if slices.Contains(redactedSegments, segments[0]) || strings.HasPrefix(pattern, "/webhooks/events") {
		return true
	}
	// The RecID of a subscriber is the SubscriberID, with which anyone can act as the subscriber.
	return strings.HasPrefix(pattern, "/webhooks/subscribers") && len(segments) <= 3
}

// NewRouter returns a Router for the routes below a base path.
func NewRouter(routes []*CompiledRoute, basePath string) *Router {
	rt := &Router{base: splitPath(basePath), routes: routes, byEnd: make(map[string][]int)}
	for i, c := range routes {
		if c.Exact() {
			rt.exact = append(rt.exact, i)
			continue
		}
		end := ""
		if n := len(c.segments); n > 0 {
			end = strings.ToLower(c.segments[n-1].literal)
		}
		rt.byEnd[end] = append(rt.byEnd[end], i)
	}
	return rt
}

// Compile prepares the routes of a table for routers, which may share them.
func Compile(table []Route) []*CompiledRoute {
	compiled := make([]*CompiledRoute, len(table))
	for i, r := range table {
		compiled[i] = compile(r)
	}
	return compiled
}

// compile splits the pattern and the methods of a route.
func compile(r Route) *CompiledRoute {
	c := &CompiledRoute{Route: r, methods: strings.Fields(r.Methods)}
	c.Redacted = r.Redacts()
	if slices.Contains(c.methods, http.MethodGet) && !r.NoHead {
		c.methods = append(c.methods, http.MethodHead)
	}
	for _, part := range splitPath(r.Pattern) {
		if r.Exact() {
			c.segments = append(c.segments, segment{exact: exactSegment(part)})
		} else if name, isParam := strings.CutPrefix(part, "{"); isParam {
			c.segments = append(c.segments, segment{param: strings.TrimSuffix(name, "}")})
		} else {
			c.segments = append(c.segments, segment{literal: part})
		}
	}
	return c
}

// candidates returns the indexes of the routes that may match one of the paths, in
// the order of the table.
func (rt *Router) candidates(paths ...[]string) []int {
	general := rt.byEnd[""]
	indexes := slices.Clip(general) // shared by all requests
	for _, parts := range paths {
		if len(parts) > 0 {
			end := strings.ToLower(parts[len(parts)-1])
			indexes = append(indexes, rt.byEnd[end]...)
		}
	}
	if len(indexes) == len(general) { // the path of a record kind
		return general
	}
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

// BasePath returns http.base_path as links need it: empty, or with a leading slash
// only.
func BasePath(setting string) string {
	return strings.TrimSuffix("/"+strings.Join(splitPath(setting), "/"), "/")
}

// splitPath drops empty segments, so doubled and trailing slashes are ignored.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// Match is the result of a lookup. If the path matches and the method does not,
// Route is nil and the other fields are set.
type Match struct {
	Route  *CompiledRoute
	Params Params
	Suffix string // name of a format, from a path suffix
	Exact  bool   // the path is below the paths of Exact routes
}

// Find looks up a request. Its error is a 404, or a 405 with the allowed methods of
// the path in allow.
func (rt *Router) Find(method, escapedPath string) (m Match, allow []string, err error) {
	if parts := rt.exactParts(escapedPath); parts != nil {
		return rt.findExact(method, parts)
	}
	parts, err := rt.parts(escapedPath)
	if err != nil {
		return Match{}, nil, err
	}

	// A path may end with the suffix of a format, with [] for a list, or with both.
	stem, suffix := cutSuffix(parts)
	listed, listedStem := cutList(parts), cutList(stem)
	isList := listed != nil || listedStem != nil
	for _, i := range rt.candidates(parts, stem, listed, listedStem) {
		r := rt.routes[i]
		whole, short := parts, stem
		if isList && r.ByName {
			whole, short = listed, listedStem
		}
		params, format, ok := r.matchSuffixed(whole, short, suffix)
		if !ok {
			continue
		}
		if method != http.MethodOptions && slices.Contains(r.methods, method) {
			if isList && r.ByName {
				params = append(params, Param{ParamList, ParamList})
			}
			return Match{Route: r, Params: params, Suffix: format}, nil, nil
		}
		if allow == nil {
			m.Params = params
			m.Suffix = format
		}
		allow = append(allow, r.methods...)
		if r.ByName {
			break // any other route that matches is for unknown names
		}
	}
	if allow == nil {
		return Match{}, nil, NotFound()
	}
	slices.Sort(allow)
	allow = append(slices.Compact(allow), http.MethodOptions)
	return m, allow, fault.New(fault.BadMethod, "method %s is not allowed for this path", Clean(method))
}

// NotFound returns the error for an unknown path.
func NotFound() error { return fault.New(fault.NotFound, "path not found") }

// IsBelow reports whether a path is that of a pattern without parameters, or below it.
func (rt *Router) IsBelow(escapedPath, pattern string) bool {
	start := slices.Concat(rt.base, splitPath(pattern))
	parts := splitPath(escapedPath)
	if len(parts) < len(start) {
		return false
	}
	for i, want := range start {
		text, err := url.PathUnescape(parts[i])
		if err != nil || !strings.EqualFold(text, want) {
			return false
		}
	}
	return true
}

// parts returns the path segments below the base path, each unescaped separately, so
// that %2F is part of a value.
func (rt *Router) parts(escapedPath string) ([]string, error) {
	parts := splitPath(escapedPath)
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return nil, fault.New(fault.Malformed, "the path has an invalid %% escape")
		}
		parts[i] = text
	}
	if len(parts) < len(rt.base) || !slices.EqualFunc(parts[:len(rt.base)], rt.base, strings.EqualFold) {
		return nil, NotFound()
	}
	return parts[len(rt.base):], nil
}

// cutSuffix removes a format suffix from the last segment.
func cutSuffix(parts []string) (stem []string, suffix string) {
	if len(parts) == 0 {
		return nil, ""
	}
	last := parts[len(parts)-1]
	dot := strings.LastIndexByte(last, '.')
	if dot < 1 {
		return nil, ""
	}
	format, ok := encode.ByName(last[dot+1:])
	if !ok {
		return nil, ""
	}
	stem = append(slices.Clone(parts[:len(parts)-1]), last[:dot])
	return stem, format.Name
}

// cutList removes [] from the last segment. It returns nil if there is none.
func cutList(parts []string) []string {
	if len(parts) == 0 {
		return nil
	}
	name, ok := strings.CutSuffix(parts[len(parts)-1], ParamList)
	if !ok {
		return nil
	}
	return append(slices.Clone(parts[:len(parts)-1]), name)
}

// matchSuffixed matches the path without its suffix first: a value that ends like a
// suffix is less common.
func (r *CompiledRoute) matchSuffixed(parts, stem []string, suffix string) (Params, string, bool) {
	if suffix != "" && (!r.Always || r.ByName) {
		if params, ok := r.match(stem); ok {
			return params, suffix, true
		}
	}
	params, ok := r.match(parts)
	return params, "", ok
}

// match returns the parameters of a path if the pattern matches it.
func (r *CompiledRoute) match(parts []string) (Params, bool) {
	if len(parts) != len(r.segments) {
		return nil, false
	}
	var params Params
	for i, s := range r.segments {
		if s.param != "" {
			params = append(params, Param{s.param, parts[i]})
		} else if !strings.EqualFold(s.literal, parts[i]) {
			return nil, false
		}
	}
	return params, true
}
