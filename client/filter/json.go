package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// AddJSON adds the members of a JSON object, named as in requests, to a query. Members that are
// not valid filters of the kind are errors.
func (f Reader) AddJSON(q *client.Query, text string) error {
	members, err := decodeMembers(text)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		filter, err := f.member(name, members[name])
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

// AddUncheckedJSON is like AddJSON, but members that are not valid filters of the kind are sent
// unchanged. The query is not strict then.
func (f Reader) AddUncheckedJSON(q *client.Query, text string) error {
	members, err := decodeMembers(text)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		filter, err := f.member(name, members[name])
		if err != nil {
			addUnchecked(q, name, members[name])
			continue
		}
		q.Where, err = Append(q.Where, filter)
		if err != nil {
			return err
		}
	}
	return nil
}

// ParseJSON is AddJSON or AddUncheckedJSON.
//
// Deprecated: use AddJSON or AddUncheckedJSON.
func (f Reader) ParseJSON(q *client.Query, text string, unchecked bool) error {
	if unchecked {
		return f.AddUncheckedJSON(q, text)
	}
	return f.AddJSON(q, text)
}

// decodeMembers returns the members of a JSON object.
func decodeMembers(text string) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var members map[string]json.RawMessage
	if err := decoder.Decode(&members); err != nil || members == nil || decoder.More() {
		return nil, errors.New(`must be an object such as {"InvoiceTotalGreaterThan":1000}`)
	}
	return members, nil
}

// addUnchecked adds a member that is sent unchanged, and makes the service ignore it if it is
// unknown.
func addUnchecked(q *client.Query, name string, value json.RawMessage) {
	if q.Unchecked == nil {
		q.Unchecked = make(map[string]json.RawMessage)
	}
	q.Unchecked[name] = value
	q.Strict = false
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
			err = checkNullTest(field.Name, operator, text)
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

// base64Values returns the numbers of bytes in base64.
func base64Values(value json.RawMessage) ([]string, error) {
	var list []byte
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, errors.New("must be base64 text, or an array of numbers")
	}
	return record.Texts(list, func(b byte) string { return fmt.Sprint(b) }), nil
}
