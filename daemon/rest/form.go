package rest

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// form is the members of a request that is no query. It notes which of them
// were asked for and what is wrong with them, so that a request is refused once
// and for all reasons.
type form struct {
	members query.Members
	asked   []string
	missing []fault.Field
	wrong   []fault.Field
}

// form reads the members of a request.
func readForm(x *edge.Context) (*form, error) {
	members, err := readMembers(x)
	if err != nil {
		return nil, err
	}
	return &form{members: members, asked: []string{query.Format, query.Callback, query.Nulls, query.Strict, query.Meta, "v", "jsconfig"}}, nil
}

// given is a member's text, and whether it is there. An empty text is, where
// JSON says so.
func (f *form) given(name string) (string, bool) {
	f.knows(name)
	m, ok := f.members.Get(name)
	if !ok || m.Empty {
		return "", false
	}
	if m.List || m.Other || len(m.Texts) != 1 {
		f.refuse(name, "takes one text")
		return "", false
	}
	return m.Texts[0], true
}

// optional is given for a change that leaves alone what is nil.
func (f *form) optional(name string) *string {
	if text, ok := f.given(name); ok {
		return &text
	}
	return nil
}

// required is the text of a member that must be there.
func (f *form) required(name string) string {
	text, _ := f.given(name)
	if text == "" {
		f.missing = append(f.missing, fault.Field{Name: name, Message: "must not be empty"})
	}
	return text
}

// knows notes members that mean something, even if it does not matter what.
func (f *form) knows(names ...string) { f.asked = append(f.asked, names...) }

func (f *form) refuse(name, message string) {
	f.wrong = append(f.wrong, fault.Field{Name: name, Message: message})
}

// maxStrays is the number of members that mean nothing which are named: a reply
// must not grow with them.
const maxStrays = 20

// done says what is wrong, if anything, and names the members that nothing has
// asked for.
func (f *form) done(x *edge.Context) error {
	strict := f.strict()
	var ignored []string
	for _, m := range f.members {
		if slices.ContainsFunc(f.asked, func(name string) bool { return strings.EqualFold(name, m.Name) }) {
			continue
		}
		if len(ignored) == maxStrays {
			ignored = append(ignored, "...")
			break
		}
		name := shownName(m.Name)
		if strict {
			f.refuse(name, "is not known")
		}
		ignored = append(ignored, name)
	}
	if ignored != nil {
		x.Response.Header().Set(wire.HeaderIgnoredMembers, edge.Clean(strings.Join(ignored, ", ")))
	}
	switch {
	case f.wrong != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "The request cannot be read", Fields: append(f.wrong, f.missing...)}
	case f.missing != nil:
		return &fault.Error{Kind: fault.Missing, Message: "The request lacks a member", Fields: f.missing}
	}
	return nil
}

// shownName is a member's name as a reply repeats it. What is no name is most
// likely a whole body in the wrong place, which may hold a password.
func shownName(name string) string {
	const most = 60
	odd := func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if len(name) > most || strings.ContainsFunc(name, odd) {
		return "***"
	}
	return name
}

func (f *form) strict() bool {
	text, ok := f.given(query.Strict)
	if !ok {
		return false
	}
	on, err := wire.ParseBool(text)
	if err != nil {
		f.refuse(query.Strict, err.Error())
	}
	return on == 1
}

// flag is a bool that may be given.
func (f *form) flag(name string) *bool {
	text, ok := f.given(name)
	if !ok {
		return nil
	}
	n, err := wire.ParseBool(text)
	if err != nil {
		f.refuse(name, err.Error())
	}
	on := n == 1
	return &on
}

// readMembers reads all members of the request: path, query string and body.
func readMembers(x *edge.Context) (query.Members, error) {
	inBody, err := parseMembers(x.Body, x.Request.Header.Get("Content-Type"), x.Params.Get(edge.ParamFormat))
	if err != nil {
		return nil, err
	}
	x.Members = query.Union(nil, x.URLMembers, inBody)
	return x.Members, nil
}

var utf8Mark = []byte("\ufeff")

// parseMembers reads a body by what it is: one that starts with { is JSON
// whatever its content type says, since clients of the existing service send
// JSON to CSV routes.
func parseMembers(body []byte, contentType, routeFormat string) (query.Members, error) {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, utf8Mark), " \t\r\n")
	if len(trimmed) == 0 {
		return nil, nil
	}
	if trimmed[0] == '{' {
		return query.ReadJSON(trimmed)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" && media == "" {
		return nil, fault.New(fault.Unsupported, "the Content-Type cannot be read")
	}
	switch {
	case media == "application/x-www-form-urlencoded":
		return query.ReadForm(string(trimmed))
	case media == "text/csv", media == "" && strings.EqualFold(routeFormat, "csv"):
		return query.ReadCSV(body)
	case media == "", media == "application/json", media == "text/json", media == "text/plain":
		return query.ReadJSON(trimmed)
	}
	return nil, fault.New(fault.Unsupported, "a body of type %s cannot be read; send application/json, application/x-www-form-urlencoded or text/csv", edge.Clean(media))
}
