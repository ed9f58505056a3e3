package odata

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// ParseKey reads the key between the parentheses of a path: a value, or the names and values
// of all fields of the key.
func ParseKey(kind *record.Kind, key []int, clock *Clock, text string) ([]query.Condition, error) {
	l, err := newLexer("the key", text)
	if err != nil {
		return nil, err
	}
	p := &parser{lexer: l, kind: kind, clock: clock}
	var where []query.Condition
	hasValue := make([]bool, len(key))
	hasNext := true
	for hasNext {
		i, err := p.keyField(key, hasValue)
		if err != nil {
			return nil, err
		}
		literal := p.token
		if literal.kind == end || literal.kind == sign || p.is("null") {
			return nil, p.wrongKey(key)
		}
		c, err := p.literal(key[i], record.Equal, literal)
		if err != nil {
			return nil, err
		}
		where = append(where, c)
		hasValue[i] = true

		if err := p.next(); err != nil {
			return nil, err
		}
		hasNext, err = p.skip(",")
		if err != nil {
			return nil, err
		}
	}
	if p.token.kind != end || slices.Contains(hasValue, false) {
		return nil, p.wrongKey(key)
	}
	return where, nil
}

// keyField reads the name of a field of the key and the = after it, and returns the field's index
// in the key. A key of one field may have its value only.
func (p *parser) keyField(key []int, hasValue []bool) (int, error) {
	isConstant := p.is("true") || p.is("false") || p.is("null")
	if p.token.kind != identifier || isConstant {
		if len(key) != 1 || hasValue[0] {
			return 0, p.wrongKey(key)
		}
		return 0, nil
	}
	field, ok := p.kind.Column(p.token.text)
	if !ok || p.kind.Fields[field].Name != p.token.text {
		return 0, p.wrongKey(key)
	}
	i := slices.Index(key, field)
	if i < 0 || hasValue[i] {
		return 0, p.wrongKey(key)
	}
	if err := p.next(); err != nil {
		return 0, err
	}
	return i, p.expect("=")
}

// wrongKey returns the error for a key without the fields of the kind's key.
func (p *parser) wrongKey(key []int) error {
	form := ""
	for i, field := range key {
		if i > 0 {
			form += ","
		}
		form += p.kind.Fields[field].Name + "=value"
	}
	return optionError(fault.Invalid, "the key", "must have the form (%s)", form)
}

func valueOf(text string) wire.Value { return wire.Value{Text: text} }
