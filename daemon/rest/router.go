package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

// router finds the row of the route table for a path. It is ours because
// net/http's answers other letter case with 404 and needless slashes with a
// redirect, which clients of the existing service do not follow.
type router struct {
	base   []string // of http.base_path
	routes []compiledRoute
}

// route is one row of the route table. Everything that is true of a route
// stands here: the router, the checks and the documentation read it.
type route struct {
	methods   string // separated by spaces; GET includes HEAD
	pattern   string // literal segments in any letter case, {Name} for any one segment
	role      account.Role
	serve     func(*exchange) error
	summary   string
	operation string // of documents about it
	kind      string // the kind that it queries, of those that the service itself keeps
	changes   bool   // a page of somebody else must not make a browser send it; see csrf
	status    int    // of success, where it is not 200
	signedIn  bool   // of the role Reader, but not open to strangers where queries are
	large     bool   // its body may be as large as that of an event
	webhooks  bool   // belongs to webhooks, which may be turned off
	lasting   bool   // goes on until one side ends it, and takes no place among the requests in work
	always    bool   // served even when the service is full or stopping, every few seconds: leaves no entry in the request log
}

// The parameters of patterns that mean something to every route.
const (
	inFormat    = "Format"    // the name of a format
	inOperation = "Operation" // a record kind, by its operation's name
	inKind      = "Kind"      // a record kind, by its own name
)

type compiledRoute struct {
	route
	methods  []string
	segments []segment

	secretive bool // nothing that its requests carry reaches a log
}

// segment is one part of a pattern: a literal, or a parameter.
type segment struct {
	literal string
	param   string
}

// params are the values of a pattern's parameters.
type params []struct{ name, value string }

func (p params) get(name string) string {
	for _, one := range p {
		if one.name == name {
			return one.value
		}
	}
	return ""
}

// privateSegments begin the patterns of routes whose members and bodies reach no
// log, masked or not.
var privateSegments = []string{"auth", "authenticate", "login", "users", "apikeys", "sessions"}

// private reports whether nothing of what a request of the route carries, and of
// what it is answered, may be kept.
func (r route) private() bool {
	segments := splitPath(strings.ToLower(r.pattern))
	if len(segments) == 0 {
		return false
	}
	for _, first := range privateSegments {
		if segments[0] == first {
			return true
		}
	}
	last := segments[len(segments)-1]
	return last == "authenticate" || strings.HasPrefix(strings.ToLower(r.pattern), "/webhooks/events")
}

func newRouter(table []route, basePath string) *router {
	rt := &router{base: splitPath(basePath)}
	for _, r := range table {
		c := compiledRoute{route: r, methods: strings.Fields(r.methods), secretive: r.private()}
		if slices.Contains(c.methods, http.MethodGet) {
			c.methods = append(c.methods, http.MethodHead)
		}
		for _, part := range splitPath(r.pattern) {
			c.segments = append(c.segments, parseSegment(part))
		}
		rt.routes = append(rt.routes, c)
	}
	return rt
}

// basePath is http.base_path as links need it: empty, or with a leading slash only.
func (rt *router) basePath() string {
	if len(rt.base) == 0 {
		return ""
	}
	return "/" + strings.Join(rt.base, "/")
}

func parseSegment(part string) segment {
	if name, isParam := strings.CutPrefix(part, "{"); isParam {
		return segment{param: strings.TrimSuffix(name, "}")}
	}
	return segment{literal: part}
}

// splitPath drops empty segments, so doubled and trailing slashes mean nothing.
func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// match is a route found. Where the path fits a route and the method does not,
// there is no route, but what the path says still counts.
type match struct {
	route  *compiledRoute
	params params
	suffix string // name of a format, from a path suffix
}

// find looks a request up. Its error is a 404, or a 405 with the methods that
// the path has in allow.
func (rt *router) find(method, escapedPath string) (m match, allow []string, err error) {
	parts, err := rt.parts(escapedPath)
	if err != nil {
		return match{}, nil, err
	}
	stem, suffix := cutSuffix(parts)
	for i := range rt.routes {
		r := &rt.routes[i]
		found, format, ok := r.matchSuffixed(parts, stem, suffix)
		if !ok {
			continue
		}
		if method != http.MethodOptions && slices.Contains(r.methods, method) {
			return match{r, found, format}, nil, nil
		}
		if allow == nil {
			m.params, m.suffix = found, format
		}
		allow = append(allow, r.methods...)
	}
	if allow == nil {
		return match{}, nil, nothingHere()
	}
	slices.Sort(allow)
	return m, append(slices.Compact(allow), http.MethodOptions), fault.New(fault.BadMethod, "this path does not take %s", clean(method))
}

func nothingHere() error { return fault.New(fault.NotFound, "there is nothing at this path") }

// parts are the path's segments below the base path, each unescaped by itself,
// so that %2F is part of a value.
func (rt *router) parts(escapedPath string) ([]string, error) {
	parts := splitPath(escapedPath)
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return nil, fault.New(fault.Malformed, "the path has a broken %% escape")
		}
		parts[i] = text
	}
	if len(parts) < len(rt.base) || !slices.EqualFunc(parts[:len(rt.base)], rt.base, strings.EqualFold) {
		return nil, nothingHere()
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
func (r *compiledRoute) matchSuffixed(parts, stem []string, suffix string) (params, string, bool) {
	if suffix != "" && !r.always {
		if found, ok := r.match(stem); ok {
			return found, suffix, true
		}
	}
	found, ok := r.match(parts)
	return found, "", ok
}

func (r *compiledRoute) match(parts []string) (params, bool) {
	if len(parts) != len(r.segments) {
		return nil, false
	}
	var found params
	for i, s := range r.segments {
		switch {
		case s.param != "":
			found = append(found, struct{ name, value string }{s.param, parts[i]})
		case !strings.EqualFold(s.literal, parts[i]):
			return nil, false
		}
	}
	return found, true
}
