package rest_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// carrier is the part of a request that has the members.
type carrier struct {
	name, method string
	query, body  func(members url.Values) string
	headers      []string
	formats      []string // in which the responses are compared
}

func nothing(url.Values) string { return "" }

var replyFormats = []string{"json", "csv", "xml", "jsv", "html"}

var carriers = []carrier{
	{"a JSON body", "POST", nothing, jsonBody, nil, replyFormats},
	{"a query string", "GET", url.Values.Encode, nothing, nil, replyFormats},
	{"a form", "PUT", nothing, url.Values.Encode, []string{"Content-Type: application/x-www-form-urlencoded"}, replyFormats[:1]},
	{"a query string and a JSON body", "PATCH", url.Values.Encode, jsonBody, []string{"Content-Type: application/json"}, replyFormats[:1]},
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
func (a answer) outcome() string {
	kind, body := a.header.Get("Content-Type"), requestID.ReplaceAllString(a.body, "")
	if strings.HasPrefix(kind, "text/html") {
		body = pageLinks.ReplaceAllString(body, "")
	}
	return fmt.Sprint(a.status, " ", kind, " ", body)
}

// isOutcomeOf reports whether a response is that of a plain request, which was also sent
// before, with the given outcome. Where the responses to the same plain request differ, the
// body is ignored.
func (a answer) isOutcomeOf(before answer, outcome string, repeat func() answer) bool {
	got := a.outcome()
	if got == outcome {
		return true
	}
	after := repeat()
	unstable := outcome != after.outcome() && before.status == after.status && a.header.Get("Content-Type") == after.header.Get("Content-Type")
	return got == after.outcome() || unstable && a.status == after.status
}

// plainLines returns the requests to the plain routes of an operation with their members.
// A route with the same members as an earlier one is another name of it, or has a name of
// its own.
func (f nameFixture) plainLines(o rest.NamedOperation) map[string]url.Values {
	lines, seen := make(map[string]url.Values), make(map[string]bool)
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
		if key := members.Encode(); !seen[key] {
			seen[key], lines[method+" "+path] = true, members
		}
	}
	return lines
}

// TestEveryOperationByEveryName calls each operation by each of its names in each form,
// with its members in each part of a request, and compares the response with that of the
// plain route in the same format.
func TestEveryOperationByEveryName(t *testing.T) {
	f, requests := newNameFixture(t), 0
	for _, o := range rest.NamedOperations() {
		if o.Plain[0].Streaming {
			continue
		}
		for line, members := range f.plainLines(o) {
			for _, by := range carriers {
				requests += f.compareNames(t, o, line, members, by)
			}
		}
	}
	t.Logf("%d requests by name", requests)
}

// compareNames compares the requests by all forms of a name with the plain request.
func (f nameFixture) compareNames(t *testing.T, o rest.NamedOperation, line string, members url.Values, by carrier) (requests int) {
	send := func(line, format string, named bool) answer {
		query, headers := by.query(members), by.headers
		if format == "html" { // ?format=html would be part of the page
			headers = slices.Concat(headers, []string{"Accept: text/html"})
		} else if !named {
			query = strings.TrimPrefix(query+"&format="+format, "&")
		}
		return f.do(line+"?"+query, by.body(members), headers...)
	}
	for _, format := range by.formats {
		plain := func() answer { return send(line, format, false) }
		want := plain()
		outcome := want.outcome()
		for _, r := range o.Named {
			inPath := strings.Contains(r.Pattern, "{Format}")
			form := by.method + " " + strings.Replace(r.Pattern, "{Format}", format, 1)
			got := send(form, format, inPath)
			requests++
			if !slices.Contains(strings.Fields(r.Methods), by.method) {
				if got.status != 405 {
					t.Errorf("%s with %s as %s: status %d, %q, want 405", line, by.name, form, got.status, got.body)
				}
				continue
			}
			if r.Oneway && want.status < 300 && (got.status != 204 || got.body != "") {
				t.Errorf("%s with %s as %s: status %d, %q, want 204", line, by.name, form, got.status, got.body)
			}
			isSame := !r.Oneway || want.status >= 400
			if isSame && !got.isOutcomeOf(want, outcome, plain) {
				t.Errorf("%s with %s %s as %s\n got %s\nwant %s", line, by.name, members.Encode(), form,
					difference(got.outcome(), outcome), difference(outcome, got.outcome()))
			}
		}
	}
	return requests
}

// difference returns a text from shortly before the first difference to another.
func difference(text, other string) string {
	at := 0
	for at < min(len(text), len(other)) && text[at] == other[at] {
		at++
	}
	return fmt.Sprintf("at %d: %s", at, shortened(text[max(at-40, 0):]))
}
