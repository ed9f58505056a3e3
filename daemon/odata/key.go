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
func ParseKey(kind *record.Kind, key []int, clock *Clock, text string) (where []query.Condition, err error) {
	l, err := newLexer("the key", text)
	if err != nil {
		return nil, err
	}
	p := &parser{lexer: l, kind: kind, clock: clock}
	given := make([]bool, len(key))
	for more := true; more && err == nil; {
		at := 0
		if p.token.kind == identifier && !p.is("true") && !p.is("false") && !p.is("null") {
			field, known := kind.Column(p.token.text)
			if at = slices.Index(key, field); !known || at < 0 || given[at] || kind.Fields[field].Name != p.token.text {
				return nil, p.wrongKey(key)
			}
			if err = p.next(); err == nil {
				err = p.expect("=")
			}
		} else if len(key) != 1 || given[0] {
			return nil, p.wrongKey(key)
		}
		if err != nil {
			return nil, err
		}
		if literal := p.token; literal.kind == end || literal.kind == sign || p.is("null") {
			return nil, p.wrongKey(key)
		} else if c, wrong := p.literal(key[at], record.Equal, literal); wrong != nil {
			return nil, wrong
		} else {
			where, given[at] = append(where, c), true
		}
		if err = p.next(); err == nil {
			more, err = p.skip(",")
		}
	}
	if err == nil && (p.token.kind != end || slices.Contains(given, false)) {
		err = p.wrongKey(key)
	}
	return where, err
}

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
