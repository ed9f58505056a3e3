package rest_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/pages"
)

// pageRoutes returns the methods and paths of all pages, with IDs that do not exist. It fails for a
// parameter of a path that it does not know.
func pageRoutes(t testing.TB) (lines []string) {
	t.Helper()
	fill := strings.NewReplacer(
		"{MessageID}", noID,
		"{SubscriptionID}", noID,
		"{ItemNo}", "99999",
		"{Action}", "Delete",
		"{UserName}", "missing",
		"{KeyID}", noID,
		"{Kind}", "SO_Totals",
		"{Name}", "ChangeSubscription",
	)
	for _, r := range pages.Routes(pages.Config{}) {
		path := fill.Replace(r.Pattern)
		if strings.Contains(path, "{") {
			t.Errorf("%s %s: pageRoutes has no value for a parameter", r.Methods, r.Pattern)
		}
		lines = append(lines, r.Methods+" "+path)
	}
	return lines
}

// readerPages are the pages that need no administrator.
var readerPages = []string{"GET /Pages", "GET /Pages/OpenAPI", "GET /Pages/Records/SO_Totals"}

// openPages need no login: the operation that they call checks the role.
var openPages = []string{"POST /Pages/Try/ChangeSubscription"}

// parameter is a parameter of a path pattern.
var parameter = regexp.MustCompile(`\\\{\w+\\\}`)

// patternOf returns the pattern of the page at a path, empty if there is none. The first one that
// matches is that of the router.
func patternOf(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	routes := pages.Routes(pages.Config{})
	i := slices.IndexFunc(routes, func(r edge.Route) bool {
		expression := "^" + parameter.ReplaceAllString(regexp.QuoteMeta(r.Pattern), `[^/]+`) + "$"
		return r.Methods == method && regexp.MustCompile(expression).MatchString(path)
	})
	if i < 0 {
		return ""
	}
	return routes[i].Pattern
}

// patterns returns the patterns of the pages with a method.
func patterns(method string) (list []string) {
	for _, r := range pages.Routes(pages.Config{}) {
		if r.Methods == method {
			list = append(list, r.Pattern)
		}
	}
	return list
}

// maxCrawled limits the pages of a pattern that a test follows: their links have combinations of
// filters.
const maxCrawled = 8

// crawl returns the pages that links from others lead to. It fails if a page is not among them, or if
// a form of a page is sent to no page: the tests of pages and forms would leave it out.
func crawl(t testing.TB, c client, start ...string) map[string]answer {
	t.Helper()
	seen := make(map[string]answer)
	reached := make(map[string]int)
	for todo := start; len(todo) > 0; todo = todo[1:] {
		path := todo[0]
		pattern := patternOf(http.MethodGet, path)
		_, isDone := seen[path]
		if isDone || reached[pattern] >= maxCrawled {
			continue
		}
		reached[pattern]++
		seen[path] = c.do("GET "+path, "").want(t, 200)
		for _, to := range hrefs(seen[path]) {
			to, _, _ = strings.Cut(html.UnescapeString(to), "#")
			if strings.HasPrefix(to, "/Pages") && patternOf(http.MethodGet, to) != "" {
				todo = append(todo, to)
			}
		}
	}
	for _, pattern := range patterns(http.MethodGet) {
		if reached[pattern] == 0 {
			t.Errorf("no link leads to %s: add one, or start the test there", pattern)
		}
	}
	checkForms(t, seen)
	return seen
}

// checkForms checks that pages accept the forms of pages, and that each page that accepts a form has
// one that leads to it.
func checkForms(t testing.TB, seen map[string]answer) {
	t.Helper()
	sent := []string{"/Pages/Try/{Name}"} // by the pages of the API reference
	for path, a := range seen {
		for _, f := range a.forms() {
			if f.method != "post" {
				continue
			}
			pattern := patternOf(http.MethodPost, f.action)
			if pattern == "" {
				t.Errorf("%s has a form that is sent to %s, which is no page", path, f.action)
			}
			sent = append(sent, pattern)
		}
	}
	for _, pattern := range patterns(http.MethodPost) {
		if !slices.Contains(sent, pattern) {
			t.Errorf("no form of the pages that were seen is sent to %s", pattern)
		}
	}
}

// encoded returns a value as JSON.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
