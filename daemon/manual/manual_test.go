package manual

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bizhook/whd/cmd/daemon/docs"
	clientdocs "github.com/bizhook/whd/cmd/whctl/docs"
	"github.com/bizhook/whd/daemon/encode"
)

// small is a manual of few pages.
func small(service, client string) *Manual {
	return New(Config{
		Base:    "/erp",
		Version: "1.2.3",
		Service: fstest.MapFS{
			"query.md":        {Data: []byte(service)},
			"changes.md":      {Data: []byte("# Events\n\nA sentence. Another one.\n")},
			"images/flow.svg": {Data: []byte("<svg/>")},
		},
		Client: fstest.MapFS{"changes.md": {Data: []byte(client)}},
	})
}

func pageOf(t *testing.T, m *Manual, path string) string {
	t.Helper()
	text, err := m.Page(path, encode.Site{Base: "/erp"})
	if err != nil || text == nil {
		t.Fatalf("page %s: %v", path, err)
	}
	return string(text)
}

// TestRender renders each construct that needs other HTML than usual.
func TestRender(t *testing.T) {
	tests := []struct{ name, markdown, want, unwanted string }{
		{name: "anchor", markdown: "## One, two: `three`", want: `<h2 id="one-two-three">`},
		{name: "anchor with a link", markdown: "## See [setup](setup.md)", want: `<h2 id="see-setup">`},
		{name: "anchor with emphasis", markdown: "## The `x_y` _key_", want: `<h2 id="the-x_y-key">`},
		{name: "anchor with a combining mark", markdown: "## Cafe\u0301", want: "<h2 id=\"cafe\u0301\">"},
		{name: "same heading", markdown: "## A\n\n## A", want: `<h2 id="a-1">`},
		{name: "anchor like that of a same heading", markdown: "## A\n\n## A\n\n## A 1", want: `<h2 id="a-1-1">`},
		{name: "anchor of a code", markdown: "## NotFound", want: `<h2 id="notfound"><span id="NotFound"></span>NotFound</h2>`},
		{name: "script", markdown: "A <script>alert(1)</script> b.", want: "A alert(1) b.", unwanted: "<script"},
		{name: "block of HTML", markdown: "<div onclick=x>\n\ntext", unwanted: "onclick"},
		{name: "comment", markdown: "<!-- begin -->\n\ntext", want: "<p>text</p>", unwanted: "begin"},
		{name: "line break", markdown: "| A |\n|---|\n| b<br>c |", want: "<td>b<br>c</td>"},
		{name: "unsafe link", markdown: "[a](javascript:alert(1))", unwanted: "javascript"},
		{name: "code", markdown: "```sh\na <b\n```", want: `<pre tabindex="0"><code>a &lt;b` + "\n"},
		{name: "table", markdown: "| A | |\n|---|---|\n| b | c |", want: "<th scope=\"col\">A</th>\n<td></td>"},
		{name: "table without headings", markdown: "| | |\n|---|---|\n| b | c |", want: "<table>\n<tbody>", unwanted: "thead"},
		{name: "page", markdown: "[a](changes.md#b)", want: `<a href="/erp/docs/changes#b">`},
		{name: "page of the other program", markdown: "[a](../../whctl/docs/changes.md)", want: `href="/erp/docs/whctl/changes"`},
		{name: "README", markdown: "[a](../../../README.md#try-it)", want: `href="/erp/docs/tutorial"`},
		{name: "other file", markdown: "see [the **log**](../../../CHANGELOG.md).", want: "<p>see the <strong>log</strong>.</p>"},
		{name: "other site", markdown: "[a](https://example.com/b.md)", want: `href="https://example.com/b.md"`},
		{name: "section", markdown: "[a](#b)", want: `href="#b"`},
		{name: "picture", markdown: "![A flow](images/flow.svg)", want: `<img src="/erp/docs/images/flow.svg" alt="A flow"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := pageOf(t, small("# Title\n\n"+tt.markdown+"\n", "# T"), "/docs/query")
			_, article, _ := strings.Cut(text, "<article")
			if !strings.Contains(article, tt.want) {
				t.Errorf("%q is not in %s", tt.want, article)
			}
			if tt.unwanted != "" && strings.Contains(article, tt.unwanted) {
				t.Errorf("%q is in %s", tt.unwanted, article)
			}
		})
	}
}

// TestPagesWithTheSameName have different paths.
func TestPagesWithTheSameName(t *testing.T) {
	m := small("# Query", "# Copies\n\nSee [events](../../daemon/docs/changes.md) and [here](changes.md).")
	if text := pageOf(t, m, "/docs/Changes"); !strings.Contains(text, "<h1>Events</h1>") {
		t.Errorf("got %s", text)
	}
	text := pageOf(t, m, "/docs/whctl/changes")
	for _, want := range []string{"<h1>Copies</h1>", `href="/erp/docs/changes"`, `href="/erp/docs/whctl/changes"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestPageWithoutTitle fails when the first page is requested.
func TestPageWithoutTitle(t *testing.T) {
	_, err := small("text", "# T").Contents(encode.Site{})
	if err == nil || !strings.Contains(err.Error(), "query.md") {
		t.Errorf("got %v, want an error with the name of the page", err)
	}
}

// searchFor returns the addresses of the results of a search, below the base path, and the page.
func searchFor(t *testing.T, m *Manual, words string) (addresses []string, text string) {
	t.Helper()
	page, err := m.Search(words, encode.Site{Base: "/erp"})
	if err != nil {
		t.Fatal(err)
	}
	text = string(page)
	for _, part := range strings.Split(text, `<li><a href="/erp`)[1:] {
		address, _, _ := strings.Cut(part, `"`)
		if strings.HasPrefix(address, Path+"/") {
			addresses = append(addresses, address)
		}
	}
	return addresses, text
}

// TestSearch finds titles before headings and headings before text, in any letter case.
func TestSearch(t *testing.T) {
	m := small(
		"# Query\n\nAbout rows.\n\n## Limit the Rows\n\ntext\n\n## Formats\n\nBINARY files\n",
		"# Rows of changes\n\n## Follow\n\n## Rows again\n",
	)
	tests := []struct {
		words string
		want  []string // URLs
	}{
		{"ROWS", []string{"/docs/whctl/changes", "/docs/query#limit-the-rows", "/docs/whctl/changes#rows-again"}},
		{"query rows", []string{"/docs/query#limit-the-rows"}},
		{"binary", []string{"/docs/query#formats"}},
		{"no-such-word", nil},
		{" ", nil},
	}
	for _, tt := range tests {
		got, _ := searchFor(t, m, tt.words)
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%q: got %v, want %v", tt.words, got, tt.want)
		}
	}
}

// TestSearchAcrossLines checks that the end of a line, in each form, ends a word.
func TestSearchAcrossLines(t *testing.T) {
	for name, text := range map[string]string{
		"items of a list":      "- press tab\n- leave it",
		"soft line break":      "press tab\nleave it",
		"hard line break":      "press tab\\\nleave it",
		"cells with <br>":      "| A |\n|---|\n| press tab<br>leave it |",
		"paragraphs of quotes": "> press tab\n>\n> leave it",
		"item with a list":     "- press tab\n  - leave it",
		"cells of a table":     "| A | B |\n|---|---|\n| press tab | leave it |",
	} {
		m := small("# Query\n\n"+text+"\n", "# T")
		if got, _ := searchFor(t, m, "table"); len(got) > 0 {
			t.Errorf("%s: a search for table finds %q in %v", name, text, got)
		}
		if got, _ := searchFor(t, m, "tab leave"); len(got) != 1 {
			t.Errorf("%s: a search for the words finds %v", name, got)
		}
	}
}

// TestSummary checks the sentence with which the contents describe a page.
func TestSummary(t *testing.T) {
	for text, want := range map[string]string{
		"Rows of tables. More.":                   "Rows of tables.",
		"Rows of tables":                          "Rows of tables.",
		"Rows of tables:\n\n- a":                  "Rows of tables.",
		"Rows, e.g. of tables. More.":             "Rows, e.g. of tables.",
		"Which rows? These.":                      "Which rows?",
		"Which rows?":                             "Which rows?",
		"Version 1.2 of it. More.":                "Version 1.2 of it.",
		"The examples use the demo.\n\nRows. It.": "Rows.",
		"- a list\n\nRows.":                       "Rows.",
	} {
		all, err := newContent(small("# Query\n\n"+text+"\n", "# T").config)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.byPath["/docs/query"].Summary; got != want {
			t.Errorf("the summary of %q is %q, want %q", text, got, want)
		}
	}
}

// TestSearchForSymptoms shows the rows of tables of troubleshooting that have the words, of a page
// with the words in a heading, too.
func TestSearchForSymptoms(t *testing.T) {
	m := small("# Query\n\n## Reset\n\n## Troubleshooting\n\n| Symptom | Cause and remedy |\n|---|---|\n"+
		"| `reset` by the *peer* | Start it. |\n| refused | Stop it. |\n", "# T")
	for words, want := range map[string]string{
		"peer":          "reset by the peer: Start it.",
		"query refused": "refused: Stop it.",
		"reset":         "reset by the peer: Start it.",
	} {
		got, text := searchFor(t, m, words)
		const address = "/docs/query#troubleshooting"
		if len(got) == 0 || got[len(got)-1] != address || !strings.Contains(text, "<span>"+want+"</span>") {
			t.Errorf("%q: got %v, want %s at last, with %q", words, got, address, want)
		}
		if strings.Count(text, "it.</span>") != 1 {
			t.Errorf("%q: there is not one excerpt: %s", words, text)
		}
	}
}

// TestSearchForSomeWords finds the places with the most words if none has all.
func TestSearchForSomeWords(t *testing.T) {
	m := small("# Query\n\nOne two.\n\n## A\n\none two three\n\n## B\n\none three four", "# T\n\nOne.")
	got, text := searchFor(t, m, "one TWO three two four missing")
	if want := "/docs/query#a /docs/query#b"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if want := "These places have 3 of the 5:"; !strings.Contains(text, want) {
		t.Errorf("%q is not in %s", want, text)
	}
	_, text = searchFor(t, m, "nothing missing")
	if want := "No page has any of these words"; !strings.Contains(text, want) {
		t.Errorf("%q is not in %s", want, text)
	}
}

// TestSearchForStatus finds the error codes of an HTTP status first.
func TestSearchForStatus(t *testing.T) {
	m := New(Config{
		Service: fstest.MapFS{
			"errors.md": {Data: []byte("# Errors\n\n## When to try again\n\nstatus 409\n\n" +
				"## Conflict\n\nStatus 409. A state.\n\n## TooLarge\n\nStatus 413, or status 431.\n")},
			"accounts.md": {Data: []byte("# Users\n\n## Get 409\n\n## Status 1409\n")},
		},
		Client: fstest.MapFS{},
	})
	for words, want := range map[string]string{
		"409":             "/docs/errors#conflict",
		"HTTP status 409": "/docs/errors#conflict",
		"error 431":       "/docs/errors#toolarge",
		"get 409":         "/docs/accounts#get-409",
	} {
		page, err := m.Search(words, encode.Site{})
		if err != nil {
			t.Fatal(err)
		}
		_, results, _ := strings.Cut(string(page), `class="results"`)
		_, first, _ := strings.Cut(results, `href="`)
		first, _, _ = strings.Cut(first, `"`)
		if first != want {
			t.Errorf("%q: the first result is %q, want %s", words, first, want)
		}
	}
}

// TestLongListOfResults shows how many results the list does not have.
func TestLongListOfResults(t *testing.T) {
	m := small("# Query\n\n"+strings.Repeat("## Rows\n\n", maxResults+7), "# T")
	got, text := searchFor(t, m, "rows")
	want := "The list shows 50 of 57 results."
	if len(got) != maxResults || !strings.Contains(text, want) {
		t.Errorf("got %d results, want %d and %q in %s", len(got), maxResults, want, text)
	}
}

// TestTag changes with the version, the text and the user.
func TestTag(t *testing.T) {
	m := small("# Query", "# T")
	changed := small("# Query", "# T")
	changed.config.Version = "1.2.4"
	changed = New(changed.config)
	tags := make(map[string]string)
	for name, tag := range map[string]func() (string, error){
		"as it is":        func() (string, error) { return m.Tag(encode.Site{}) },
		"another version": func() (string, error) { return changed.Tag(encode.Site{}) },
		"another text":    func() (string, error) { return small("# Queries", "# T").Tag(encode.Site{}) },
		"a user":          func() (string, error) { return m.Tag(encode.Site{User: "kim"}) },
		"a session":       func() (string, error) { return m.Tag(encode.Site{User: "kim", Session: true}) },
	} {
		tag, err := tag()
		if err != nil {
			t.Fatal(err)
		}
		if tags[tag] != "" {
			t.Errorf("%s and %s have the same tag %s", name, tags[tag], tag)
		}
		tags[tag] = name
	}
}

// TestPicture serves pictures only.
func TestPicture(t *testing.T) {
	m := small("# Query", "# T")
	if string(m.Picture("flow.svg")) != "<svg/>" {
		t.Error("the picture is missing")
	}
	for _, name := range []string{"other.svg", "../query.md", "../images/flow.svg", "flow", ""} {
		if got := m.Picture(name); got != nil {
			t.Errorf("%q: got %q, want nothing", name, got)
		}
	}
}

// TestContentsList checks that the contents list every page of the manual in a group for its task, and
// no page that does not exist: a page that was renamed would lose its place.
func TestContentsList(t *testing.T) {
	all, err := newContent(Config{Service: docs.Files, Client: clientdocs.Files})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all.groups {
		if g.Title != unlistedTitle {
			continue
		}
		for _, p := range g.Pages {
			t.Errorf("no group has the page %s", p.Path)
		}
	}
	for _, part := range order {
		for _, name := range part.pages {
			if all.byPath[Path+"/"+name] == nil {
				t.Errorf("the group %q has the page %s, which does not exist", part.title, name)
			}
		}
	}
}

// TestEmptyGroups checks that the contents have no heading without pages below it.
func TestEmptyGroups(t *testing.T) {
	contents, err := small("# Query", "# T").Contents(encode.Site{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(string(contents), "<h2>"), 3; got != want {
		t.Errorf("the contents of 3 pages in %d groups have %d headings: %s", want, got, contents)
	}
}

// TestNoManual is for programs without pages.
func TestNoManual(t *testing.T) {
	if m := New(Config{}); m != nil {
		t.Errorf("got %v, want nil", m)
	}
}
