package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// pageTake is how many rows a page has where the request does not say. All at
// once, which is what other formats give, would be no page to read.
const pageTake = 100

const htmlType = "text/html; charset=utf-8"

// addFrame gives a page the frame of this site and this reader.
func addFrame(x *edge.Context) {
	if x.HTML() {
		x.Format.Format = x.Format.Format.For(siteOf(x))
	}
}

// site is what the frame of every page shows.
func siteOf(x *edge.Context) encode.Site {
	site := encode.Site{Base: x.Base, User: x.Identity.DisplayName, Session: x.Identity.AuthMethod == account.Cookie}
	if site.User == "" {
		site.User = x.Identity.Name
	}
	if x.Kind != nil {
		site.Operation = operationOf(x)
	}
	if x.Request.Method == http.MethodGet || x.Request.Method == http.MethodHead {
		site.Location = localPath(x.Request.URL)
	}
	return site
}

// anyQuery is the operation of the routes that query the kind they name. The
// documents show an operation for each kind instead.
const anyQuery = "Query"

// operationOf is the name of a query's operation.
func operationOf(x *edge.Context) string {
	if x.Route == nil || x.Route.Operation == anyQuery {
		return x.Kind.Operation()
	}
	return x.Route.Operation
}

// localPath is an address on this host. One slash stands before it, since two
// would begin the name of another host.
func localPath(u *url.URL) string {
	path := "/" + strings.Trim(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// formAddress is where a filter form leads: its pairs of operator and value
// become plain members of the interface, so that a page's address can be kept,
// sent to others, and used by programs. It is empty where the request is no form.
func formAddress(u *url.URL) string {
	if !strings.Contains(u.RawQuery, encode.FormOperator+"=") {
		return ""
	}
	operators := make(map[string]string)
	pairs := strings.Split(u.RawQuery, "&")
	for _, pair := range pairs {
		name, value := unescaped(pair)
		if field, ok := formField(name, encode.FormOperator); ok {
			operators[field] = value
		}
	}
	if len(operators) == 0 {
		return ""
	}
	var kept []string
	for _, pair := range pairs {
		name, value := unescaped(pair)
		_, isOperator := formField(name, encode.FormOperator)
		field, isValue := formField(name, encode.FormValue)
		switch {
		case value == "" || isOperator:
		case isValue:
			kept = append(kept, formMember(field, operators[field])+"="+url.QueryEscape(value))
		default:
			kept = append(kept, pair)
		}
	}
	return localPath(&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: strings.Join(kept, "&")})
}

func unescaped(pair string) (name, value string) {
	name, value, _ = strings.Cut(pair, "=")
	name, _ = url.QueryUnescape(name) // what is broken was refused before
	value, _ = url.QueryUnescape(value)
	return name, strings.TrimSpace(value)
}

// formField is the field that a member of the form belongs to.
func formField(name, end string) (field string, ok bool) {
	field, ok = strings.CutSuffix(name, end)
	return field, ok && field != "" && !strings.Contains(field, ".")
}

func formMember(field, operator string) string {
	if operator == record.Equal.String() {
		operator = ""
	}
	return url.QueryEscape(field + operator)
}

// address is where a query's page is, in parts, to make the addresses of other
// pages of it.
type address struct {
	path    string
	members query.Members
	whole   bool // a query string can carry everything that the request said
}

// newAddress makes the address of a request, also of one whose members came in
// its body.
func newAddress(x *edge.Context, members query.Members) address {
	a := address{path: localPath(&url.URL{Path: x.Request.URL.Path, RawPath: x.Request.URL.RawPath}), whole: true}
	for _, m := range members {
		switch {
		case m.Empty || strings.EqualFold(m.Name, query.Callback):
		case m.Other:
			a.whole = a.whole && strings.EqualFold(m.Name, query.Meta)
		case slices.Contains(m.Texts, ""): // a value in JSON, none in a query string
			a.whole = false
		default:
			a.members = append(a.members, m)
		}
	}
	return a
}

// with is the address with other values of some members. An empty value takes
// a member out.
func (a address) with(changes ...encode.Pair) string {
	var pairs []string
	for _, m := range a.members {
		if !slices.ContainsFunc(changes, func(p encode.Pair) bool { return strings.EqualFold(p.Name, m.Name) }) {
			for _, text := range formTexts(m) {
				pairs = append(pairs, url.QueryEscape(m.Name)+"="+url.QueryEscape(text))
			}
		}
	}
	for _, c := range changes {
		if c.Value != "" {
			pairs = append(pairs, url.QueryEscape(c.Name)+"="+url.QueryEscape(c.Value))
		}
	}
	if len(pairs) == 0 {
		return a.path
	}
	return a.path + "?" + strings.Join(pairs, "&")
}

// without is the address without some members.
func (a address) without(names ...string) string {
	var changes []encode.Pair
	for _, name := range names {
		changes = append(changes, encode.Pair{Name: name})
	}
	return a.with(changes...)
}

// formTexts are a member's values as a query string has them. The items of a
// list, which JSON keeps apart, are quoted where that is needed.
func formTexts(m query.Member) []string {
	if !m.List {
		return m.Texts
	}
	items := make([]string, len(m.Texts))
	for i, text := range m.Texts {
		if strings.ContainsAny(text, `,"[]`) || strings.TrimSpace(text) != text {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		items[i] = text
	}
	return []string{strings.Join(items, ",")}
}
