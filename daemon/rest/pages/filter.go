package pages

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// Members of addresses of pages that are no filters.
const (
	memberNote    = "Note"   // the result of a form, see noteIn
	memberTotal   = "Count"  // the page shows how many match
	memberBefore  = "Before" // the page shows messages with lower numbers
	memberVersion = "v"      // of ServiceStack clients, without effect
)

// skipIn returns the number of rows before those of a page, 0 if the address has no valid number.
func skipIn(x *edge.Context) int {
	skip, err := strconv.Atoi(x.URLMembers.Text(query.Skip))
	if err != nil {
		return 0
	}
	return max(0, skip)
}

// pageMembers are members of every page. Those of queries change how a response is written, which has
// no effect on pages.
var pageMembers = []string{
	memberNote, edge.MemberRefresh, edge.ParamKey, query.Format, query.Callback, query.Nulls, query.BOM,
	query.Strict, query.Meta, memberVersion, query.JSConfig,
}

// filterSet has the filters that a page accepts: those of the operation that it calls. A page must
// not leave one out: it would show other rows than the user expects, and offer actions on them.
type filterSet struct {
	kind    *record.Kind // nil for none
	others  []string     // filters that are no fields of kind
	members []string     // members of the page that are no filters
	hidden  string       // a field that is no filter of the page
}

// messageFilters returns the filters of lists of messages.
func messageFilters(members ...string) filterSet {
	return filterSet{
		kind:    messageKind(),
		others:  []string{queries.MemberSince, queries.MemberUntil},
		members: members,
	}
}

// listFilters returns the filters of the pages with lists of messages, and of the actions on them.
func listFilters(members ...string) filterSet {
	set := messageFilters(members...)
	set.others = append(set.others, memberPeriod)
	return set
}

// in returns the filters in the address of a page.
func (s filterSet) in(x *edge.Context) (url.Values, error) {
	sent := make(url.Values)
	for _, m := range x.URLMembers {
		if m.Other {
			message := "must be a value or a list of values"
			return nil, invalid([]fault.Field{{Name: edge.ShownName(m.Name), Message: message}})
		}
		sent[m.Name] = m.Texts
	}
	return s.read(sent)
}

// read returns the filters among members, by the names that the API describes. Those without a value
// are not given.
func (s filterSet) read(sent url.Values) (url.Values, error) {
	filters := make(url.Values)
	var wrong []fault.Field
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if hasName(s.members, name) || hasName(pageMembers, name) {
			continue
		}
		filter, needsValue := s.filter(name)
		if filter == "" {
			wrong = append(wrong, fault.Field{Name: edge.ShownName(name), Message: s.unknown(name)})
			continue
		}
		texts := sent[name]
		hasNone := !slices.ContainsFunc(texts, func(text string) bool { return text != "" })
		if hasNone && needsValue {
			continue
		}
		if hasNone {
			texts = []string{"true"}
		}
		for _, text := range texts {
			if isTime(filter) {
				text = withoutUTC(text)
			}
			filters[filter] = append(filters[filter], text)
		}
	}
	if filters.Has(memberPeriod) { // which replaces both bounds
		filters = without(filters, queries.MemberSince, queries.MemberUntil)
	}
	return filters, invalid(wrong)
}

// isTime reports whether a filter is one of the bounds of the time when messages were added.
func isTime(filter string) bool {
	return filter == queries.MemberSince || filter == queries.MemberUntil
}

// shownLayouts are the forms of times on pages, and the example of forms, without their UTC.
var shownLayouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// withoutUTC returns a time without the UTC at its end. Pages show times with it, and users copy them;
// the operations refuse it, and read times without a zone as UTC. Other texts are unchanged.
func withoutUTC(text string) string {
	written, isUTC := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(text)), "UTC")
	if !isUTC {
		return text
	}
	written = strings.TrimRight(written, " ,")
	for _, layout := range shownLayouts {
		if _, err := time.Parse(layout, written); err == nil {
			return written
		}
	}
	return text
}

// filter returns the name of a filter as the API describes it, empty if there is none.
func (s filterSet) filter(name string) (filter string, needsValue bool) {
	for _, described := range s.others {
		if query.SameName(described, name) {
			return described, true
		}
	}
	if s.kind == nil {
		return "", false
	}
	target, ok := s.kind.Member(name)
	if !ok || s.kind.Fields[target.Field].Name == s.hidden {
		return "", false
	}
	return s.kind.Fields[target.Field].Name + target.Operator.Suffix(), target.Operator.Arity() != record.None
}

// unknown returns why a member of an address is no filter.
func (s filterSet) unknown(name string) string {
	filters := slices.Clone(s.others)
	if s.kind != nil {
		for _, member := range s.kind.Members() {
			if filter, _ := s.filter(member); filter != "" {
				filters = append(filters, member)
			}
		}
	}
	text := "is no filter of this page"
	if near := record.Suggest(strings.TrimSpace(name), filters); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// hasName reports whether a list has the name, ignoring letter case.
func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return query.SameName(n, name) })
}

// invalid returns the error of members that are wrong, nil for none.
func invalid(wrong []fault.Field) error {
	if len(wrong) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
}

// strictly returns filters for an operation that fails if it would ignore one of them.
func strictly(filters url.Values) url.Values {
	selection := without(filters)
	selection.Set(query.Strict, "true")
	return selection
}

// without returns filters except some.
func without(filters url.Values, names ...string) url.Values {
	kept := make(url.Values)
	for name, texts := range filters {
		if !hasName(names, name) {
			kept[name] = texts
		}
	}
	return kept
}

// with returns the address of a page with filters.
func with(path string, filters url.Values) string {
	if len(filters) == 0 {
		return path
	}
	return path + "?" + filters.Encode()
}

// withFilter returns the address of a page with filters of which one is replaced or added. An empty
// value removes it.
func withFilter(path string, filters url.Values, name, value string) string {
	changed := without(filters, name)
	if value != "" {
		changed.Set(name, value)
	}
	return with(path, changed)
}

// refreshed returns the address of a page that is loaded again every 10 seconds, to see deliveries. It has
// no note, which is soon out of date.
func refreshed(path string, filters url.Values) string {
	return withFilter(path, filters, edge.MemberRefresh, "10")
}

// conditionsOf describes filters, each with a link that removes it.
func conditionsOf(
	kind *record.Kind, path string, filters url.Values, words func(field, text string) string,
) []encode.Condition {
	var conditions []encode.Condition
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		condition := filterCondition(kind, name, filters[name], words)
		condition.RemoveURL = with(path, without(filters, name))
		conditions = append(conditions, condition)
	}
	return conditions
}

// filterCondition describes a filter with its texts.
func filterCondition(
	kind *record.Kind, name string, texts []string, words func(field, text string) string,
) encode.Condition {
	value := strings.Join(texts, ", ")
	switch name {
	case queries.MemberSince:
		return encode.Condition{Field: "Added", Operator: "since", Value: timeWords(value)}
	case queries.MemberUntil:
		return encode.Condition{Field: "Added", Operator: "before", Value: timeWords(value)}
	case memberPeriod:
		return encode.Condition{Field: "Added", Operator: "in the", Value: periodWords(value)}
	}
	target, ok := kind.Member(name)
	if !ok {
		return encode.Condition{Field: name, Operator: "=", Value: value}
	}
	field := kind.Fields[target.Field].Name
	inWords := func(text string) string { return words(field, text) }
	return encode.Condition{
		Field:    field,
		Operator: encode.OperatorWords(target.Operator),
		Value:    operandWords(target.Operator, texts, inWords),
	}
}

// operandWords describes the operands of an operator one by one.
func operandWords(operator record.Operator, texts []string, words func(string) string) string {
	switch operator.Arity() {
	case record.None:
		return ""
	case record.Two, record.Many:
		texts = itemsOf(texts)
	}
	var described []string
	for _, text := range texts {
		described = append(described, words(text))
	}
	return strings.Join(described, ", ")
}

// itemsOf returns the items of lists. A list that cannot be read, which the operation refuses, is one
// item.
func itemsOf(lists []string) []string {
	var items []string
	for _, text := range lists {
		list, err := query.SplitList(text)
		if err != nil {
			list = []string{text}
		}
		items = append(items, list...)
	}
	return items
}

// timeWords formats a time for display. It returns a text that is no time unchanged.
func timeWords(text string) string {
	t, ok := parseTime(text)
	if !ok {
		return text
	}
	return utc(t)
}

// pairsOf returns values as hidden inputs of a form, in the order of their names.
func pairsOf(values url.Values) []encode.Pair {
	var pairs []encode.Pair
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, text := range values[name] {
			pairs = append(pairs, encode.Pair{Name: name, Value: text})
		}
	}
	return pairs
}
