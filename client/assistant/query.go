package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Limits of rows in a result.
const (
	maxLimit     = 200
	defaultLimit = 50
)

// filterInput is the part of the input that several tools share.
type filterInput struct {
	Kind   string
	Filter conditions
	Order  list
	Limit  *count
	Skip   count
}

// members returns the kind and the members of a query for it.
func (in filterInput) members(ctx context.Context, source Source) (*record.Kind, map[string]any, error) {
	kind, err := lookup(ctx, source, in.Kind)
	if err != nil {
		return nil, nil, err
	}
	limit := int64(defaultLimit)
	if in.Limit != nil {
		limit = int64(*in.Limit)
	}
	if limit < 1 || limit > maxLimit {
		return nil, nil, fmt.Errorf("limit must be from 1 to %d", maxLimit)
	}
	members := map[string]any{"Strict": true, "Take": limit}
	for _, name := range slices.Sorted(maps.Keys(in.Filter)) {
		if err := checkFilter(kind, name, in.Filter[name]); err != nil {
			return nil, nil, err
		}
		members[name] = in.Filter[name]
	}
	if len(in.Order) > 0 {
		members["OrderBy"] = []string(in.Order)
	}
	return kind, members, nil
}

// checkFilter returns an error unless a condition of the filter has the effect that its name
// suggests: a query has no condition for null and for an empty list, ignores the value of IsNull,
// and has further names of filters, such as >Total for at least.
func checkFilter(kind *record.Kind, name string, value json.RawMessage) error {
	member, ok := kind.Member(name)
	isPublished := ok && strings.EqualFold(name, kind.Fields[member.Field].Name+member.Operator.Suffix())
	if !isPublished {
		hint := record.DidYouMean(record.Suggest(name, kind.Members()))
		return fmt.Errorf("filter: %.100q is not a field with a suffix%s\n%s", name, hint, fieldsOf(kind))
	}
	field := kind.Fields[member.Field]
	if !member.Allowed {
		allowed := record.Texts(suffixes(field.Filter), func(suffix string) string { return field.Name + suffix })
		return fmt.Errorf("filter: %.100q is not a filter of %s, which is %s; filters of it: %s",
			name, field.Name, field.Type, strings.Join(allowed, ", "))
	}

	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	list, isList := v.([]any)
	isEmpty := isList && len(list) == 0
	isNullTest := member.Operator == record.IsNull || member.Operator == record.IsNotNull
	isIgnored := isNullTest && v != true
	if v == nil || isEmpty || isIgnored {
		return fmt.Errorf("filter: %.100q has no such value; for null use {%q:true}, for all others {%q:true}",
			name, field.Name+record.IsNull.Suffix(), field.Name+record.IsNotNull.Suffix())
	}
	return nil
}

// maxCursor is the maximum length of a cursor in a result, in bytes. A cursor contains the
// conditions of the query, which can be long.
const maxCursor = 4 << 10

// rows is the result of the tool query.
type rows struct {
	Kind     string            `json:"kind"`
	Rows     []json.RawMessage `json:"rows"`
	Next     string            `json:"next,omitempty"`
	NextSkip int64             `json:"nextSkip,omitempty"`
}

// query is the tool query. A page continues by cursor, unless the kind has no proven key. A
// page that is too large is read again with fewer rows, since the cursor is that of its end.
func query(ctx context.Context, source Source, in struct {
	filterInput
	Fields list
	Cursor string
}) (any, error) {
	kind, members, err := in.members(ctx, source)
	if err != nil {
		return nil, err
	}
	members["Include"] = "NoTotal"
	isFirst := in.Cursor == ""
	if len(in.Fields) > 0 || isFirst {
		members["Fields"] = cmp.Or(strings.Join(in.Fields, ","), textFields(kind))
	}
	members["Cursor"] = in.Cursor
	skip := int64(in.Skip)
	if skip > 0 && isFirst {
		continueBySkip(members, skip)
	}

	for {
		page, err := readPage(ctx, source, kind, members, skip)
		if err != nil {
			return nil, err
		}
		result := rows{Kind: kind.Name, Rows: page.Results, Next: page.Meta["Next"]}
		if isFirst && len(result.Next) > maxCursor {
			continueBySkip(members, skip)
			continue
		}
		if _, byCursor := members["Cursor"]; !byCursor {
			result.NextSkip = next(skip, page, members["Take"].(int64))
		}
		if fits(result) {
			return result, nil
		}
		if len(result.Rows) == 1 {
			return fitted(result, result.Rows[0])
		}
		members["Take"] = fitting(result)
	}
}

// continueBySkip changes the members of a query, so that the page continues by skip instead of by
// cursor.
func continueBySkip(members map[string]any, skip int64) {
	delete(members, "Cursor")
	members["Skip"] = skip
}

// readPage reads a page of a query. If the kind has no key for a cursor, it reads the page by skip,
// and if the page is too large for the source, with fewer rows. It changes the members to those of
// the page.
func readPage(
	ctx context.Context, source Source, kind *record.Kind, members map[string]any, skip int64,
) (*Page, error) {
	for {
		page, err := source.Query(ctx, kind, members)
		take := members["Take"].(int64)
		isFirst := members["Cursor"] == ""
		switch {
		case err == nil:
			return page, nil
		case isFirst && hasNoKey(err):
			continueBySkip(members, skip)
		case errors.Is(err, ErrTooLarge) && take > 1:
			members["Take"] = max(take/8, 1)
		default:
			return nil, explained(err, kind)
		}
	}
}

// textFields lists the fields of a kind that an assistant can read.
func textFields(kind *record.Kind) string {
	var names []string
	for _, f := range kind.Fields {
		if f.Type != record.Bytes {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ",")
}

// hasNoKey reports whether a query was refused because its kind has no key for a cursor.
func hasNoKey(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.ContainsFunc(e.Fields, func(f wire.FieldError) bool { return f.FieldName == "Cursor" })
}

// next returns the number of rows before the next page, 0 if there is none.
func next(skip int64, page *Page, take int64) int64 {
	n := int64(len(page.Results))
	isFull := n == take || page.Clamped
	if n == 0 || !isFull {
		return 0
	}
	return skip + n
}

// fitting returns how many of the rows fit into a result, at least 1.
func fitting(r rows) int64 {
	n := len(r.Rows)
	for n > 1 && !fits(r) {
		n--
		r.Rows = r.Rows[:n]
	}
	return int64(n)
}

// tooLarge returns the error of a row that does not fit. It names the longest fields.
func tooLarge(row json.RawMessage) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(row, &values); err != nil {
		return err
	}
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Compare(len(values[b]), len(values[a]))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d bytes)", name, len(values[name]))
	}
	longest := strings.Join(names[:min(len(names), 5)], ", ")
	return fmt.Errorf("fields: a row has %d bytes, at most %d are possible; request fewer fields. The longest: %s",
		len(row), maxResult, longest)
}

// groups is the result of the tool totals: Groups with by, else Totals.
type groups struct {
	Kind     string                     `json:"kind"`
	Totals   map[string]json.RawMessage `json:"totals,omitempty"`
	Groups   []json.RawMessage          `json:"groups,omitzero"`
	NextSkip int64                      `json:"nextSkip,omitempty"`
}

// totalsInput is the input of the tool totals.
type totalsInput struct {
	filterInput
	By, Sum, Min, Max, Avg list
}

// totals is the tool totals.
func totals(ctx context.Context, source Source, in totalsInput) (any, error) {
	kind, members, err := in.members(ctx, source)
	if err != nil {
		return nil, err
	}
	if len(in.By) > 1 {
		return nil, errors.New("by takes one field; for a second one, " +
			"repeat the call for each value of the first, as a condition in filter")
	}
	columns, err := in.columns(kind)
	if err != nil {
		return nil, err
	}
	members["Include"] = record.Texts(columns, func(c column) string { return c.total })
	if len(in.By) == 0 {
		return totalsOfAll(ctx, source, kind, members, columns)
	}

	skip := int64(in.Skip)
	members["GroupBy"] = in.By[0]
	members["Skip"] = skip
	page, err := source.Query(ctx, kind, members)
	if err != nil {
		return nil, explained(err, kind)
	}
	result := groups{
		Kind:     kind.Name,
		Groups:   page.Results,
		NextSkip: next(skip, page, members["Take"].(int64)),
	}
	for len(result.Groups) > 1 && !fits(result) {
		n := len(result.Groups) - 1
		result.Groups = result.Groups[:n]
		result.NextSkip = skip + int64(n)
	}
	if len(result.Groups) == 0 {
		result.Groups = []json.RawMessage{}
		return result, nil
	}
	return fitted(result, result.Groups[0])
}

// totalsOfAll returns the totals over all records that match.
func totalsOfAll(
	ctx context.Context, source Source, kind *record.Kind, members map[string]any, columns []column,
) (any, error) {
	members["Take"] = 0
	delete(members, "OrderBy")
	page, err := source.Query(ctx, kind, members)
	if err != nil {
		return nil, explained(err, kind)
	}
	result := groups{Kind: kind.Name, Totals: make(map[string]json.RawMessage)}
	for _, c := range columns {
		result.Totals[c.name] = c.value(page.Meta[c.total])
	}
	return fitted(result, result.Totals)
}

// fitted returns a result, or an error if it does not fit although it has only one row.
func fitted(result, row any) (any, error) {
	if fits(result) {
		return result, nil
	}
	text, err := json.Marshal(row)
	if err != nil {
		return nil, err
	}
	return nil, tooLarge(text)
}

// countAll is the function that counts rows.
const countAll = "COUNT(*)"

// column is the result of a function.
type column struct {
	total     string // the function with its field, such as SUM(InvoiceTotal)
	name      string // in the result, such as SumInvoiceTotal
	fieldType record.Type
}

// columns returns the count of rows and the results of the functions in the input.
func (in totalsInput) columns(kind *record.Kind) ([]column, error) {
	columns := []column{{total: countAll, name: "Count", fieldType: record.Long}}
	for _, f := range []struct {
		function string
		fields   []string
	}{
		{"SUM", in.Sum},
		{"MIN", in.Min},
		{"MAX", in.Max},
		{"AVG", in.Avg},
	} {
		for _, name := range f.fields {
			i, ok := kind.Column(name)
			if !ok {
				hint := record.DidYouMean(record.Suggest(name, kind.FieldNames()))
				return nil, fmt.Errorf("%s: %.100q is not a field%s\n%s",
					strings.ToLower(f.function), name, hint, fieldsOf(kind))
			}
			field := kind.Fields[i]
			columns = append(columns, column{
				total:     fmt.Sprintf("%s(%s)", f.function, field.Name),
				name:      record.GroupColumn(f.function, field.Name),
				fieldType: field.Type,
			})
		}
	}
	return columns, nil
}

// value returns a total as JSON. Numbers keep all digits.
func (c column) value(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("null")
	}
	if c.fieldType.Number() {
		return json.RawMessage(text)
	}
	return json.RawMessage(quoted(text))
}
