package encode

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
)

// Site is what every page shows of where it is and who looks at it.
type Site struct {
	Base      string // path that stands before every link
	Here      string // the page's own path and query, to come back to after a login
	User      string // who is known by the request, empty for nobody
	Session   bool   // by a session, which can be ended
	Operation string // that was asked for, where a page of metadata tells of it
}

//go:embed templates/style.css
var style string

// StylePolicy is the source by which a Content-Security-Policy allows the style
// of the pages, and no other.
func StylePolicy() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

//go:embed templates/*.html
var templates embed.FS

// layout is parsed once, and cloned by those who add pages of their own.
var layout = template.Must(template.New("layout").
	Funcs(template.FuncMap{"style": func() template.CSS { return template.CSS(style) }}).
	ParseFS(templates, "templates/*.html"))

var pages = template.Must(layout.Clone())

// Layout is a set of templates for pages in the style of the service. A page is
// a template that begins with {{template "top" .}} and a main element with the
// id main, and ends with {{template "bottom" .}}; its data embed a Page.
func Layout() *template.Template { return template.Must(layout.Clone()) }

// Page is what the layout needs of a page's data.
type Page struct {
	Title  string
	Site   Site
	Crumbs []Link // the way to the page; the last one, without URL, is the page
}

// facts are names and values under a heading.
type facts struct {
	Title string
	Facts []Pair
}

// about is nil where there is nothing to tell, so that templates can ask.
func about(title string, pairs []Pair) *facts {
	if len(pairs) == 0 {
		return nil
	}
	return &facts{title, pairs}
}

// execute writes a template. Those of this package cannot fail: a buffer takes
// everything, and the tests execute each of them with all that it may show.
func execute(dst []byte, name string, data any) []byte {
	buffer := bytes.NewBuffer(dst)
	if err := pages.ExecuteTemplate(buffer, name, data); err != nil {
		panic(err)
	}
	return buffer.Bytes()
}
