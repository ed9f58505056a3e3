package odata

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// The names of the system query options.
const (
	optionFilter = "$filter"
	optionFormat = "$format"
	optionToken  = "$skiptoken"
)

// Resource is the kind of resource that a request reads. It decides which options the request
// may have.
type Resource uint8

// The resources.
const (
	Rows Resource = iota
	Entity
	Count
	Document // the service document or a file
	Schema   // the metadata document, which is XML
)

// offered are the options of each resource. The number of rows does not depend on their page
// and order.
var offered = map[Resource][]string{
	Rows:     {"$select", optionFilter, "$orderby", "$top", "$skip", "$count", optionToken, optionFormat},
	Entity:   {"$select", optionFormat},
	Count:    {optionFilter, "$orderby", "$top", "$skip", optionFormat},
	Document: {optionFormat},
	Schema:   {optionFormat},
}

// options returns the names of a resource's options, for a message.
func (r Resource) options() string { return strings.Join(offered[r], ", ") }

// expressions are names of OData for resources, not fields.
var expressions = []string{"$it", "$root", "$this"}

// unoffered are the options of OData that no resource has.
var unoffered = []string{"$search", "$expand", "$apply"}

// Options are the options of a request.
type Options struct {
	Select []int // nil for all
	Filter Filter
	Order  []query.Order
	Top    int64 // query.NoTake if it is not given
	Skip   int64
	Count  bool
	Token  *Token // token of the next page; nil for the first one

	Ignored []string // names that are not system query options
}

// ParseOptions reads the options of a request about a kind, nil for a document.
func ParseOptions(resource Resource, kind *record.Kind, clock *Clock, members query.Members) (Options, error) {
	o := Options{Top: query.NoTake}
	hasOthers := false // options other than $format and $skiptoken
	for _, m := range members {
		if !strings.HasPrefix(m.Name, "$") {
			o.Ignored = append(o.Ignored, m.Name)
			continue
		}
		if slices.Contains(unoffered, m.Name) {
			return o, optionError(fault.NotImplemented, m.Name, "is not supported; supported: %s", resource.options())
		}
		if !slices.Contains(offered[resource], m.Name) {
			return o, optionError(fault.Invalid, printable(m.Name), "is not an option here; options: %s",
				resource.options())
		}
		if len(m.Texts) > 1 {
			return o, optionError(fault.Invalid, m.Name, "is given more than once")
		}

		value := strings.Join(m.Texts, "")
		if m.Name == optionFormat {
			if err := checkFormat(resource, value); err != nil {
				return o, err
			}
			continue
		}
		if m.Name != optionToken {
			hasOthers = true
		}
		if err := o.read(kind, clock, m.Name, value); err != nil {
			return o, err
		}
	}
	if o.Token != nil && hasOthers {
		return o, optionError(fault.Invalid, optionToken,
			"has the options of the first page; use @odata.nextLink unchanged")
	}
	return o, nil
}

// checkFormat returns an error for a format in which the resource is not offered: a client
// could not read the response.
func checkFormat(resource Resource, value string) error {
	if value == "" {
		return nil
	}
	offers := "json"
	_, isOffered := ParseMedia(value)
	switch resource {
	case Count:
		offers = "text/plain"
		isOffered = isOffered || mediaName(value) == offers
	case Schema:
		offers = "xml"
		isOffered = slices.Contains([]string{offers, "application/xml", "application/*", "*/*"}, mediaName(value))
	}
	if isOffered {
		return nil
	}
	return optionError(fault.Unsupported, optionFormat, "must be %s here", offers)
}

// read reads one option.
func (o *Options) read(kind *record.Kind, clock *Clock, name, value string) (err error) {
	switch name {
	case "$select":
		o.Select, err = parseSelect(kind, value)
	case optionFilter:
		o.Filter, err = ParseFilter(kind, clock, value)
	case "$orderby":
		o.Order, err = parseOrder(kind, value)
	case "$top":
		o.Top, err = parseCount(name, value)
	case "$skip":
		o.Skip, err = parseCount(name, value)
	case "$count":
		o.Count = value == "true"
		if !o.Count && value != "false" {
			err = optionError(fault.Invalid, name, "must be true or false")
		}
	case optionToken:
		o.Token, err = parseToken(value)
	}
	return err
}

// parseCount reads a number of rows.
func parseCount(option, value string) (int64, error) {
	n, err := wire.ParseInteger(record.Int, value)
	if err != nil || n < 0 {
		return 0, optionError(fault.Invalid, option, "must be a whole number from 0 to 2147483647")
	}
	return n, nil
}

// parseSelect reads a list of fields; nil stands for all.
func parseSelect(kind *record.Kind, value string) (fields []int, err error) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "*" || value == "" {
			return nil, nil
		}
		field, err := fieldOf(kind, "$select", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields, nil
}

// parseOrder reads a list of fields, each with asc or desc after it if that is given.
func parseOrder(kind *record.Kind, value string) (order []query.Order, err error) {
	const option = "$orderby"
	for term := range strings.SplitSeq(value, ",") {
		words := strings.Fields(term)
		isExpression := strings.ContainsAny(term, "('") || strings.HasPrefix(strings.TrimSpace(term), "-")
		hasOperator := len(words) > 1 && slices.Contains(notOffered, words[1])
		if isExpression || hasOperator {
			return nil, optionError(fault.NotImplemented, option,
				"is offered for fields only, with asc or desc after them")
		}
		hasDirection := len(words) == 2 && (words[1] == "asc" || words[1] == "desc")
		if len(words) != 1 && !hasDirection {
			return nil, optionError(fault.Invalid, option,
				"must be fields with asc or desc after them, separated by commas")
		}
		field, err := fieldOf(kind, option, words[0])
		if err != nil {
			return nil, err
		}
		isOrdered := slices.ContainsFunc(order, func(o query.Order) bool { return o.Field == field })
		if !isOrdered { // a second order by the same field has no effect
			order = append(order, query.Order{Field: field, Desc: hasDirection && words[1] == "desc"})
		}
	}
	return order, nil
}

// fieldOf finds a field. Unlike in other interfaces, letter case counts.
func fieldOf(kind *record.Kind, option, name string) (int, error) {
	field, ok := kind.Column(name)
	if ok && kind.Fields[field].Name == name {
		return field, nil
	}
	if slices.Contains(expressions, name) {
		return 0, optionError(fault.NotImplemented, option, "has %s, which is not supported", name)
	}
	if strings.Contains(name, "/") {
		return 0, optionError(fault.NotImplemented, option, "has a path, which is not supported")
	}
	advice := record.DidYouMean(record.Suggest(name, kind.FieldNames()))
	shown := cmp.Or(printable(name), "an empty name")
	return 0, optionError(fault.Invalid, option, "has %s, which is not a field of %s%s", shown, kind.Name, advice)
}

// optionError returns the error of an option.
func optionError(kind fault.Kind, option, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &fault.Error{
		Kind:    kind,
		Message: option + " " + text,
		Fields:  []fault.Field{{Name: option, Message: text}},
	}
}

// printable returns a name of a request for a message.
func printable(name string) string {
	const maxLength = 100
	if len(name) > maxLength {
		name = name[:maxLength] + "..."
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
}

// Token is the value of $skiptoken: the next page of a request.
type Token struct {
	Rest   int64 // rows that $top allows on this page and the following ones; query.NoTake for all
	Count  int64 // the number of all rows, as counted for the first page; -1 for none
	Cursor string
}

// String returns the value of $skiptoken.
func (t Token) String() string { return itoa(t.Rest) + "." + itoa(t.Count) + "." + t.Cursor }

// parseToken reads the value of $skiptoken.
func parseToken(value string) (*Token, error) {
	parts := strings.SplitN(value, ".", 3)
	if len(parts) != 3 || parts[2] == "" {
		return nil, TokenError()
	}
	remaining, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil || remaining < -1 || remaining == 0 {
		return nil, TokenError()
	}
	count, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || count < -1 {
		return nil, TokenError()
	}
	return &Token{Rest: remaining, Count: count, Cursor: parts[2]}, nil
}

// TokenError returns the error of a $skiptoken that this service did not return for the kind.
func TokenError() error {
	return optionError(fault.Invalid, optionToken, "is not one of these records; use @odata.nextLink unchanged")
}

// EarlierTokenError returns the error of a $skiptoken of an earlier version of the service.
func EarlierTokenError() error {
	return optionError(fault.Invalid, optionToken,
		"is of an earlier version of the service: begin again with the first page")
}
