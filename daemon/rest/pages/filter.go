package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// Members of addresses of pages that are no filters.
const (
	memberNote   = "Note"   // the result of a form, see noteOf
	memberTotal  = "Count"  // the page shows how many match
	memberBefore = "Before" // the page shows messages with lower numbers
)

// noFilters are members of an address that operations must not get.
var noFilters = []string{
	memberNote, memberTotal, memberBefore, edge.MemberRefresh, query.Format, query.Callback, query.Fields, query.Include,
	query.Take, query.Skip, query.GroupBy, query.BOM, query.JSConfig, query.Cursor, query.OrderBy,
	query.OrderByDesc, edge.ParamKey,
}

// filtersOf returns the filters in the address of a page. Operations check them.
func filtersOf(x *edge.Context) url.Values {
	u := edge.WithoutSecrets(x.Request.URL)
	return onlyFilters(u.Query())
}

// onlyFilters returns the values that are filters and not empty.
func onlyFilters(values url.Values) url.Values {
	filters := make(url.Values)
	for name, texts := range values {
		isFilter := !slices.ContainsFunc(noFilters, func(n string) bool { return strings.EqualFold(n, name) })
		texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.TrimSpace(text) == "" })
		if isFilter && len(texts) > 0 {
			filters[name] = texts
		}
	}
	return filters
}

// with returns the address of a page with other filters. Changes are pairs of name and value; an
// empty value removes a filter.
func with(path string, filters url.Values, changes ...string) string {
	changed := maps.Clone(filters)
	for i := 0; i+1 < len(changes); i += 2 {
		for name := range changed {
			if strings.EqualFold(name, changes[i]) {
				delete(changed, name)
			}
		}
		if changes[i+1] != "" {
			changed.Set(changes[i], changes[i+1])
		}
	}
	if len(changed) == 0 {
		return path
	}
	return path + "?" + changed.Encode()
}

// conditionsOf describes filters, each with a link that removes it.
func conditionsOf(
	kind *record.Kind, path string, filters url.Values, words func(field, text string) string,
) []encode.Condition {
	var conditions []encode.Condition
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		condition := encode.Condition{
			Field:     name,
			Operator:  "=",
			Value:     strings.Join(filters[name], ", "),
			RemoveURL: with(path, filters, name, ""),
		}
		switch {
		case strings.EqualFold(name, queries.MemberSince):
			condition.Field, condition.Operator = "Added", "since"
			condition.Value = timeWords(condition.Value)
		case strings.EqualFold(name, queries.MemberUntil):
			condition.Field, condition.Operator = "Added", "before"
			condition.Value = timeWords(condition.Value)
		default:
			target, ok := kind.Member(name)
			if !ok {
				break
			}
			condition.Field = kind.Fields[target.Field].Name
			condition.Operator = encode.OperatorWords(target.Operator)
			condition.Value = words(condition.Field, condition.Value)
		}
		conditions = append(conditions, condition)
	}
	return conditions
}

// timeWords formats a time for display. It returns a text in another form unchanged.
func timeWords(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return utc(wire.Timestamp(at))
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
