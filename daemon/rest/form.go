package rest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// form reads the members of requests other than queries. It records which members
// were read and which are invalid; done reports all errors together.
type form struct {
	members query.Members
	known   []string
	err     error // why the members cannot be read
	missing []fault.Field
	wrong   []fault.Field
}

// readForm reads the members of a request.
func readForm(x *edge.Context) *form {
	members, err := readMembers(x)
	return &form{members: members, err: err, known: []string{query.Format, query.Callback, query.Nulls, query.BOM, query.Strict, query.Meta, "v", query.JSConfig}}
}

// given returns a member's text and whether it is present. An empty JSON string is
// present.
func (f *form) given(name string) (string, bool) {
	f.knows(name)
	m, ok := f.members.Get(name)
	if !ok || m.Empty {
		return "", false
	}
	if m.List || m.Other || len(m.Texts) != 1 {
		f.refuse(name, "must be a single text")
		return "", false
	}
	return m.Texts[0], true
}

// read returns a parsed member, nil if it is not given.
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

// or returns the value of v, or other if v is nil.
func or[T any](v *T, other T) T {
	if v == nil {
		return other
	}
	return *v
}

// asText and asBool are parsers for read.
func asText(text string) (string, error) { return text, nil }

func asBool(text string) (bool, error) {
	n, err := wire.ParseBool(text)
	return n == 1, err
}

// required returns the text of a required member.
func (f *form) required(name string) string {
	text, _ := f.given(name)
	if text == "" {
		f.missing = append(f.missing, fault.Field{Name: name, Message: "must not be empty"})
	}
	return text
}

// notBlank reports a required text that consists of white space as missing. An empty
// text has been reported.
func (f *form) notBlank(name, text string) {
	if text != "" && strings.TrimSpace(text) == "" {
		f.missing = append(f.missing, fault.Field{Name: name, Message: "must not be blank"})
	}
}

// require returns a parsed required member.
func require[T any](f *form, name string, parse func(string) (T, error)) (v T) {
	if text := f.required(name); text != "" {
		var err error
		if v, err = parse(text); err != nil {
			f.refuse(name, err.Error())
		}
	}
	return v
}

// knows marks members as known without reading them.
func (f *form) knows(names ...string) { f.known = append(f.known, names...) }

func (f *form) refuse(name, message string) {
	f.wrong = append(f.wrong, fault.Field{Name: name, Message: message})
}

// maxUnknown is the maximum number of unknown members that are reported, which
// bounds the size of a response.
const maxUnknown = 20

// done returns the errors of all members, and reports unknown members in a header.
func (f *form) done(x *edge.Context) error {
	if f.err != nil {
		return f.err
	}
	strict := or(read(f, query.Strict, asBool), false)
	var ignored []string
	for _, m := range f.members {
		if hasName(f.known, m.Name) {
			continue
		}
		if len(ignored) == maxUnknown {
			ignored = append(ignored, "...")
			break
		}
		name := shownName(m.Name)
		if strict {
			f.refuse(name, "is unknown")
		}
		ignored = append(ignored, name)
	}
	x.ReportIgnored(ignored)
	return f.fault()
}

// fault returns the errors of the members that have been read.
func (f *form) fault() error {
	switch {
	case f.wrong != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "The request has invalid members", Fields: append(f.wrong, f.missing...)}
	case f.missing != nil:
		return &fault.Error{Kind: fault.Missing, Message: "The request lacks required members", Fields: f.missing}
	}
	return nil
}

// invalidMembers returns an error for invalid members, nil if there are none.
func invalidMembers(wrong []fault.Field) error {
	if len(wrong) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
}

// hasName reports whether a list has the name, ignoring letter case.
func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}

// hasMember reports whether a member has a value.
func hasMember(members query.Members, name string) bool {
	m, ok := members.Get(name)
	return ok && !m.Empty
}

// shownName returns a member name for a response. Text that is not a name is
// replaced: it is probably a body in the wrong place, and may contain a password.
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

// readMembers reads all members of the request: path, query string and body. A body is
// read once, though a call by name needs its members twice.
func readMembers(x *edge.Context) (_ query.Members, err error) {
	if x.Logged.InBody == nil {
		x.Logged.InBody, err = query.ReadBody(x.Body, x.Request.Header.Get("Content-Type"), x.Params.Get(edge.ParamFormat))
		if err != nil {
			return nil, err
		}
		x.Members = query.Union(nil, x.URLMembers, x.Logged.InBody)
	}
	return x.Members, readBOM(x, x.Members)
}

// readBOM reads the option of CSV before anything is changed.
func readBOM(x *edge.Context, members query.Members) error {
	var wrong []fault.Field
	x.Format.BOM = or(valueOf(members, query.BOM, &wrong, asBool), false)
	return invalidMembers(wrong)
}

// pageMembers documents Skip and Take of these lists.
var pageMembers = []metadata.Member{
	{Name: query.Skip, Type: "int", Help: "number of items to leave out at the start"},
	{Name: query.Take, Type: "int", Help: "maximum number of items; all if omitted. X-Total is the number of all"},
}

// readPage reads the members Skip and Take of a list that is not a query.
func readPage(x *edge.Context) (skip, take int64, err error) {
	members, err := readMembers(x)
	var wrong []fault.Field
	skip, take = or(valueOf(members, query.Skip, &wrong, parseCount), 0), or(valueOf(members, query.Take, &wrong, parseCount), query.NoTake)
	return skip, take, cmp.Or(err, invalidMembers(wrong))
}

func parseCount(text string) (int64, error) {
	n, err := wire.ParseInteger(record.Int, text)
	if err != nil || n < 0 {
		return 0, errors.New("must be a whole number from 0 to 2147483647")
	}
	return n, nil
}

// listPage sends the requested page of a short list, unless err is not nil.
func listPage[T, D any](x *edge.Context, name string, all []T, err error, document func(T) D) error {
	skip, take, wrong := readPage(x)
	if err := cmp.Or(err, wrong); err != nil {
		return err
	}
	x.Response.Header().Set(wire.HeaderTotal, strconv.Itoa(len(all)))
	all = all[min(skip, int64(len(all))):]
	if take != query.NoTake {
		all = all[:min(take, int64(len(all)))]
	}
	return edge.List(x, name, all, nil, document)
}
