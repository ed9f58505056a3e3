package filter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
		added, err := f.whereLine(strings.TrimSpace(line))
		for _, m := range added {
			if slices.ContainsFunc(members, func(other whereMember) bool { return other.name == m.name }) {
				err = fmt.Errorf("duplicate condition on %s", m.name)
			}
			members = append(members, m)
		}
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

// whereLine reads one line.
func (f WhereReader) whereLine(line string) ([]whereMember, error) {
	name, comparison := cutName(line)
	if values, ok := strings.CutPrefix(comparison, ":"); ok && strings.Contains(values, arrow) {
		return f.transition(name, values)
	}
	if n := len(line) - len(changedWord); n > 0 && line[n-1] == ' ' && strings.EqualFold(line[n:], changedWord) {
		m, err := f.changed(strings.Split(line[:n], ","))
		return []whereMember{m}, err
	}
	_, _, operated := cutOperator(comparison)
	lacksColon := !operated && strings.Contains(comparison, arrow) && comparison[0] != '.'
	if f.Kind != nil && lacksColon {
		return nil, fmt.Errorf("a change has a colon: %q", name+": "+comparison)
	}

	prefix := ""
	if len(line) > len(beforePrefix) && strings.EqualFold(line[:len(beforePrefix)], beforePrefix) {
		prefix = beforePrefix
		line = line[len(beforePrefix):]
	}
	if f.Kind == nil {
		if prefix != "" {
			return nil, errPosted
		}
		m, err := untyped(line)
		return []whereMember{m}, err
	}
	filter, err := f.Parse(line)
	if err != nil {
		return nil, err
	}
	value := whereValue(f.Kind.Field(filter.Field).Type, filter)
	return []whereMember{{name: prefix + filter.Member(), value: value}}, nil
}

// transition reads the values after "Field:", such as 1 -> 2. Each may be missing, for any.
func (f WhereReader) transition(name, values string) ([]whereMember, error) {
	if f.Kind == nil {
		return nil, errPosted
	}
	before, after, _ := strings.Cut(values, arrow)
	var members []whereMember
	for _, part := range [...]struct{ prefix, value string }{{beforePrefix, before}, {"", after}} {
		value := strings.TrimSpace(part.value)
		if value == "" {
			m, err := f.changed([]string{name})
			if err != nil {
				return nil, err
			}
			members = append(members, m)
			continue
		}
		added, err := f.whereLine(part.prefix + name + "=" + value)
		if err != nil {
			return nil, err
		}
		members = append(members, added...)
	}
	return members, nil
}

// changed returns the condition that one of several fields has changed.
func (f WhereReader) changed(names []string) (whereMember, error) {
	if f.Kind == nil {
		return whereMember{}, errPosted
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		index, ok := f.Kind.Column(name)
		if !ok {
			hint := record.DidYouMean(record.Suggest(name, f.Kind.FieldNames()))
			return whereMember{}, fmt.Errorf("%s has no field %s%s", f.Kind.Name, name, hint)
		}
		names[i] = f.Kind.Fields[index].Name
	}
	value, err := json.Marshal(names)
	return whereMember{changedMember, value}, err
}

// untyped reads a condition on a posted event. Numbers, true and false have their types in JSON
// unless they are quoted.
func untyped(line string) (whereMember, error) {
	name, comparison := cutName(line)
	operator, value, ok := cutOperator(comparison)
	if name == "" || !ok {
		return whereMember{}, errors.New("must be a member, an operator such as = and a value")
	}
	values, err := operands(operator, value)
	if err != nil {
		return whereMember{}, err
	}

	valueType := record.Decimal
	if strings.Contains(value, `"`) {
		valueType = record.Text
	}
	filter := client.Filter{Field: name, Operator: operator, Values: values}
	return whereMember{name: filter.Member(), value: whereValue(valueType, filter)}, nil
}

// whereValue returns the JSON of a filter's values.
func whereValue(t record.Type, filter client.Filter) json.RawMessage {
	hasLiterals := t.Number() || t == record.Bool
	var values []json.RawMessage
	for _, text := range filter.Values {
		if hasLiterals && json.Valid([]byte(text)) && !strings.ContainsAny(text[:1], `"[{n`) {
			values = append(values, json.RawMessage(text))
		} else {
			values = append(values, quotedJSON(text))
		}
	}
	if arity := filter.Operator.Arity(); arity == record.One || arity == record.None {
		return values[0]
	}
	list, _ := json.Marshal(values) // all are valid
	return list
}

func quotedJSON(text string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // never fails
	return bytes.TrimSpace(b.Bytes())
}

// ParseJSON adds the members of a JSON object, named as in requests, to a query. Members
// unknown to the registry are errors unless unchecked; the query is then not strict.
func (f Reader) ParseJSON(q *client.Query, text string, unchecked bool) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var members map[string]json.RawMessage
	if err := decoder.Decode(&members); err != nil || members == nil || decoder.More() {
		return errors.New(`must be an object such as {"InvoiceTotalGreaterThan":1000}`)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		filter, err := f.member(name, members[name])
		if err != nil && unchecked {
			if q.Unchecked == nil {
				q.Unchecked = make(map[string]json.RawMessage)
			}
			q.Unchecked[name] = members[name]
			q.Strict = false
			continue
		}
		if err != nil {
			return err
		}
		q.Where, err = Append(q.Where, filter)
		if err != nil {
			return err
		}
	}
	return nil
}

// member parses a member as a filter.
func (f Reader) member(name string, value json.RawMessage) (client.Filter, error) {
	member, ok := f.Kind.Member(name)
	if !ok {
		near := record.Suggest(name, f.Kind.Members())
		return client.Filter{}, fmt.Errorf("%s has no member %s%s (--unchecked sends it anyway)",
			f.Kind.Name, name, record.DidYouMean(near))
	}
	field := f.Kind.Fields[member.Field]
	if !member.Allowed {
		return client.Filter{}, fmt.Errorf("%s is %s: use %s, not %s",
			field.Name, familyName(field), Allowed(field.Filter), Spelling(member.Operator))
	}
	values, err := jsonValues(field, member.Operator, value)
	if err != nil {
		return client.Filter{}, fmt.Errorf("%s: %w", name, err)
	}
	if member.Operator.Arity() == record.Two && len(values) != 2 {
		return client.Filter{}, fmt.Errorf("%s needs an array of two values", name)
	}
	return f.checked(field, member.Operator, values)
}

// jsonValues returns the operands of a JSON value: one, or an array. Bytes are an array
// of numbers or base64.
func jsonValues(field record.Field, operator record.Operator, value json.RawMessage) ([]string, error) {
	switch operator.Arity() {
	case record.None:
		text, err := jsonScalar(value)
		if err == nil {
			err = refuseFalse(field.Name, operator, text)
		}
		return nil, err
	case record.One:
		text, err := jsonScalar(value)
		return []string{text}, err
	}
	if field.Type == record.Byte && bytes.HasPrefix(bytes.TrimSpace(value), []byte(`"`)) {
		return base64Values(value)
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || len(items) == 0 {
		return nil, errors.New("must be an array of values")
	}
	var values []string
	for _, item := range items {
		text, err := jsonScalar(item)
		if err != nil {
			return nil, err
		}
		values = append(values, text)
	}
	return values, nil
}

// jsonScalar returns the text of a JSON value. Numbers keep their digits.
func jsonScalar(value json.RawMessage) (string, error) {
	trimmed := bytes.TrimSpace(value)
	switch trimmed[0] {
	case '{', '[', 'n':
		return "", errors.New("must be a text, a number or a bool")
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		return text, err
	default:
		return string(trimmed), nil
	}
}

func base64Values(value json.RawMessage) ([]string, error) {
	var list []byte
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, errors.New("must be base64 text, or an array of numbers")
	}
	return record.Texts(list, func(b byte) string { return fmt.Sprint(b) }), nil
}
