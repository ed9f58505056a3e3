package queries

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// view returns the navigation around the rows on the page of a query.
func view(x *edge.Context, plan *query.Plan) *encode.View {
	kind := plan.Kind
	operation := edge.OperationOf(x)
	v := &encode.View{
		Summary: kind.Summary,
		Path: []encode.Link{
			{Name: kind.Area, URL: x.Base + "/metadata#" + metadata.Anchor(kind.Area)},
			{Name: operation, URL: x.Base + "/metadata?op=" + operation},
			{Name: "Rows"},
		},
	}
	page, isOwn := ownPageOf(x, kind)
	hasTexts := isOwn || kind.Database == record.LogDB
	v.OneLine = hasTexts && plan.Group == nil
	if kind.Database == record.LogDB {
		v.Path[0] = encode.Link{Name: "Requests", URL: x.Base + "/Logs"}
	}
	if isOwn {
		v.Path[0] = encode.Link{Name: page.name, URL: x.Base + page.path}
	}
	if kind.Database == record.RecordsDB && plan.Group == nil {
		v.Feed = edge.ServiceURL(x) + FeedPath + "/" + kind.Name
		v.FeedFile = edge.LocalPath(&url.URL{Path: x.Base + FeedPath + "/" + kind.Name + FeedFile})
	}
	a := newAddress(x, x.Members)
	if !a.whole {
		v.Note = "This request was sent in a body that a link cannot repeat. " +
			"Send a new request to change the page, the filters or the format."
		return v
	}
	if followsCursor(plan) {
		v.Note = "This page follows a cursor, which has the conditions, order and fields of its query. " +
			"Start a new query to change them."
		return v
	}
	if x.Logged.Ignored != "" { // users do not see the header that programs read
		v.Note = "These parts of the request have no effect: " + x.Logged.Ignored + ". Check their names."
	}

	v.Take = plan.Take
	v.Limit = x.Options.Query.MaxTake
	v.Form.Action = a.path
	if plan.Take >= encode.AllRows {
		v.Take = query.NoTake
	}
	v.CountURL = a.with(encode.Pair{Name: query.Include, Value: "Total"})
	v.Page = a.page
	viewFilters(v, a, plan.Source())
	v.Sort = sortLinks(a, plan, x.Members)
	viewShape(v, a, plan)
	return v
}

// viewShape sets the forms that select columns and that group the rows.
func viewShape(v *encode.View, a address, plan *query.Plan) {
	kind := plan.Source()
	for _, m := range a.members {
		isShape := form.HasName(membersOfShape, m.Name)
		isPage := form.HasName([]string{query.Skip, query.Take, query.OrderBy, query.OrderByDesc}, m.Name)
		if !form.HasName([]string{query.Fields, query.Skip}, m.Name) {
			v.Columns.Hidden = append(v.Columns.Hidden, pairs(m)...)
		}
		if !isShape && !isPage {
			v.Groups.Hidden = append(v.Groups.Hidden, pairs(m)...)
		}
	}
	v.Groups.Measures = []encode.Choice{{Value: "COUNT(*)", Text: "the number of rows"}}
	for i, f := range kind.Fields {
		choice := encode.Choice{Value: f.Name, Text: f.Name}
		v.Groups.Fields = append(v.Groups.Fields, choice)
		if f.Type.Number() {
			sum := encode.Choice{Value: "COUNT(*),SUM(" + f.Name + ")", Text: "the sum of " + f.Name}
			v.Groups.Measures = append(v.Groups.Measures, sum)
		}
		choice.Selected = slices.Contains(plan.Columns, i)
		if plan.Group == nil {
			v.Columns.Fields = append(v.Columns.Fields, choice)
		}
	}
}

// pathRecords is the path of the page of a record, which pages have without its kind and key.
const pathRecords = edge.StartPath + "/Records/"

// pathRequests is the path of the page of a request in the log.
const pathRequests = edge.StartPath + "/Requests"

// KeyNames returns the fields that select a row: the declared key, or else the field that orders
// pages, which may select several rows.
func KeyNames(kind *record.Kind) []string {
	if len(kind.Key) > 0 {
		return kind.Key
	}
	return []string{kind.KeyName()}
}

// EventKey returns the key that the events of a record have, empty if a field of its key is null.
// columns is the record in JSON.
func EventKey(kind *record.Kind, columns map[string]json.RawMessage) string {
	var types []record.Type
	var values []json.RawMessage
	for _, name := range KeyNames(kind) {
		i, _ := kind.Column(name) // exists
		f := kind.Fields[i]
		value, ok := columns[f.Name]
		if !ok {
			return ""
		}
		types = append(types, f.Type)
		values = append(values, value)
	}
	return changes.KeyTextOfJSON(types, values)
}

// ownPage is the page about the rows of a kind of the service's own.
type ownPage struct {
	name  string
	path  string
	field string // its value follows the path in the address of the page of a row
}

// ownPages are those of kinds that have one. Only administrators may see them.
var ownPages = map[string]ownPage{
	MessageKind:       {"Messages", edge.StartPath + "/Messages", "MessageID"},
	"MessageResponse": {"Messages", edge.StartPath + "/Messages", "MessageID"},
	"Attempt":         {"Messages", edge.StartPath + "/Messages", "MessageID"},
	"Subscription":    {"Subscriptions", edge.StartPath + "/Subscriptions", "RecID"},
	"Subscriber":      {"Subscribers", edge.StartPath + "/Subscribers", "ItemNo"},
}

// ownPageOf returns the page of a kind of the service's own, false if there is none, or if the user
// may not see it.
func ownPageOf(x *edge.Context, kind *record.Kind) (ownPage, bool) {
	if kind.Database != record.AppDB || !x.Identity.Role.Includes(account.Admin) {
		return ownPage{}, false
	}
	page, ok := ownPages[kind.Name]
	return page, ok
}

// linkRows sets the links of rows to their pages. The rows must have the columns of their key.
func linkRows(x *edge.Context, plan *query.Plan, shape *encode.Shape) {
	if plan.Group != nil || plan.Distinct {
		return
	}
	kind := plan.Kind
	names := KeyNames(kind)
	page, isOwn := ownPageOf(x, kind)
	switch {
	case isOwn:
		names = []string{page.field}
		shape.RowURL = x.Base + page.path
		shape.KeyInPath = true
	case kind.Database == record.RecordsDB:
		shape.RowURL = x.Base + pathRecords + url.PathEscape(kind.Name)
	case kind.Database == record.LogDB:
		shape.RowURL = x.Base + pathRequests
	default:
		return
	}
	var keys []int
	for _, name := range names {
		field, ok := kind.Column(name)
		i := slices.Index(plan.Columns, field)
		if !ok || i < 0 {
			return
		}
		keys = append(keys, i)
	}
	shape.Keys = keys
}

// The addresses of records for Excel and Power BI, see package rest/feeds.
const (
	FeedPath = "/" + edge.ExactRoot
	FeedFile = ".pbids" // follows the name of a kind: a file with which Power BI connects to it
)

// followsCursor reports whether the rows of a plan continue a page.
func followsCursor(plan *query.Plan) bool { return plan.Place != nil && plan.Place.After != nil }

// nextPage returns the address of the page of a cursor, empty if a link cannot have it.
func nextPage(x *edge.Context, cursor string) string {
	a := newAddress(x, x.Members)
	if !a.whole || len(cursor) > maxCursor {
		return ""
	}
	return a.with(encode.Pair{Name: query.Cursor, Value: cursor}, encode.Pair{Name: query.Skip})
}

// page returns the address of the page after skip rows.
func (a address) page(skip, take int64) string {
	first := encode.Pair{Name: query.Skip}
	if skip > 0 {
		first.Value = strconv.FormatInt(skip, 10)
	}
	return a.with(first, encode.Pair{Name: query.Take, Value: strconv.FormatInt(take, 10)})
}

// viewFilters sets the filter form and the active conditions. The form shows one
// condition of each field; other members are hidden inputs.
func viewFilters(v *encode.View, a address, kind *record.Kind) {
	shown := make(map[int]query.Member) // by field
	operators := make(map[int]record.Operator)
	var active []string
	for _, m := range a.members {
		target, isFilter := kind.Member(m.Name)
		fits := isFilter && target.Operator.Arity() != record.None // the form has an input for a value
		if isFilter {
			field := kind.Fields[target.Field].Name
			condition := a.condition(field, encode.OperatorWords(target.Operator), m)
			if !fits {
				condition.Value = ""
			}
			active = append(active, m.Name)
			v.Conditions = append(v.Conditions, condition)
		} else if form.HasName(membersOfShape, m.Name) {
			active = append(active, m.Name)
			v.Conditions = append(v.Conditions, a.condition(m.Name, "=", m))
		}

		_, isTaken := shown[target.Field]
		if fits && !isTaken {
			shown[target.Field] = m
			operators[target.Field] = target.Operator
		} else if !query.SameName(m.Name, query.Skip) { // a new filter shows its first page
			v.Form.Hidden = append(v.Form.Hidden, pairs(m)...)
		}
	}
	if len(active) > 1 {
		v.ClearURL = a.without(append(active, query.Skip)...)
	}

	for i, f := range kind.Fields {
		if f.Filter != record.NoFilter {
			value := strings.Join(formTexts(shown[i]), ",")
			v.Form.Filters = append(v.Form.Filters, encode.NewFilter(f, operators[i], value))
		}
	}
}

// membersOfShape select the rows and columns in other ways than conditions.
var membersOfShape = []string{query.Fields, query.Include, query.GroupBy}

// condition describes a member that affects the rows, with a link that removes it.
func (a address) condition(name, words string, m query.Member) encode.Condition {
	return encode.Condition{
		Field:     name,
		Operator:  words,
		Value:     strings.Join(formTexts(m), ", "),
		RemoveURL: a.without(m.Name, query.Skip),
	}
}

// pairs returns the hidden inputs of a member.
func pairs(m query.Member) []encode.Pair {
	var inputs []encode.Pair
	for _, text := range formTexts(m) {
		inputs = append(inputs, encode.Pair{Name: m.Name, Value: text})
	}
	return inputs
}

// sortLinks returns a link for each column to sort by it, or to reverse the current
// order.
func sortLinks(a address, plan *query.Plan, members query.Members) []encode.SortLink {
	isOrdered := form.HasMember(members, query.OrderBy) || form.HasMember(members, query.OrderByDesc)
	links := make([]encode.SortLink, len(plan.Columns))
	for i, c := range plan.Columns {
		sortBy, cleared := query.OrderBy, query.OrderByDesc
		if isOrdered && len(plan.Order) > 0 && plan.Order[0].Field == c {
			links[i].Sorted = "descending"
			if !plan.Order[0].Desc {
				links[i].Sorted = "ascending"
				sortBy, cleared = query.OrderByDesc, query.OrderBy
			}
		}
		links[i].URL = a.with(
			encode.Pair{Name: query.Skip},
			encode.Pair{Name: cleared},
			encode.Pair{Name: sortBy, Value: plan.Kind.Fields[c].Name},
		)
	}
	return links
}

// exports sets the links to the rows in other formats: all that match, and those of the page alone.
// If a link cannot have the request, or if the page follows a cursor, there are none to all rows.
func exports(x *edge.Context, plan *query.Plan, shape *encode.Shape) {
	a := newAddress(x, x.Members)
	if !a.whole {
		return
	}
	a.path = edge.PathWithoutSuffix(x)
	_, hasTake := a.members.Get(query.Take)
	for _, f := range encode.Formats() {
		if f.Name == "html" {
			continue
		}
		format := encode.Pair{Name: query.Format, Value: f.Name}
		link := encode.Link{Name: strings.ToUpper(f.Name)}
		changes := countFirst(a, f, []encode.Pair{format}, plan.Take)
		if !hasTake && plan.Take != query.NoTake {
			take := encode.Pair{Name: query.Take, Value: strconv.FormatInt(plan.Take, 10)}
			changes = append([]encode.Pair{take}, changes...)
		}
		link.URL = a.with(changes...)
		shape.Links = append(shape.Links, link)
		if followsCursor(plan) {
			continue
		}
		changes = []encode.Pair{format, {Name: query.Take}, {Name: query.Skip}}
		link.URL = a.with(countFirst(a, f, changes, query.NoTake)...)
		if f.MaxRows > 0 {
			shape.MaxSheet = f.MaxRows
		}
		shape.AllLinks = append(shape.AllLinks, link)
	}
}

// countFirst adds the total to the changes of an address for take rows in a format with a limit.
// Without it the rows would not be counted first, and the response would be aborted at the limit.
func countFirst(a address, f encode.Format, changes []encode.Pair, take int64) []encode.Pair {
	fits := f.MaxRows == 0 || take != query.NoTake && take <= f.MaxRows
	_, hasInclude := a.members.Get(query.Include)
	if fits || hasInclude {
		return changes
	}
	return append(changes, encode.Pair{Name: query.Include, Value: "Total"})
}
