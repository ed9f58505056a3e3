package edge

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

// Router finds the row of the route table for a path. It is ours because
// net/http's answers other letter case with 404 and needless slashes with a
// redirect, which clients of the existing service do not follow.
type Router struct {
	base   []string // of http.base_path
	routes []CompiledRoute
}

// Route is one row of the route table. Everything that is true of a route
// stands here: the router, the checks and the documentation read it.
type Route struct {
	Methods   string // separated by spaces; GET includes HEAD
	Pattern   string // literal segments in any letter case, {Name} for any one segment
	Role      account.Role
	Serve     func(*Context) error
	Summary   string
	Operation string // of documents about it
	Kind      string // the kind that it queries, of those that the service itself keeps
	Changes   bool   // a page of somebody else must not make a browser send it; see csrf
	Status    int    // of success, where it is not 200
	SignedIn  bool   // of the role Reader, but not open to strangers where queries are
	Large     bool   // its body may be as large as that of an event
	Webhooks  bool   // belongs to webhooks, which may be turned off
	Streaming bool   // goes on until one side ends it, and takes no place among the requests in work
	Always    bool   // served even when the service is full or stopping, every few seconds: leaves no entry in the request log
}

// The parameters of patterns that mean something to every route.
const (
	ParamFormat    = "Format"    // the name of a format
	ParamOperation = "Operation" // a record kind, by its operation's name
	ParamKind      = "Kind"      // a record kind, by its own name
)

// CommonParams are all of them.
var CommonParams = []string{ParamFormat, ParamOperation, ParamKind}

// CompiledRoute is a Route whose pattern is split.
type CompiledRoute struct {
	Route
	methods  []string
	segments []segment

	Redact bool // nothing that its requests carry reaches a log
}

// segment is one part of a pattern: a literal, or a parameter.
type segment struct {
	literal string
	param   string
}

// Params are the values of a pattern's parameters.
type Params []struct{ Name, Value string }

// Get is the value of a parameter, empty where there is none.
func (p Params) Get(name string) string {
	for _, one := range p {
		if one.Name == name {
			return one.Value
		}
	}
	return ""
}

// privateSegments begin the patterns of routes whose members and bodies reach no
// log, masked or not.
var privateSegments = []string{"auth", "authenticate", "login", "users", "apikeys", "sessions"}

// Redacts reports whether nothing of what a request of the route carries, and of
// what it is answered, may be kept.
func (r Route) Redacts() bool {
	segments := splitPath(strings.ToLower(r.Pattern))
	if len(segments) == 0 {
		return false
	}
	last := segments[len(segments)-1]
	return slices.Contains(privateSegments, segments[0]) || last == "authenticate" || strings.HasPrefix(strings.ToLower(r.Pattern), "/webhooks/events")
}

// NewRouter makes a Router of the routes below a base path.
func NewRouter(table []Route, basePath string) *Router {
	rt := &Router{base: splitPath(basePath)}
	for _, r := range table {
		c := CompiledRoute{Route: r, methods: strings.Fields(r.Methods), Redact: r.Redacts()}
		if slices.Contains(c.methods, http.MethodGet) {
			c.methods = append(c.methods, http.MethodHead)
		}
		for _, part := range splitPath(r.Pattern) {
			if name, isParam := strings.CutPrefix(part, "{"); isParam {
				c.segments = append(c.segments, segment{param: strings.TrimSuffix(name, "}")})
			} else {
				c.segments = append(c.segments, segment{literal: part})
			}
		}
		rt.routes = append(rt.routes, c)
	}
	return rt
}

// BasePath is http.base_path as links need it: empty, or with a leading slash only.
func BasePath(setting string) string {
	return strings.TrimSuffix("/"+strings.Join(splitPath(setting), "/"), "/")
}

// splitPath drops empty segments, so doubled and trailing slashes mean nothing.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// Match is a route found. Where the path fits a route and the method does not,
// there is no route, but what the path says still counts.
type Match struct {
	Route  *CompiledRoute
	Params Params
	Suffix string // name of a format, from a path suffix
}

// Find looks a request up. Its error is a 404, or a 405 with the methods that
// the path has in allow.
func (rt *Router) Find(method, escapedPath string) (m Match, allow []string, err error) {
	parts, err := rt.parts(escapedPath)
	if err != nil {
		return Match{}, nil, err
	}
	stem, suffix := cutSuffix(parts)
	for i := range rt.routes {
		r := &rt.routes[i]
		found, format, ok := r.matchSuffixed(parts, stem, suffix)
		if !ok {
			continue
		}
		if method != http.MethodOptions && slices.Contains(r.methods, method) {
			return Match{r, found, format}, nil, nil
		}
		if allow == nil {
			m.Params, m.Suffix = found, format
		}
		allow = append(allow, r.methods...)
	}
	if allow == nil {
		return Match{}, nil, NotFound()
	}
	slices.Sort(allow)
	return m, append(slices.Compact(allow), http.MethodOptions), fault.New(fault.BadMethod, "this path does not take %s", Clean(method))
}

// NotFound is why a path is answered with 404.
func NotFound() error { return fault.New(fault.NotFound, "there is nothing at this path") }

// parts are the path's segments below the base path, each unescaped by itself,
// so that %2F is part of a value.
func (rt *Router) parts(escapedPath string) ([]string, error) {
	parts := splitPath(escapedPath)
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return nil, fault.New(fault.Malformed, "the path has a broken %% escape")
		}
		parts[i] = text
	}
	if len(parts) < len(rt.base) || !slices.EqualFunc(parts[:len(rt.base)], rt.base, strings.EqualFold) {
		return nil, NotFound()
	}
	return parts[len(rt.base):], nil
}

// cutSuffix takes a format's suffix off the last segment.
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
	stem = append(append(stem, parts[:len(parts)-1]...), last[:dot])
	return stem, format.Name
}

// matchSuffixed matches the path without its suffix first, since a value that
// happens to end like one is the rarer case.
func (r *CompiledRoute) matchSuffixed(parts, stem []string, suffix string) (Params, string, bool) {
	if suffix != "" && !r.Always {
		if found, ok := r.match(stem); ok {
			return found, suffix, true
		}
	}
	found, ok := r.match(parts)
	return found, "", ok
}

func (r *CompiledRoute) match(parts []string) (Params, bool) {
	if len(parts) != len(r.segments) {
		return nil, false
	}
	var found Params
	for i, s := range r.segments {
		switch {
		case s.param != "":
			found = append(found, struct{ Name, Value string }{s.param, parts[i]})
		case !strings.EqualFold(s.literal, parts[i]):
			return nil, false
		}
	}
	return found, true
}
