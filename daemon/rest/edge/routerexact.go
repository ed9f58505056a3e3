package edge

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

// Parameters in the segments of Exact routes, as regexp.QuoteMeta writes them.
var (
	exactParam     = regexp.MustCompile(`\\\{(\w+)\\\}`)
	exactArguments = regexp.MustCompile(`\\\(\\\{(\w+)\\\}\\\)`)
)

// exactSegment returns the expression for a segment of an Exact route, such as {Kind}({Key}).
// Only a parameter in parentheses can have a parenthesis in its value.
func exactSegment(part string) *regexp.Regexp {
	part = exactArguments.ReplaceAllString(regexp.QuoteMeta(part), `\((?P<$1>.*)\)`)
	return regexp.MustCompile(`(?s)^` + exactParam.ReplaceAllString(part, `(?P<$1>[^(]+)`) + `$`)
}

// exactParts returns the segments of a path below the base path, nil if it is not that of an
// Exact route.
func (rt *Router) exactParts(escapedPath string) []string {
	base := ""
	if len(rt.base) > 0 {
		base = "/" + strings.Join(rt.base, "/")
	}
	if len(escapedPath) <= len(base) || !strings.EqualFold(escapedPath[:len(base)], base) {
		return nil
	}
	path := escapedPath[len(base):]
	if !strings.HasPrefix(path, "/"+ExactRoot) { // almost all paths
		return nil
	}
	parts := strings.Split(path, "/")[1:]
	if parts[0] != ExactRoot {
		return nil
	}
	if last := len(parts) - 1; parts[last] == "" { // some clients put a slash after every path
		return parts[:last]
	}
	return parts
}

// findExact is Find for Exact routes. Their errors have a Match with Exact. Each segment is
// unescaped before it is compared.
func (rt *Router) findExact(method string, parts []string) (m Match, allow []string, err error) {
	m.Exact = true
	for i, part := range parts {
		parts[i], err = url.PathUnescape(part)
		if err != nil {
			return m, nil, fault.New(fault.Malformed, "the path has an invalid %% escape")
		}
	}
	for _, i := range rt.exact {
		r := rt.routes[i]
		params, ok := r.matchExact(parts)
		if !ok {
			continue
		}
		if !slices.Contains(r.methods, method) {
			return m, append(slices.Clone(r.methods), http.MethodOptions), readOnly(method)
		}
		m.Route = r
		m.Params = params
		return m, nil, nil
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, method) {
		return m, nil, readOnly(method)
	}
	return m, nil, NotFound()
}

// readOnly returns the error for a method that would change records.
func readOnly(method string) error {
	return fault.New(fault.NotImplemented, "%s is not supported: records can only be read here", Clean(method))
}

// matchExact is match for an Exact route.
func (r *CompiledRoute) matchExact(parts []string) (params Params, ok bool) {
	if len(parts) != len(r.segments) {
		return nil, false
	}
	for i, s := range r.segments {
		values := s.exact.FindStringSubmatch(parts[i])
		if values == nil {
			return nil, false
		}
		for n, name := range s.exact.SubexpNames()[1:] {
			params = append(params, Param{name, values[n+1]})
		}
	}
	return params, true
}
