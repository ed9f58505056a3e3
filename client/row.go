package client

import (
	"bytes"
	"errors"
	"iter"
)

// Value is one value of a row as the service sent it: JSON. A null is nil.
// Numbers keep all their digits.
type Value []byte

// Null reports whether there is no value.
func (v Value) Null() bool { return v == nil }

// AppendText appends the value's text: of a string its characters, of anything
// else its JSON, of a null nothing.
func (v Value) AppendText(dst []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return append(dst, v...)
	}
	return appendUnquoted(dst, v[1:len(v)-1])
}

// String is the value's text.
func (v Value) String() string { return string(v.AppendText(nil)) }

// Row is one record. Its members are in the order of the wire, which is that
// of the record kind or of Query.Fields; nulls are usually left out.
//
// A Row that comes from Rows shares its memory with the next one: Clone it to
// keep it.
type Row struct {
	json    []byte
	members []member
}

type member struct {
	name  []byte // unescaped
	value Value
}

// ParseRow reads a JSON object. The row refers to text, which must not change.
func ParseRow(text []byte) (Row, error) {
	var r Row
	if !r.scan(text) {
		return Row{}, errNoObject
	}
	return r, nil
}

var errNoObject = errors.New("not a JSON object")

// JSON is the whole row as it was sent.
func (r Row) JSON() []byte { return r.json }

// All lists the members in order.
func (r Row) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range r.members {
			if !yield(string(m.name), m.value) {
				return
			}
		}
	}
}

// Value is the first member of that name, nil where there is none.
func (r Row) Value(name string) Value {
	for i := range r.members {
		if string(r.members[i].name) == name {
			return r.members[i].value
		}
	}
	return nil
}

// Values appends the values of the columns to dst. It is cheap where columns
// are in the order of the row.
func (r Row) Values(dst []Value, columns []string) []Value {
	next := 0
	for _, column := range columns {
		if next < len(r.members) && string(r.members[next].name) == column {
			dst = append(dst, r.members[next].value)
			next++
			continue
		}
		dst = append(dst, r.Value(column))
	}
	return dst
}

// Clone is a row of the same content with memory of its own.
func (r Row) Clone() Row {
	var c Row
	c.scan(bytes.Clone(r.json))
	return c
}

// Text is the text of the member of that name, empty where it is null.
func (r Row) Text(name string) string { return r.Value(name).String() }
