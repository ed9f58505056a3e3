// Package row is how rows travel from a store to an encoder: one at a time,
// without a copy where the driver allows it.
package row

import (
	"encoding/base64"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Cell is one value. Which of its members holds the value follows from the
// column's record.Type:
//
//	Int Short Byte Long Bool    Int (a bool is 0 or 1)
//	TimeSpan                    Int, in units of 100 ns
//	Bytes                       Data, the bytes themselves
//	everything else             Data, the value's text as JSON has it, unquoted:
//	                            digits of a decimal, seven-digit date (also of an
//	                            Epoch), hyphened guid
//
// Data belongs to the source and is valid until its next Next or Close.
type Cell struct {
	Null bool
	Int  int64
	Data []byte
}

// Source yields rows. Next returns the cells of the next row in the order of
// the plan's columns, and nil cells at the end. Close is safe to call twice,
// stops the statement and gives its connection back.
type Source interface {
	Next() ([]Cell, error)
	Close() error
}

// Text is the value as JSON has it, without quotes.
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
