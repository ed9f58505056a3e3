package client

import (
	"bytes"
	"errors"
	"iter"
)

// Value is the JSON of a value as the service sent it; nil for a null. Numbers keep
// all digits.
type Value []byte

// Null reports whether the value is null.
func (v Value) Null() bool { return v == nil }

// AppendText appends the characters of a string, the JSON of any other value, and
// nothing for a null.
func (v Value) AppendText(dst []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return append(dst, v...)
	}
	return appendUnquoted(dst, v[1:len(v)-1])
}

// String returns the text of AppendText.
func (v Value) String() string { return string(v.AppendText(nil)) }

// Row is a record. Its members have the order of the record kind or of Query.Fields;
// nulls are usually left out.
//
// A Row of Rows is only valid until the next one: use Clone to keep it.
type Row struct {
	json    []byte
	members []member
}

type member struct {
	name  []byte // unescaped
	value Value
}

// ParseRow parses a JSON object. The row refers to text, which must not be modified.
func ParseRow(text []byte) (Row, error) {
	var r Row
	if !r.scan(text) {
		return Row{}, errNoObject
	}
	return r, nil
}

var errNoObject = errors.New("not a JSON object")

// JSON returns the row as it was sent.
func (r Row) JSON() []byte { return r.json }

// All iterates over the members in order.
func (r Row) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range r.members {
			if !yield(string(m.name), m.value) {
				return
			}
		}
	}
}

// Value returns the first member with a name; nil if there is none.
func (r Row) Value(name string) Value {
	for i := range r.members {
		if string(r.members[i].name) == name {
			return r.members[i].value
		}
	}
	return nil
}

// Values appends the values of columns to dst. It is fastest if columns have the order
// of the row.
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

// Clone returns a deep copy.
func (r Row) Clone() Row {
	var c Row
	c.scan(bytes.Clone(r.json))
	return c
}

// Text returns the text of a member; empty if it is null or missing.
func (r Row) Text(name string) string { return r.Value(name).String() }
