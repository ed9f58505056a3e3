package encode

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
	"sync"
)

// ErrorsPath is the path of the manual's page about errors. Each ErrorCode is an anchor of it.
const ErrorsPath = "/docs/errors"

// Site is the context that every page shows: its location and the user.
type Site struct {
	Base      string // path prefix of every link
	Location  string // path and query of the page, to return to after a login
	User      string // display name of the user, empty if not logged in
	Session   bool   // logged in with a session, which can be ended
	Admin     bool   // the user may see the pages for administrators
	Docs      bool   // the service has its manual
	Operation string // the requested operation, if a metadata page describes it
	Refresh   int    // seconds after which the browser loads the page again; 0 for never
	StopURL   string // the page without Refresh
	Back      string // the page with the link or the form that led here; empty if it is not known
	Portal    bool   // a page of a subscriber, with a layout of its own
	Visitor   string // name of the subscriber, empty before it has entered
	Instead   Link   // another way to get the response that failed; without URL if there is none
}

//go:embed templates/style.css
var style string

// StylePolicy returns the Content-Security-Policy source that allows the inline
// style of the pages, and no other style.
func StylePolicy() string { return policyOf(style) }

// policyOf returns the Content-Security-Policy source of an inline style. Browsers change CRLF to LF
// before they hash the style: a build from files with CRLF must have the same hash.
func policyOf(style string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(style, "\r\n", "\n")))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Icon is the icon of the pages, a PNG.
//
//go:embed templates/icon.png
var Icon []byte

//go:embed templates/*.html
var templates embed.FS

// layout returns the templates shared by all pages; packages with their own pages clone it. Like
// theirs, it is parsed for the first page: many services never send one.
var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("layout").Funcs(functions).ParseFS(templates, "templates/*.html"))
})

// functions are the functions of the templates.
var functions = template.FuncMap{
	"ordinal": func(i int) int { return i + 1 },
	"grouped": grouped,
	"style":   func() template.CSS { return template.CSS(style) },
}

// pages returns the templates of this package. They are a clone of layout: a template that has been
// executed can no longer be cloned.
var pages = sync.OnceValue(Layout)

// Layout returns the templates shared by all pages. A page is a template that starts
// with {{template "top" .}} and a main element with the id main, and ends with
// {{template "bottom" .}}; its data embeds a Page.
func Layout() *template.Template { return template.Must(layout().Clone()) }

// Page is the page data that the layout uses.
type Page struct {
	Title       string
	Site        Site
	Breadcrumbs []Link // the last one, without URL, is the page itself
}

// pairList is a list of names and values with a heading.
type pairList struct {
	Title string
	Pairs []Pair
}

// newPairList returns nil for an empty list, so that templates can test it.
func newPairList(title string, pairs []Pair) *pairList {
	if len(pairs) == 0 {
		return nil
	}
	return &pairList{title, pairs}
}

// execute executes a template. Errors are impossible: a buffer accepts all writes,
// and the tests execute every template with complete data.
func execute(dst []byte, name string, data any) []byte {
	buffer := bytes.NewBuffer(dst)
	if err := pages().ExecuteTemplate(buffer, name, data); err != nil {
		panic(err)
	}
	return buffer.Bytes()
}
