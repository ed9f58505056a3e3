package rest_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/docs"
	clientdocs "github.com/bizhook/whd/cmd/whctl/docs"
	"github.com/bizhook/whd/daemon/daemontest"
)

// manualPaths returns the paths of all pages of the manual.
func manualPaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	for prefix, files := range map[string]fs.FS{"/docs": docs.Files, "/docs/whctl": clientdocs.Files} {
		names, err := fs.Glob(files, "*.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			paths = append(paths, path.Join(prefix, strings.TrimSuffix(name, ".md")))
		}
	}
	return paths
}

var (
	idOfPage   = regexp.MustCompile(` id="([^"]*)"`)
	imgOfPage  = regexp.MustCompile(`<img src="([^"]*)" alt="([^"]*)"`)
	formField  = regexp.MustCompile(`<input id="([^"]*)"`)
	headLevels = regexp.MustCompile(`<h([1-6])`)
)

// TestManual requests every page of the manual, and each link and picture of them. The contents
// list every page.
func TestManual(t *testing.T) {
	c := asBrowser(anonymous(t, daemontest.Start(t)))
	pages := make(map[string]answer)
	get := func(address string) answer {
		a, ok := pages[address]
		if !ok {
			a = c.do("GET "+address, "").want(t, 200)
			pages[address] = a
		}
		return a
	}
	contents := hrefs(get("/docs"))
	for _, address := range append(manualPaths(t), "/docs", "/docs?q=rows") {
		if !slices.Contains(contents, address) && strings.Count(address, "/") > 1 {
			t.Errorf("the contents lack %s", address)
		}
		a := get(address)
		a.wantHeader(t, "Content-Type", "text/html; charset=utf-8")
		checkPage(t, address, a.body)
		for _, to := range hrefs(a) {
			target, anchor, _ := strings.Cut(to, "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "/login") {
				continue
			}
			if target == "" {
				target = address
			}
			if anchor != "" && !strings.Contains(get(target).body, ` id="`+anchor+`"`) {
				t.Errorf("%s: the link to %s has no target", address, to)
			}
			get(target)
		}
		for _, m := range imgOfPage.FindAllStringSubmatch(a.body, -1) {
			get(m[1]).wantHeader(t, "Content-Type", "image/svg+xml")
			if len(m[2]) < 20 {
				t.Errorf("%s: the picture %s is described by %q only", address, m[1], m[2])
			}
		}
	}
}

// checkPage checks the HTML of a page of the manual: one title, no skipped level of headings, no
// anchor twice, a label for each input, and no raw HTML.
func checkPage(t *testing.T, address, body string) {
	t.Helper()
	for _, unwanted := range []string{"<script", "<!--", "javascript:", " style=", " onclick", "<iframe", "](", "```"} {
		if strings.Contains(withoutCode(body), unwanted) {
			t.Errorf("%s has %s", address, unwanted)
		}
	}
	if n := strings.Count(body, "<h1"); n != 1 {
		t.Errorf("%s has %d titles, want 1", address, n)
	}
	level := "0"
	for _, m := range headLevels.FindAllStringSubmatch(body, -1) {
		if m[1][0] > level[0]+1 {
			t.Errorf("%s: a heading of level %s follows one of level %s", address, m[1], level)
		}
		level = m[1]
	}
	seen := make(map[string]bool)
	for _, m := range idOfPage.FindAllStringSubmatch(body, -1) {
		if seen[m[1]] {
			t.Errorf("%s has the id %s twice", address, m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range formField.FindAllStringSubmatch(body, -1) {
		if !strings.Contains(body, `<label class="hide" for="`+m[1]+`"`) {
			t.Errorf("%s: the input %s has no label", address, m[1])
		}
	}
}

var codeOfPage = regexp.MustCompile(`(?s)<style>.*?</style>|<code>.*?</code>`)

func withoutCode(body string) string { return codeOfPage.ReplaceAllString(body, "") }

// TestManualIsCached sends the tag of a page back.
func TestManualIsCached(t *testing.T) {
	i := demo.start(t)
	c := asBrowser(anonymous(t, i))
	for _, address := range []string{"/docs", "/docs/query", "/docs/whctl/changes", "/docs/images/excel.svg"} {
		a := c.do("GET "+address, "").want(t, 200)
		a.wantHeader(t, "Cache-Control", "private, no-cache")
		tag := a.header.Get("ETag")
		cached := c.do("GET "+address, "", "If-None-Match: "+tag).want(t, 304)
		if cached.body != "" {
			t.Errorf("%s: status 304 with a body of %d bytes", address, len(cached.body))
		}
		user := signIn(t, i).do("GET "+address, "", "If-None-Match: "+tag).want(t, 200)
		if user.header.Get("ETag") == tag {
			t.Errorf("%s: the page of a user has the tag of the page without one", address)
		}
	}
}

// TestManualIsPublic requests pages without a login, as other programs than browsers do.
func TestManualIsPublic(t *testing.T) {
	c := anonymous(t, demo.start(t))
	c.do("GET /docs/Query", "").want(t, 200).wantText(t, "<h1>Query</h1>")
	c.do("HEAD /docs/query", "").want(t, 200)
	c.do("POST /docs/query", "").want(t, 405)
	a := c.do("GET /docs/nothing", "").want(t, 404).wantText(t, `"ErrorCode":"NotFound"`, "the manual has no page nothing")
	a.wantHeader(t, "Content-Type", "application/json; charset=utf-8")
	c.do("GET /docs/images/nothing.svg", "").want(t, 404)
}

// TestManualSearch searches with the form of a page, and for a page that does not exist.
func TestManualSearch(t *testing.T) {
	c := asBrowser(anonymous(t, demo.start(t)))
	c.do("GET /docs?q=allowed+targets", "").want(t, 200).
		wantText(t, `href="/docs/webhooks#allowed-targets"`, `value="allowed targets"`)
	c.do("GET /docs?q=%3Cscript%3E", "").want(t, 200).
		wantText(t, `value="&lt;script&gt;"`, "No page has this word")
	c.do("GET /docs?q=", "").want(t, 200).wantText(t, "Enter words")
	a := c.do("GET /docs/exit_codes", "").want(t, 404).
		wantText(t, "The manual has no such page", `href="/docs/whctl/exit-codes"`, `value="exit codes"`)
	a.wantHeader(t, "Content-Type", "text/html; charset=utf-8")
}

// TestErrorsLinkToTheManual follows the links of errors to the section of their code.
func TestErrorsLinkToTheManual(t *testing.T) {
	i := daemontest.Start(t, "--http-base-path", "/erp")
	for _, c := range []client{anonymous(t, i), asBrowser(anonymous(t, i))} {
		a := c.do("GET /Queries/SO_Total", "").want(t, 404)
		a.wantHeader(t, "Link", `</erp/docs/errors#NotFound>; rel="help"`)
		if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			if got := a.link(t, "Causes and remedies of NotFound"); got != "/erp/docs/errors#NotFound" {
				t.Errorf("the error page links to %s", got)
			}
		}
		c.do("GET /docs/errors", "").want(t, 200).wantText(t, ` id="NotFound"`)
	}
	if a := anonymous(t, i).do("GET /docs", "").want(t, 200); a.header.Get("Link") != "" {
		t.Errorf("a page has the header Link: %s", a.header.Get("Link"))
	}
}
