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
// and for all reasons, by done.
type form struct {
	members query.Members
	asked   []string
	err     error // why the request has no members that can be read
	missing []fault.Field
	wrong   []fault.Field
}

// readForm reads the members of a request.
func readForm(x *edge.Context) *form {
	members, err := readMembers(x)
	return &form{members: members, err: err, asked: []string{query.Format, query.Callback, query.Nulls, query.Strict, query.Meta, "v", "jsconfig"}}
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

// read is a member as parse reads it, nil where it is not given.
func read[T any](f *form, name string, parse func(string) (T, error)) *T {
	text, ok := f.given(name)
	if !ok {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		f.refuse(name, err.Error())
	}
	return &v
}

// or is a value, or another where there is none.
func or[T any](v *T, other T) T {
	if v == nil {
		return other
	}
	return *v
}

// asText and asBool are for read.
func asText(text string) (string, error) { return text, nil }

func asBool(text string) (bool, error) {
	n, err := wire.ParseBool(text)
	return n == 1, err
}

// required is the text of a member that must be there.
func (f *form) required(name string) string {
	text, _ := f.given(name)
	if text == "" {
		f.missing = append(f.missing, fault.Field{Name: name, Message: "must not be empty"})
	}
	return text
}

// require is a member that must be there, as parse reads it.
func require[T any](f *form, name string, parse func(string) (T, error)) (v T) {
	if text := f.required(name); text != "" {
		var err error
		if v, err = parse(text); err != nil {
			f.refuse(name, err.Error())
		}
	}
	return v
}

// knows notes members that mean something, even if it does not matter what.
func (f *form) knows(names ...string) { f.asked = append(f.asked, names...) }

func (f *form) refuse(name, message string) {
	f.wrong = append(f.wrong, fault.Field{Name: name, Message: message})
}

// maxUnknown is the number of members that mean nothing which are named: a reply
// must not grow with them.
const maxUnknown = 20

// done says what is wrong, if anything, and names the members that nothing has
// asked for.
func (f *form) done(x *edge.Context) error {
	if f.err != nil {
		return f.err
	}
	strict := or(read(f, query.Strict, asBool), false)
	var ignored []string
	for _, m := range f.members {
		if named(f.asked, m.Name) {
			continue
		}
		if len(ignored) == maxUnknown {
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

// refused is the failure of members that are wrong, nil where none is.
func refused(wrong []fault.Field) error {
	if len(wrong) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
}

// named reports whether a name is one of several, in any letter case.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}

// given reports whether a member has a value.
func given(members query.Members, name string) bool {
	m, ok := members.Get(name)
	return ok && !m.Empty
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
