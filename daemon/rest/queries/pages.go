package queries

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// pageTake is the default page size of HTML pages. Other formats return all rows.
const pageTake = 100

// SentByForm reports whether a query string may come from a filter form, which FormAddress
// converts.
func SentByForm(rawQuery string) bool { return strings.Contains(rawQuery, encode.FormOperator+"=") }

// FormAddress converts the query string of a filter form of a kind, with pairs of operator and
// value, to plain members, so that the URL can be saved, shared and used by other
// clients. It returns an empty string if the request is not from a form.
func FormAddress(u *url.URL, kind *record.Kind) string {
	operators := make(map[string]string)
	pairs := strings.Split(u.RawQuery, "&")
	for _, pair := range pairs {
		name, value := unescaped(pair)
		if field, ok := formField(name, encode.FormOperator); ok {
			operators[field] = strings.TrimSpace(value)
		}
	}
	if len(operators) == 0 {
		return ""
	}

	var members, columns []string
	for _, pair := range pairs {
		name, value := unescaped(pair)
		if _, isOperator := formField(name, encode.FormOperator); isOperator {
			continue
		}
		field, isValue := formField(name, encode.FormValue)
		if isValue && !isText(kind, field) {
			value = strings.TrimSpace(value)
		}
		if value == "" { // an input that the user has left empty
			continue
		}
		switch {
		case !isValue:
			members = append(members, pair)
		case field == query.Fields:
			columns = append(columns, value)
		default:
			name = formMember(field, operators[field])
			members = append(members, name+"="+url.QueryEscape(value))
		}
	}
	if len(columns) > 0 {
		members = append(members, query.Fields+"="+url.QueryEscape(strings.Join(columns, ",")))
	}
	plain := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: strings.Join(members, "&")}
	return edge.LocalPath(&plain)
}

// isText reports whether a field has texts. In conditions on them, blanks at the start and the end
// count.
func isText(kind *record.Kind, field string) bool {
	i, ok := kind.Column(field)
	return ok && kind.Fields[i].Type == record.Text
}

// unescaped returns the name and the value of a pair of a query string.
func unescaped(pair string) (name, value string) {
	name, value, _ = strings.Cut(pair, "=")
	name, _ = url.QueryUnescape(name) // invalid escapes were rejected before
	value, _ = url.QueryUnescape(value)
	return name, value
}

// formField returns the field that a form member belongs to. end is the suffix of the name that
// distinguishes operators and values.
func formField(name, end string) (field string, ok bool) {
	field, ok = strings.CutSuffix(name, end)
	return field, ok && field != "" && !strings.Contains(field, ".")
}

// formMember returns the escaped name of the member for a condition on a field.
func formMember(field, operator string) string {
	if operator == record.Equal.String() {
		operator = ""
	}
	return url.QueryEscape(field + operator)
}

// address is the URL of a query's page in parts, to build the URLs of related pages.
type address struct {
	path    string
	members query.Members

	// whole is whether the URL leads to the rows of the request. It does not if the body of the
	// request has a member that a query string cannot express.
	whole bool
}

// newAddress returns the address of a request, including the members of its body.
func newAddress(x *edge.Context, members query.Members) address {
	withoutQuery := url.URL{Path: x.Request.URL.Path, RawPath: x.Request.URL.RawPath}
	a := address{path: edge.LocalPath(&withoutQuery), whole: true}
	for _, m := range members {
		if m.Empty && query.IgnoresValue(x.Kind, m) { // a link needs a value
			m.Texts = []string{"true"}
			a.members = append(a.members, m)
			continue
		}
		if m.Empty || form.HasName(unlinkedMembers, m.Name) { // no link has them
			continue
		}
		switch {
		case m.Other: // an object; that of Meta does not affect the rows
			a.whole = a.whole && query.SameName(m.Name, query.Meta)
		case slices.Contains(m.Texts, ""): // in JSON a value; in a query string, none is given
			a.whole = false
		default:
			a.members = append(a.members, m)
		}
	}
	return a
}

// unlinkedMembers are not repeated in links.
var unlinkedMembers = []string{query.Callback, edge.ParamKey}

// with returns the address with other values of some members. An empty value removes
// a member.
func (a address) with(changes ...encode.Pair) string {
	var pairs []string
	for _, m := range a.members {
		hasName := func(p encode.Pair) bool { return query.SameName(p.Name, m.Name) }
		if slices.ContainsFunc(changes, hasName) {
			continue
		}
		for _, text := range formTexts(m) {
			pairs = append(pairs, url.QueryEscape(m.Name)+"="+url.QueryEscape(text))
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

// without returns the address without some members.
func (a address) without(names ...string) string {
	var changes []encode.Pair
	for _, name := range names {
		changes = append(changes, encode.Pair{Name: name})
	}
	return a.with(changes...)
}

// formTexts returns a member's values for a query string. The items of a JSON array
// are quoted if necessary.
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
