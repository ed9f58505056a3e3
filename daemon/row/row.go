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
//	                            digits of a decimal, date with seven fractional digits (also of an
//	                            Epoch), hyphenated GUID
//
// Data is owned by the source and valid until the next call of Next or Close.
type Cell struct {
	Null bool
	Int  int64
	Data []byte
}

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
