// Package pages has the web pages of messages, subscriptions, users and the other resources of the
// service. Pages have no rules and read no tables: they call the operations of the API as the user
// of the page, and show the responses.
package pages

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// Config has the dependencies and settings of the pages.
type Config struct {
	API           API
	Webhooks      bool // webhooks are enabled
	HasRequestLog bool
	HasDocs       bool // the service has its manual at /docs
	Version       string
	Portal        Portal // the sessions of subscribers; nil without webhooks

	// Tries are the operations that the API reference tries by a page, see
	// metadata.Operation.TriedByPage.
	Tries []string
}

// API calls operations of the service.
type API interface {
	// Do calls an operation as the user of x, with all checks of the operation. Its errors are
	// those of the operation.
	Do(x *edge.Context, call Call) (Response, error)
}

// Call is a call of an operation.
type Call struct {
	Method string
	Path   string // below the base path, escaped
	Query  url.Values
	Body   any  // the members, as JSON; nil for none
	DryRun bool // the members say that nothing is to be changed
}

// Response is the response of an operation, in JSON.
type Response struct {
	Body   []byte
	Header http.Header
}

// Routes returns the routes of the pages. None of them is an operation: programs call the API.
func Routes(c Config) []edge.Route {
	api := client{c.API}
	return oneByOne(slices.Concat(
		start{api, c}.routes(),
		messages{everyone(api)}.routes(),
		bulk{api}.routes(),
		subscriptions{everyone(api)}.routes(),
		subscribers{api}.routes(),
		explanations{api}.routes(),
		records{api, c.Webhooks}.routes(),
		users{api}.routes(),
		keys{api}.routes(),
		service{api}.routes(),
		trials{api, c.Tries}.routes(),
	))
}

// Paths of the pages.
const (
	Root         = edge.StartPath
	pathMessages = Root + "/Messages"
	pathMessage  = pathMessages + "/{MessageID}"
)

// route returns a route that shows a page.
func route(role account.Role, pattern string, serve func(*edge.Context) error) edge.Route {
	return edge.Route{
		Methods:   http.MethodGet,
		Pattern:   pattern,
		Role:      role,
		SignedIn:  role == account.Reader,
		Operation: "Page",
		Redacted:  true,
		Serve:     serve,
	}
}

// submit returns a route that a form of a page is sent to.
func submit(role account.Role, pattern string, serve func(*edge.Context) error) edge.Route {
	r := route(role, pattern, serve)
	r.Methods = http.MethodPost
	r.Changes = true
	return r
}

// both returns the routes of a page with a form that is sent to the same address.
func both(role account.Role, pattern string, show, serve func(*edge.Context) error) []edge.Route {
	return []edge.Route{route(role, pattern, show), submit(role, pattern, serve)}
}

// client calls operations and decodes their responses.
type client struct{ api API }

// get reads the document at a path.
func (c client) get(x *edge.Context, path string, query url.Values, into any) error {
	return c.call(x, Call{Method: http.MethodGet, Path: path, Query: query}, into)
}

// send calls an operation that changes something. into is nil if the response does not matter.
func (c client) send(x *edge.Context, method, path string, body, into any) error {
	return c.call(x, Call{Method: method, Path: path, Body: body}, into)
}

// call calls an operation and decodes its response. into is nil if the response does not matter.
func (c client) call(x *edge.Context, call Call, into any) error {
	response, err := c.api.Do(x, call)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(response.Body, into)
}

// rows is the envelope of a query.
type rows[T any] struct {
	Total   int64
	Results []T
	Meta    map[string]string
}

// only returns the single row of a query, or an error if there is none.
func only[T any](found rows[T], err error, noun string) (T, error) {
	if err == nil && len(found.Results) == 0 {
		err = fault.New(fault.NotFound, "There is no such %s", noun)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found.Results[0], nil
}

// maxInputs is the maximum number of inputs of a form that net/url reads.
const maxInputs = 10_000

// formOf reads the form that a page has sent.
func formOf(x *edge.Context) (url.Values, error) {
	inputs := bytes.Count(x.Body, []byte("&")) + 1
	if inputs > maxInputs {
		return nil, fault.New(fault.Invalid, "The form has %d inputs, the maximum is %d; send fewer rows",
			inputs, maxInputs)
	}
	values, err := url.ParseQuery(string(x.Body))
	if err != nil {
		return nil, fault.New(fault.Malformed, "The body is not a form; send the form of the page again")
	}
	for name, texts := range values {
		if !utf8.ValidString(name) || slices.ContainsFunc(texts, isNotUTF8) {
			return nil, fault.New(fault.Malformed, "The form cannot be read: %s is not name=value in UTF-8",
				query.Printable(name))
		}
	}
	return values, nil
}

func isNotUTF8(text string) bool { return !utf8.ValidString(text) }

//go:embed templates/*.html
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(encode.Layout().Funcs(functions).ParseFS(files, "templates/*.html"))
})

// functions are the functions of the templates, in addition to those of the layout.
var functions = template.FuncMap{
	"count":    count,
	"label":    labelOf,
	"shortID":  shortID,
	"shortURL": display.ShortURL,
	"took":     took,
	"utc":      utc,
	"iso":      iso,
}

// show sends a page.
func show(x *edge.Context, status int, name string, data any) error {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, data); err != nil {
		return err
	}
	x.Response.Header().Set("Content-Type", edge.HTMLType)
	return x.Write(status, page.Bytes())
}

// frame returns the data of the layout around the content of a page.
func frame(x *edge.Context, title string, path ...encode.Link) encode.Page {
	site := edge.SiteOf(x)
	page := encode.Page{Title: title, Site: site}
	for _, link := range path {
		link.URL = x.Base + link.URL
		page.Breadcrumbs = append(page.Breadcrumbs, link)
	}
	if len(path) > 0 {
		page.Breadcrumbs = append(page.Breadcrumbs, encode.Link{Name: title})
	}
	return page
}

// goTo redirects a browser that has sent a form to the page with the result.
func goTo(x *edge.Context, path string) error {
	return x.Redirect(http.StatusSeeOther, x.Base+path)
}

// moment is a time on a page: how long ago, and when exactly.
type moment struct {
	Words string // 2m ago, in 6m, 9999-12-31
	At    wire.Timestamp
}

// ago describes a time in the past, or in the future.
func ago(x *edge.Context, t wire.Timestamp) moment {
	when := time.Time(t)
	if when.IsZero() {
		return moment{}
	}
	passed := x.Timing.Start.Sub(when)
	switch {
	case max(passed, when.Sub(x.Timing.Start)) > maxDistance:
		return moment{when.UTC().Format(time.DateOnly), t}
	case passed < 0:
		return moment{display.Soon(-passed), t}
	default:
		return moment{display.Age(passed) + " ago", t}
	}
}

// maxDistance is the distance beyond which a time is shown as a date: a number of days means little
// then, and a Duration ends after 292 years.
const maxDistance = 100 * 365 * 24 * time.Hour

// parseTime reads a time in any form that the operations accept.
func parseTime(text string) (t wire.Timestamp, ok bool) {
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		return t, false
	}
	parsed, err := time.Parse(wire.DateLayout, date)
	return wire.Timestamp(parsed), err == nil
}

// utc formats a time for a tooltip.
func utc(t wire.Timestamp) string { return time.Time(t).UTC().Format("2006-01-02 15:04:05 UTC") }

// iso formats a time for programs, such as screen readers.
func iso(t wire.Timestamp) string { return time.Time(t).UTC().Format(time.RFC3339) }

// took formats a duration.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	default:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
}

// count formats a number with its digits in groups.
func count(n int64) string { return display.Thousands(n) }

// shortID returns the ends of an ID.
func shortID(id string) string {
	first, last, isCut := display.EndsOfID(id)
	if !isCut {
		return id
	}
	return first + "…" + last
}
