// Package form reads the members of requests, and pages of short lists.
package form

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

// Form reads the members of requests other than queries. It records which members
// were read and which are invalid; Done reports all errors together.
type Form struct {
	Members query.Members
	known   []string
	ignored []string // names of known members with a value that has no effect
	Err     error    // why the members cannot be read
	Missing []fault.Field
	Wrong   []fault.Field
}

// Read reads the members of a request.
func Read(x *edge.Context) *Form {
	members, err := Members(x)
	return &Form{
		Members: members,
		Err:     err,
		known: []string{
			query.Format, query.Callback, query.Nulls, query.BOM, query.Strict, query.Meta, "v",
			query.JSConfig,
		},
	}
}

// Given returns a member's text and whether it is present. An empty JSON string is
// present.
func (f *Form) Given(name string) (string, bool) {
	f.Knows(name)
	m, ok := f.Members.Get(name)
	if !ok || m.Empty {
		return "", false
	}
	if m.List || m.Other || len(m.Texts) != 1 {
		f.Refuse(name, "must be a single text")
		return "", false
	}
	return m.Texts[0], true
}

// Value returns a parsed member, nil if it is not given.
func Value[T any](f *Form, name string, parse func(string) (T, error)) *T {
	text, ok := f.Given(name)
	if !ok {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		f.Refuse(name, err.Error())
	}
	return &v
}

// Or returns the value of v, or fallback if v is nil.
func Or[T any](v *T, fallback T) T {
	if v == nil {
		return fallback
	}
	return *v
}

// Text is the parser of members that may have any text.
func Text(text string) (string, error) { return text, nil }

// Bool parses a truth value.
func Bool(text string) (bool, error) {
	n, err := wire.ParseBool(text)
	return n == 1, err
}

// Required returns the text of a required member.
func (f *Form) Required(name string) string {
	text, _ := f.Given(name)
	if text == "" {
		f.Missing = append(f.Missing, fault.Field{Name: name, Message: "must not be empty"})
	}
	return text
}

// NotBlank reports a required text that consists of white space as missing. An empty
// text has been reported.
func (f *Form) NotBlank(name, text string) {
	if text != "" && strings.TrimSpace(text) == "" {
		f.Missing = append(f.Missing, fault.Field{Name: name, Message: "must not be blank"})
	}
}

// Require returns a parsed required member.
func Require[T any](f *Form, name string, parse func(string) (T, error)) T {
	var v T
	text := f.Required(name)
	if text == "" {
		return v
	}
	v, err := parse(text)
	if err != nil {
		f.Refuse(name, err.Error())
	}
	return v
}

// Knows marks members as known without reading them.
func (f *Form) Knows(names ...string) { f.known = append(f.known, names...) }

// Ignore reports a member with a value that has no effect.
func (f *Form) Ignore(name string) { f.ignored = append(f.ignored, name) }

// Refuse reports a member as invalid.
func (f *Form) Refuse(name, message string) {
	f.Wrong = append(f.Wrong, fault.Field{Name: name, Message: message})
}

// maxUnknown is the maximum number of unknown members that are reported, which
// bounds the size of a response.
const maxUnknown = 20

// Done returns the errors of all members, and reports unknown members in a header.
func (f *Form) Done(x *edge.Context) error {
	if f.Err != nil {
		return f.Err
	}
	strict := Or(Value(f, query.Strict, Bool), false)
	ignored := f.ignored
	if strict {
		for _, name := range f.ignored {
			f.Refuse(name, "has no effect")
		}
	}
	for _, m := range f.Members {
		if HasName(f.known, m.Name) {
			continue
		}
		if len(ignored) == maxUnknown {
			ignored = append(ignored, "...")
			break
		}
		name := edge.ShownName(m.Name)
		if strict {
			f.Refuse(name, "is unknown"+record.DidYouMean(record.Suggest(m.Name, f.known)))
		}
		ignored = append(ignored, name)
	}
	x.ReportIgnored(ignored)
	return f.Fault()
}

// Check adds the problems that an operation would find in the members that have none so far, so that a
// client can correct all at once. It does nothing if no member has a problem: the operation checks them.
// It comes before Done, which returns the problems.
func (f *Form) Check(check func() error) {
	problems := f.Fault()
	if f.Err != nil || problems == nil {
		return
	}
	reported := fault.From(problems).Fields
	err := check()
	if !fault.Is(err, fault.Invalid) {
		return
	}
	for _, wrong := range fault.From(err).Fields {
		isSame := func(other fault.Field) bool { return query.SameName(other.Name, wrong.Name) }
		if !slices.ContainsFunc(reported, isSame) {
			f.Refuse(wrong.Name, wrong.Message)
		}
	}
}

// Fault returns the errors of the members that have been read.
func (f *Form) Fault() error {
	if f.Wrong != nil {
		fields := slices.Concat(f.Wrong, f.Missing)
		return &fault.Error{Kind: fault.Invalid, Message: fault.InvalidMembers, Fields: fields}
	}
	if f.Missing != nil {
		return &fault.Error{
			Kind:    fault.Missing,
			Message: fault.MissingMembers,
			Fields:  f.Missing,
		}
	}
	return nil
}

// Invalid returns an error for invalid members, nil if there are none.
func Invalid(wrong []fault.Field) error {
	if len(wrong) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
}

// HasName reports whether a list has the name, ignoring letter case.
func HasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return query.SameName(n, name) })
}

// HasMember reports whether a member has a value.
func HasMember(members query.Members, name string) bool {
	m, ok := members.Get(name)
	return ok && !m.Empty
}

// Members reads all members of the request: path, query string and body. The body is parsed
// once, although a call by name needs its members twice.
func Members(x *edge.Context) (query.Members, error) {
	if x.Logged.InBody == nil {
		var err error
		x.Logged.InBody, err = query.ReadBody(x.Body, x.Request.Header.Get("Content-Type"),
			x.Params.Get(edge.ParamFormat))
		if err != nil {
			return nil, err
		}
		x.Members = query.Union(nil, x.URLMembers, x.Logged.InBody)
		x.Logged.Unused = append(x.Logged.Unused, unusedOf(x.Logged.InBody)...)
	}
	if err := ReportUnused(x, x.Logged.Unused); err != nil {
		return nil, err
	}
	var err error
	x.Format.BOM, err = BOM(x.Members) // which the body may have
	return x.Members, err
}

// unusedOf returns the names of members of a body that have no effect in any operation.
func unusedOf(body query.Members) (names []string) {
	for _, name := range body.Replaced() {
		if len(names) == maxUnknown {
			return append(names, "...")
		}
		names = append(names, edge.ShownName(name))
	}
	if HasMember(body, query.JSConfig) {
		names = append(names, query.JSConfig)
	}
	return names
}

// ReportUnused reports members without effect, with an error if the request is strict. Invalid
// values of Strict are reported with the other members.
func ReportUnused(x *edge.Context, names []string) error {
	x.ReportIgnored(names)
	var wrong []fault.Field
	strict := Or(MemberValue(x.Members, query.Strict, &wrong, Bool), false)
	if !strict {
		return nil
	}
	wrong = nil
	for _, name := range names {
		wrong = append(wrong, fault.Field{Name: name, Message: "has no effect"})
	}
	return Invalid(wrong)
}

// BOM reads the option of CSV, before a handler changes anything: it fails if the value is
// invalid.
func BOM(members query.Members) (bool, error) {
	var wrong []fault.Field
	hasMark := Or(MemberValue(members, query.BOM, &wrong, Bool), false)
	return hasMark, Invalid(wrong)
}

// PageMembers documents Skip and Take of these lists.
var PageMembers = []metadata.Member{
	{Name: query.Skip, Type: "int", Help: "number of items to leave out at the start"},
	{Name: query.Take, Type: "int", Help: "maximum number of items; all if omitted. X-Total is the number of all"},
}

// ReadPage reads the members Skip and Take of a list that is not a query.
func ReadPage(x *edge.Context) (skip, take int64, err error) {
	members, err := Members(x)
	var wrong []fault.Field
	skip = Or(MemberValue(members, query.Skip, &wrong, Count), 0)
	take = Or(MemberValue(members, query.Take, &wrong, Count), query.NoTake)
	return skip, take, cmp.Or(err, Invalid(wrong))
}

// Count parses a number of items.
func Count(text string) (int64, error) {
	n, err := wire.ParseInteger(record.Int, text)
	if err != nil || n < 0 {
		return 0, errors.New("must be a whole number from 0 to 2147483647")
	}
	return n, nil
}

// ListPage sends the requested page of a short list, unless err is not nil.
func ListPage[T, D any](x *edge.Context, name string, items []T, err error, document func(T) D) error {
	skip, take, pageErr := ReadPage(x)
	if err := cmp.Or(err, pageErr); err != nil {
		return err
	}
	x.Response.Header().Set(wire.HeaderTotal, strconv.Itoa(len(items)))
	items = items[min(skip, int64(len(items))):]
	if take != query.NoTake {
		items = items[:min(take, int64(len(items)))]
	}
	return edge.List(x, name, items, nil, document)
}

// Without returns the members except those with the names, ignoring letter case.
func Without(members query.Members, names ...string) query.Members {
	return slices.DeleteFunc(slices.Clone(members), func(m query.Member) bool { return HasName(names, m.Name) })
}

// MemberValue returns a parsed member of a query, nil if it is not given. Errors are
// appended to wrong.
func MemberValue[T any](members query.Members, name string, wrong *[]fault.Field, parse func(string) (T, error)) *T {
	m, ok := members.Get(name)
	if !ok || m.Empty {
		return nil
	}
	message := "takes one value"
	if !m.List && !m.Other && len(m.Texts) == 1 {
		v, err := parse(m.Texts[0])
		if err == nil {
			return &v
		}
		message = err.Error()
	}
	*wrong = append(*wrong, fault.Field{Name: name, Message: message})
	return nil
}
