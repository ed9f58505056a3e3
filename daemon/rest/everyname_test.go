package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// carrier is the part of a request that has the members.
type carrier struct {
	name, method string
	query, body  func(members url.Values) string // nil without members
	headers      []string
	formats      []string // in which the responses are compared
}

var replyFormats = []string{"json", "csv", "xml", "jsv", "html"}

var carriers = []carrier{
	{
		name:    "a JSON body",
		method:  "POST",
		body:    jsonBody,
		formats: replyFormats,
	},
	{
		name:    "a query string",
		method:  "GET",
		query:   url.Values.Encode,
		formats: replyFormats,
	},
	{
		name:    "a form",
		method:  "PUT",
		body:    url.Values.Encode,
		headers: []string{formType},
		formats: []string{"json"},
	},
	{
		name:    "a query string and a JSON body",
		method:  "PATCH",
		query:   url.Values.Encode,
		body:    jsonBody,
		headers: []string{jsonType},
		formats: []string{"json"},
	},
}

func jsonBody(members url.Values) string {
	var pairs []string
	for name, values := range members {
		pairs = append(pairs, fmt.Sprintf("%q:%q", strings.ToLower(name), values[0]))
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

// The parts that differ between any two responses: the id of the request, and links of
// pages, which have its path and query string.
var (
	requestID = regexp.MustCompile(`RequestId"?(>|[:,]"?)[0-9A-Za-z-]+`)
	pageLinks = regexp.MustCompile(`(href|action|value|data-[a-z]+)="[^"]*"`)
)

// outcome has the parts of a response that are equal however an operation is called.
type outcome struct {
	status            int
	contentType, body string
}

func (a answer) outcome() outcome {
	o := outcome{
		status:      a.status,
		contentType: a.header.Get("Content-Type"),
		body:        requestID.ReplaceAllString(a.body, ""),
	}
	if strings.HasPrefix(o.contentType, "text/html") {
		o.body = pageLinks.ReplaceAllString(o.body, "")
	}
	return o
}

func (o outcome) String() string { return fmt.Sprint(o.status, " ", o.contentType, " ", o.body) }

func (o outcome) withoutBody() outcome {
	o.body = ""
	return o
}

// plainRequest is a request to a plain route of an operation.
type plainRequest struct {
	line    string
	members url.Values // those in the path, and further ones
}

// plainRequests returns requests to the plain routes of an operation. A route with the same
// members as an earlier one is another name of it, or has a name of its own.
func (f nameFixture) plainRequests(o rest.NamedOperation) []plainRequest {
	var requests []plainRequest
	seen := make(map[string]bool)
	for _, r := range o.Plain {
		members := make(url.Values)
		method, _, _ := strings.Cut(r.Methods, " ")
		path := pathParameter.ReplaceAllStringFunc(r.Pattern, func(part string) string {
			name := strings.Trim(part, "{}")
			if name == edge.ParamFormat {
				return "json"
			}
			members.Set(name, noID)
			if method == "GET" {
				members.Set(name, f.exists[name])
			}
			return url.PathEscape(members.Get(name))
		})
		if o.Query {
			members.Set("Take", "2")
		}
		key := members.Encode()
		if !seen[key] {
			seen[key] = true
			requests = append(requests, plainRequest{line: method + " " + path, members: members})
		}
	}
	return requests
}

// TestEveryOperationByEveryName calls each operation by each of its names in each form,
// with its members in each part of a request, and compares the response with that of the
// plain route in the same format. The formats alternate, unless the test is exhaustive.
func TestEveryOperationByEveryName(t *testing.T) {
	f := newNameFixture(t)
	requests := 0
	n := 0
	for _, o := range rest.NamedOperations() {
		if o.Plain[0].Streaming {
			continue
		}
		for _, plain := range f.plainRequests(o) {
			for _, c := range nameComparisons(f.client, plain, n) {
				requests += c.compareNames(t, o.Named)
			}
			n++
		}
	}
	t.Logf("%d requests by name", requests)
}

// nameComparison compares the response to a plain request with those to the same request by name,
// with the same carrier and format.
type nameComparison struct {
	client  client
	plain   plainRequest
	carrier carrier
	format  string
}

// nameComparisons returns the comparisons of the plain request n with each carrier.
func nameComparisons(c client, plain plainRequest, n int) []nameComparison {
	var comparisons []nameComparison
	for i, sender := range carriers {
		for _, format := range sender.formatsOf(n + i) {
			comparisons = append(comparisons, nameComparison{
				client:  c,
				plain:   plain,
				carrier: sender,
				format:  format,
			})
		}
	}
	return comparisons
}

// formatsOf returns the formats of comparison n: one of them, which alternate, so that each is
// that of some of five consecutive comparisons, or all if the test is exhaustive.
func (c carrier) formatsOf(n int) []string {
	if daemontest.Exhaustive() {
		return c.formats
	}
	i := n % len(c.formats)
	return c.formats[i : i+1]
}

// compareNames sends the plain request and those to the routes by name, and returns the number of
// the latter.
func (c nameComparison) compareNames(t *testing.T, routes []edge.Route) int {
	t.Helper()
	want := c.sendPlain()
	for _, r := range routes {
		c.compare(t, r, want)
	}
	return len(routes)
}

// compare sends the request to a route by name and compares the response with the outcome of the
// plain request.
func (c nameComparison) compare(t *testing.T, r edge.Route, want outcome) {
	t.Helper()
	line := c.carrier.method + " " + strings.Replace(r.Pattern, "{Format}", c.format, 1)
	did := fmt.Sprintf("%s with %s %s as %s",
		c.plain.line, c.carrier.name, c.plain.members.Encode(), line)
	got := c.send(line, strings.Contains(r.Pattern, "{Format}")).outcome()

	isAllowed := slices.Contains(strings.Fields(r.Methods), c.carrier.method)
	if !isAllowed {
		wantStatus(t, did, got, http.StatusMethodNotAllowed)
		return
	}
	if r.Oneway && want.status < 400 { // an error is the same in each form
		wantNoReply(t, did, got, want)
		return
	}
	if !c.agrees(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", did,
			difference(got.String(), want.String()), difference(want.String(), got.String()))
	}
}

// wantNoReply expects the response to a one-way request. It is not defined for an operation that
// redirects a plain request.
func wantNoReply(t *testing.T, did string, got, plain outcome) {
	t.Helper()
	if plain.status >= 300 {
		return
	}
	wantStatus(t, did, got, http.StatusNoContent)
	if got.body != "" {
		t.Errorf("%s: got the body %q, want none", did, shortened(got.body))
	}
}

func wantStatus(t *testing.T, did string, got outcome, want int) {
	t.Helper()
	if got.status != want {
		t.Errorf("%s: got status %d, want %d: %s", did, got.status, want, shortened(got.body))
	}
}

// agrees reports whether an outcome is the wanted one of the plain request, or the present one,
// since requests in between may have changed it. The body is ignored if it differs between the
// responses to the plain request.
func (c nameComparison) agrees(got, want outcome) bool {
	if got == want {
		return true
	}
	present := c.sendPlain()
	if got == present {
		return true
	}
	isStable := present == want
	return !isStable && want.status == present.status &&
		got.withoutBody() == present.withoutBody()
}

func (c nameComparison) sendPlain() outcome { return c.send(c.plain.line, false).outcome() }

// send sends the members. The format is a member too, unless it is in the path.
func (c nameComparison) send(line string, formatIsInPath bool) answer {
	c.client.t.Helper()
	var query, body string
	if c.carrier.query != nil {
		query = c.carrier.query(c.plain.members)
	}
	if c.carrier.body != nil {
		body = c.carrier.body(c.plain.members)
	}
	headers := c.carrier.headers
	if c.format == "html" { // ?format=html would be part of the page
		headers = slices.Concat(headers, []string{"Accept: text/html"})
	} else if !formatIsInPath {
		query = strings.TrimPrefix(query+"&format="+c.format, "&")
	}
	return c.client.do(line+"?"+query, body, headers...)
}

// difference returns a text from shortly before the first difference to another.
func difference(text, other string) string {
	start := 0
	for start < min(len(text), len(other)) && text[start] == other[start] {
		start++
	}
	return fmt.Sprintf("at %d: %s", start, shortened(text[max(start-40, 0):]))
}
