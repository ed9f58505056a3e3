// Package row defines how rows are passed from a store to an encoder: one at a time,
// without copying if the driver allows it.
package row

import (
	"encoding/base64"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Cell is one value. The record.Type of its column determines which field contains the
// value:
//
//	Int Short Byte Long Bool    Int (a bool is 0 or 1)
//	TimeSpan                    Int, in units of 100 ns
//	Bytes                       Data, the bytes themselves
//	all other types             Data, the value's text as in JSON, unquoted:
//	                            digits of a decimal, date with seven fractional digits (even if
//	                            it is an Epoch), hyphenated GUID
//
// A column of an embedded file may also hold values that cannot be read as its type. Such a
// cell is a Misfit: its Data is the value's own text, which encoders write as a text.
//
// Data is owned by the source and valid until the next call of Next or Close.
type Cell struct {
	Null   bool
	Misfit bool
	Class  Class
	Int    int64
	Data   []byte
}

// Class is the storage class of a value in an embedded file, if it differs from the class of its
// type. A key or a cursor needs it, since SQLite sorts the values of a column by their class first.
type Class uint8

// The classes.
const (
	ClassOfType Class = iota
	Integer           // Int
	Real              // Data, its digits
	Text              // Data, including a bool; an empty value is null unless the type is a text
	Blob              // Data, in hexadecimal digits
)

// Source is an iterator over rows. Next returns the cells of the next row in the order of
// the plan's columns, nil after the last row. Close stops the statement and releases its
// connection; it may be called twice.
type Source interface {
	Next() ([]Cell, error)
	Close() error
}

// Text returns the value as in JSON, without quotes.
func (c Cell) Text(t record.Type) string {
	switch {
	case c.Null:
		return ""
	case c.Misfit:
		return string(c.Data)
	case t == record.Bool:
		return strconv.FormatBool(c.Int != 0)
	case t.Integer():
		return strconv.FormatInt(c.Int, 10)
	case t == record.TimeSpan:
		return string(wire.AppendTimeSpan(nil, c.Int))
	case t == record.Epoch:
		if text, ok := wire.AppendEpoch(nil, c.Data); ok {
			return string(text)
		}
	case t == record.Bytes:
		return base64.StdEncoding.EncodeToString(c.Data)
	}
	return string(c.Data)
}
