// Package compat reads the request logs of the .NET service, and counts which of its
// operations this service has.
package compat

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Entry is a logged request.
type Entry struct {
	Method string
	Path   string
	Status int  // 0 if the log has none
	OfHost bool // the path starts at the host, not below the path of the service
}

// Count is the number of requests for an operation.
type Count struct {
	Operation string
	Requests  int
	missing   int // requests to which the .NET service responded 404 or 405
}

// Report has the requests of a log by operation, the most frequent first.
type Report struct {
	Served    []Count
	NotServed []Count
	NotFound  []Count // not found by the .NET service either, such as requests of scanners
	Elsewhere int     // requests that are not below the path of the service
}

// Counter counts the requests of logs.
type Counter struct {
	basePath  string
	find      func(method, path string) (operation string, ok bool)
	served    map[string]*Count
	others    map[string]*Count
	elsewhere int
}

// NewCounter returns a Counter. basePath is the path of the .NET service on its host; find
// returns the name of an operation of this service.
func NewCounter(basePath string, find func(method, path string) (operation string, ok bool)) *Counter {
	return &Counter{
		basePath: strings.TrimSuffix("/"+strings.Trim(basePath, "/"), "/"),
		find:     find,
		served:   make(map[string]*Count),
		others:   make(map[string]*Count),
	}
}

// Read counts the requests of a log. It fails with *Damaged if some of its lines cannot be read.
func (c *Counter) Read(log io.Reader) error {
	return read(log, func(e Entry) error {
		c.add(e)
		return nil
	})
}

func (c *Counter) add(e Entry) {
	path, isBelow := c.below(e.Path)
	if !isBelow && e.OfHost {
		c.elsewhere++
		return
	}
	method := strings.ToUpper(e.Method)
	if operation, ok := c.find(method, path); ok {
		count(c.served, operation, e)
		return
	}
	count(c.others, nameOf(method, path), e)
}

// below returns a path without that of the service.
func (c *Counter) below(path string) (relative string, ok bool) {
	n := len(c.basePath)
	if len(path) < n || !strings.EqualFold(path[:n], c.basePath) {
		return path, false
	}
	if len(path) > n && path[n] != '/' {
		return path, false
	}
	return cmp.Or(path[n:], "/"), true
}

// maxNames is the maximum number of different names of one kind. Further ones are counted
// together.
const maxNames = 10_000

const otherNames = "(other paths)"

// count counts a request for an operation. Letter case of its name does not matter.
func count(counts map[string]*Count, name string, e Entry) {
	key := strings.ToLower(name)
	if counts[key] == nil && len(counts) >= maxNames {
		key = otherNames
		name = otherNames
	}
	if counts[key] == nil {
		counts[key] = &Count{Operation: name}
	}
	counts[key].Requests++
	if e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed {
		counts[key].missing++
	}
}

// byName matches the paths by which operations are called by their name.
var byName = regexp.MustCompile(`(?i)^/+[a-z0-9]+/(?:reply|oneway)/+([^/]+?)(?:\[\]|%5B%5D)?/*$`)

// id matches segments that are probably ids: GUIDs, numbers, and codes of capitals with at
// least four digits.
var id = regexp.MustCompile(`^(\{?(?i:[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12})\}?|[0-9]+|[A-Z%. -]*([0-9][A-Z%. -]*){4,})$`)

// nameOf names an operation that this service does not have: by its own name, or else by the
// method and the path without ids.
func nameOf(method, path string) string {
	if m := byName.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, segment := range segments {
		if id.MatchString(segment) {
			segments[i] = "{}"
		}
	}
	return method + " /" + strings.Join(segments, "/")
}

// Report returns the counts.
func (c *Counter) Report() Report {
	r := Report{Served: sorted(c.served), Elsewhere: c.elsewhere}
	for _, count := range sorted(c.others) {
		if count.missing == count.Requests {
			r.NotFound = append(r.NotFound, count)
		} else {
			r.NotServed = append(r.NotServed, count)
		}
	}
	return r
}

func sorted(counts map[string]*Count) []Count {
	list := make([]Count, 0, len(counts))
	for _, c := range counts {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Operation, b.Operation))
	})
	return list
}

// Total returns the number of requests for all operations.
func Total(counts []Count) (n int) {
	for _, c := range counts {
		n += c.Requests
	}
	return n
}

// Write writes the counts by operation, and their totals.
func (r Report) Write(w io.Writer) error {
	var text strings.Builder
	for _, part := range []struct {
		title  string
		counts []Count
	}{
		{"requests served", r.Served},
		{"requests not served", r.NotServed},
		{"requests that the .NET service did not find either", r.NotFound},
	} {
		fmt.Fprintf(&text, "%s: %d, operations: %d\n",
			part.title, Total(part.counts), len(part.counts))
		for _, c := range part.counts {
			fmt.Fprintf(&text, "%10d  %s\n", c.Requests, printable(c.Operation))
		}
	}
	if r.Elsewhere > 0 {
		fmt.Fprintf(&text, "requests not below the path of the service: %d\n", r.Elsewhere)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// printable returns part of a log on one line, without control characters.
func printable(text string) string {
	const maxLength = 200
	if runes := []rune(text); len(runes) > maxLength {
		text = string(runes[:maxLength]) + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
