// Package manual serves the manual: the Markdown pages that are part of the program, as pages
// of the service, with a search over their titles and headings.
package manual

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bizhook/whd/daemon/encode"
)

// Path is the path of the contents. The pages are below it, those about whctl in a folder of
// their own: both programs have a page about changes.
const (
	Path         = "/docs"
	ClientFolder = "whctl"
)

// Config has the parts of a Manual.
type Config struct {
	Base    string // http.base_path as links need it
	Version string // of the program
	Service fs.FS  // the manual of whd: pages, and pictures in the folder images
	Client  fs.FS  // the manual of whctl
}

// Manual has the pages. They are rendered when the first one is requested, which takes some
// 20 ms that a start need not wait for.
type Manual struct {
	config Config
	load   func() (*content, error)
}

// New returns the manual, nil if the program has none.
func New(c Config) *Manual {
	if c.Service == nil || c.Client == nil {
		return nil
	}
	return &Manual{c, sync.OnceValues(func() (*content, error) { return newContent(c) })}
}

// content is the rendered manual.
type content struct {
	pages  []*page // in the order of the contents
	byPath map[string]*page
	groups []*group
	sum    []byte // changes with the version and with every page
}

// page is a rendered page of the manual.
type page struct {
	Path     string // below the base path, such as /docs/whctl/changes
	Title    string
	Summary  string // the first sentence
	Sections []section
	Body     template.HTML
	text     string // above the first section, in lower case
}

// section is a heading of a page, other than its title.
type section struct {
	ID    string // its anchor
	Title string
	Level int
	text  string // below the heading, in lower case
	// symptoms are the rows of a table of symptoms, each with its cause and remedy.
	symptoms []string
}

// newContent renders all pages.
func newContent(c Config) (*content, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, c.Version)
	all := &content{byPath: make(map[string]*page)}
	books := []struct {
		folder string
		files  fs.FS
	}{{"", c.Service}, {ClientFolder, c.Client}}
	for _, book := range books {
		names, err := fs.Glob(book.files, "*.md")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(book.files, name)
			if err != nil {
				return nil, err
			}
			sum.Write(text)
			p, err := render(c, path.Join(Path, book.folder, strings.TrimSuffix(name, ".md")), text)
			if err != nil {
				return nil, fmt.Errorf("page %s of the manual: %w", name, err)
			}
			all.byPath[p.Path] = p
		}
	}
	all.sum = sum.Sum(nil)
	all.arrange()
	return all, nil
}

//go:embed templates/*.html
var templates embed.FS

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(encode.Layout().ParseFS(templates, "templates/*.html"))
})

// view is the data of every page.
type view struct {
	encode.Page
	Contents string // URL of the contents
	Words    string // that were searched for
}

func (m *Manual) view(title string, site encode.Site) view {
	contents := m.config.Base + Path
	v := view{Page: encode.Page{Title: title, Site: site}, Contents: contents}
	if title != contentsTitle {
		v.Breadcrumbs = []encode.Link{{Name: contentsTitle, URL: contents}, {Name: title}}
	}
	return v
}

const contentsTitle = "Manual"

// pageView is the data of a page of the manual.
type pageView struct {
	view
	*page
	Title          string // both view and page have one
	Previous, Next *page  // nil for none
}

// Page returns a page by its path, such as /docs/kinds, in any letter case; nil if there is none.
func (m *Manual) Page(pagePath string, site encode.Site) ([]byte, error) {
	all, err := m.load()
	if err != nil {
		return nil, err
	}
	p := all.byPath[strings.ToLower(pagePath)]
	if p == nil {
		return nil, nil
	}
	v := pageView{view: m.view(p.Title, site), page: p, Title: p.Title}
	i := slices.Index(all.pages, p)
	if i > 0 {
		v.Previous = all.pages[i-1]
	}
	if i < len(all.pages)-1 {
		v.Next = all.pages[i+1]
	}
	return execute("page", v)
}

// contentsView is the data of the contents.
type contentsView struct {
	view
	Version string
	Groups  []*group
}

// Contents returns the page that lists all pages.
func (m *Manual) Contents(site encode.Site) ([]byte, error) {
	all, err := m.load()
	if err != nil {
		return nil, err
	}
	return execute("contents", contentsView{m.view(contentsTitle, site), m.config.Version, all.groups})
}

// resultsView is the data of the result of a search.
type resultsView struct {
	view
	Missing bool // the search is for a page that does not exist
	Results []result
	Total   int  // may be more than there are Results
	Partial bool // no place has all words
	Matched int  // words that each result has
	Count   int  // words in the search
}

// Search returns the page of the places that contain words, or most of them.
func (m *Manual) Search(words string, site encode.Site) ([]byte, error) {
	return m.results("Search the manual", words, false, site)
}

// Missing returns the page for a path that no page has. It lists those with similar words.
func (m *Manual) Missing(name string, site encode.Site) ([]byte, error) {
	isSeparator := func(r rune) bool { return strings.ContainsRune("/-_. ", r) }
	words := strings.Join(strings.FieldsFunc(name, isSeparator), " ")
	return m.results("Page not found", words, true, site)
}

func (m *Manual) results(title, words string, missing bool, site encode.Site) ([]byte, error) {
	all, err := m.load()
	if err != nil {
		return nil, err
	}
	words = strings.ToValidUTF8(words[:min(len(words), maxWords)], "")
	v := resultsView{view: m.view(title, site), Missing: missing}
	v.Words = words
	sections := all.search(words)
	v.Results = sections.results[:min(len(sections.results), maxResults)]
	v.Total = len(sections.results)
	v.Partial = sections.matched < sections.words
	v.Matched = sections.matched
	v.Count = sections.words
	return execute("results", v)
}

// Picture returns a picture of the manual by its name, nil if there is none.
func (m *Manual) Picture(name string) []byte {
	if path.Ext(name) != ".svg" || strings.ContainsRune(name, '/') {
		return nil
	}
	picture, err := fs.ReadFile(m.config.Service, path.Join("images", name))
	if err != nil {
		return nil
	}
	return picture
}

// Tag returns the ETag of the pages for a user. It changes with the version and the text of the
// manual, and with the user in the frame of a page.
func (m *Manual) Tag(site encode.Site) (string, error) {
	all, err := m.load()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(all.sum)
	sum.Write([]byte(strconv.Quote(site.User) + strconv.FormatBool(site.Session) + strconv.FormatBool(site.Admin)))
	const tagBytes = 12
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:tagBytes]) + `"`, nil
}

// execute returns a page.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := layout().ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}
