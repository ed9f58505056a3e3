package filter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Parts of conditions of subscriptions.
const (
	changedWord   = "changed"
	changedMember = "Changed"
	beforePrefix  = "Before."
	arrow         = "->"
)

var errPosted = errors.New("the event is posted: only events of changed records have values before the change")

// errChanged is the error for the member Changed, as in the JSON of a condition.
var errChanged = errors.New(`changed fields are written as "Status changed", or with their values as "Status: 1 -> 2"`)

// errOnlyWhen is the error for a comparison with a change in the condition of a query.
var errOnlyWhen = errors.New("only conditions of subscriptions, such as --when, compare changes: " +
	"a query finds records by their present values")

// comparesChange reports whether a text is a condition that only subscriptions have.
func comparesChange(text string) bool {
	name, _ := cutName(text)
	_, isChanged := cutChanged(text)
	_, isBefore := cutBefore(text)
	return isChanged || isBefore || strings.EqualFold(name, changedMember) || strings.Contains(text, arrow)
}

// WhereReader reads the conditions of subscriptions. Its Kind is nil for posted events.
type WhereReader struct{ Reader }

// NewWhereReader returns a WhereReader for the events that match a pattern.
func NewWhereReader(ctx context.Context, service *client.Client, pattern string) (WhereReader, error) {
	f := WhereReader{Reader{Now: time.Now()}}
	events, err := service.Events(ctx)
	if err != nil {
		return f, err
	}
	name := KindOf(events, pattern)
	if name == "" {
		return f, nil
	}
	kinds, err := service.Kinds(ctx)
	if err != nil {
		return f, err
	}
	kind, ok := kinds.Lookup(name)
	if !ok {
		return f, fmt.Errorf("the service does not list the record kind %s of %s", name, pattern)
	}
	f.Kind = kind
	return f, nil
}

// KindOf returns the name of the record kind of events that match a pattern; empty if they
// are posted.
func KindOf(events []wire.Event, pattern string) string {
	family, several := strings.CutSuffix(strings.ToLower(pattern), "*")
	for _, e := range events {
		name := strings.ToLower(e.Name)
		matches := name == family || several && strings.HasPrefix(name, family)
		if matches && e.Kind != "" {
			return e.Kind
		}
	}
	return ""
}

// whereMember is a member of a condition.
type whereMember struct {
	name  string
	value json.RawMessage
}

// Where reads the lines of a condition, such as "Status: 1 -> 2", "Name, Status changed",
// "CreditLimit > 1000" and "Before.Status in 1,2", as the member Where of a subscription.
func (f WhereReader) Where(lines []string) (json.RawMessage, error) {
	var members []whereMember
	for _, line := range lines {
		var err error
		members, err = f.appendLine(members, strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}

	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, quotedJSON(m.name)...)
		text = append(text, ':')
		text = append(text, m.value...)
	}
	return append(text, '}'), nil
}

// appendLine adds the members of a line.
func (f WhereReader) appendLine(members []whereMember, line string) ([]whereMember, error) {
	added, err := f.whereLine(line)
	if err != nil {
		return nil, err
	}
	for _, m := range added {
		hasName := func(existing whereMember) bool { return existing.name == m.name }
		if slices.ContainsFunc(members, hasName) {
			return nil, fmt.Errorf("duplicate condition on %s", m.name)
		}
		members = append(members, m)
	}
	return members, nil
}

// whereLine reads one line.
func (f WhereReader) whereLine(line string) ([]whereMember, error) {
	name, comparison := cutName(line)
	values, hasColon := strings.CutPrefix(comparison, ":")
	if hasColon && strings.Contains(values, arrow) {
		return f.transition(name, values)
	}
	if names, ok := cutChanged(line); ok {
		return f.changed(strings.Split(names, ","))
	}

	condition, isBefore := cutBefore(line)
	if f.Kind == nil {
		if isBefore {
			return nil, errPosted
		}
		return untyped(line)
	}
	if lacksColon(comparison) {
		return nil, fmt.Errorf("a change has a colon: %q", name+": "+comparison)
	}
	if strings.EqualFold(name, changedMember) {
		return nil, errChanged
	}
	filter, err := f.Parse(condition)
	if err != nil {
		return nil, err
	}
	member := whereMember{
		name:  filter.Member(),
		value: whereValue(f.Kind.Field(filter.Field).Type, filter),
	}
	if isBefore {
		member.name = beforePrefix + member.name
	}
	return []whereMember{member}, nil
}

// cutChanged returns the names of fields before the word changed at the end of a line.
func cutChanged(line string) (names string, ok bool) {
	end := len(line) - len(changedWord)
	if end <= 0 || line[end-1] != ' ' || !strings.EqualFold(line[end:], changedWord) {
		return "", false
	}
	return line[:end], true
}

// cutBefore returns the condition after Before. at the start of a line.
func cutBefore(line string) (condition string, isBefore bool) {
	n := len(beforePrefix)
	if len(line) <= n || !strings.EqualFold(line[:n], beforePrefix) {
		return line, false
	}
	return line[n:], true
}

// lacksColon reports whether the text after a name is a change such as 1 -> 2 without the colon
// before it. A dot means that the name is Before, or wrong.
func lacksColon(comparison string) bool {
	_, _, hasOperator := cutOperator(comparison)
	hasDot := strings.HasPrefix(comparison, ".")
	return !hasOperator && !hasDot && strings.Contains(comparison, arrow)
}

// transition reads the values after "Field:", such as 1 -> 2. Each may be missing, for any.
func (f WhereReader) transition(name, values string) ([]whereMember, error) {
	if f.Kind == nil {
		return nil, errPosted
	}
	before, after, _ := strings.Cut(values, arrow)
	members, err := f.transitionSide(beforePrefix+name, name, before)
	if err != nil {
		return nil, err
	}
	added, err := f.transitionSide(name, name, after)
	if err != nil {
		return nil, err
	}
	return append(members, added...), nil
}

// transitionSide returns the condition on the value of a field before or after a change. member
// names the value. Without a value the condition is that the field has changed.
func (f WhereReader) transitionSide(member, field, value string) ([]whereMember, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return f.changed([]string{field})
	}
	return f.whereLine(member + "=" + value)
}

// changed returns the condition that one of several fields has changed.
func (f WhereReader) changed(names []string) ([]whereMember, error) {
	if f.Kind == nil {
		return nil, errPosted
	}
	var fields []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		index, ok := f.Kind.Column(name)
		if !ok {
			hint := record.DidYouMean(record.Suggest(name, f.Kind.FieldNames()))
			return nil, fmt.Errorf("%s has no field %s%s", f.Kind.Name, name, hint)
		}
		fields = append(fields, f.Kind.Fields[index].Name)
	}
	value, err := json.Marshal(fields)
	return []whereMember{{name: changedMember, value: value}}, err
}

// untyped reads a condition on a posted event. Numbers, true and false have their types in JSON
// unless they are quoted.
func untyped(line string) ([]whereMember, error) {
	name, comparison := cutName(line)
	operator, value, ok := cutOperator(comparison)
	if name == "" || !ok {
		return nil, errors.New("must be a member, an operator such as = and a value")
	}
	values, err := operands(operator, value)
	if err != nil {
		return nil, err
	}

	valueType := record.Decimal
	if strings.Contains(value, `"`) {
		valueType = record.Text
	}
	filter := client.Filter{Field: name, Operator: operator, Values: values}
	return []whereMember{{name: filter.Member(), value: whereValue(valueType, filter)}}, nil
}

// whereValue returns the JSON of a filter's values, which is an array if the operator can have
// several.
func whereValue(t record.Type, filter client.Filter) json.RawMessage {
	arity := filter.Operator.Arity()
	if arity == record.None {
		return json.RawMessage("true")
	}
	hasLiterals := t.Number() || t == record.Bool
	var values []json.RawMessage
	for _, text := range filter.Values {
		if hasLiterals && isLiteral(text) {
			values = append(values, json.RawMessage(text))
		} else {
			values = append(values, quotedJSON(text))
		}
	}
	if arity == record.One {
		return values[0]
	}
	list, _ := json.Marshal(values) // all are valid
	return list
}

// isLiteral reports whether a text is a number, true or false in JSON.
func isLiteral(text string) bool {
	return json.Valid([]byte(text)) && !strings.ContainsAny(text[:1], `"[{n`)
}

func quotedJSON(text string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // never fails
	return bytes.TrimSpace(b.Bytes())
}
