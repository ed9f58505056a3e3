package mssql

import (
	"database/sql/driver"
	"fmt"
	"io"
	"strconv"
	"time"
	"unsafe"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// Rows is the answer to a query: a row.Source. Texts and digits are those that
// the driver made for the row, and which it keeps no hold of; what has to be
// converted is in one buffer that serves every row.
type Rows struct {
	stream  *stream
	types   []record.Type
	columns []arriving
	dest    []driver.Value
	cells   []row.Cell
	scratch []byte
}

// arriving is how the values of a column come.
type arriving struct {
	arrival
	fits bool // the cell takes them as they come
}

// Unfit is a column whose type in the database cannot be that of its field.
type Unfit struct{ Column, Type, Wanted string }

// Error names the column and both types.
func (e *Unfit) Error() string {
	return fmt.Sprintf("mssql: column %s is %s in the database, which does not fit %s", e.Column, e.Type, e.Wanted)
}

func newRows(s *stream, types []record.Type) (*Rows, error) {
	names := s.Columns()
	if len(names) != len(types) {
		return nil, fmt.Errorf("mssql: %d columns where %d were expected", len(names), len(types))
	}
	r := &Rows{
		stream:  s,
		types:   types,
		columns: make([]arriving, len(types)),
		dest:    make([]driver.Value, len(types)),
		cells:   make([]row.Cell, len(types)),
	}
	for i, t := range types {
		name := s.ColumnTypeDatabaseTypeName(i)
		a, known := arrivals[name]
		if !known {
			return nil, &Unfit{names[i], name, t.String()}
		}
		r.columns[i] = arriving{a, a.fits(t)}
	}
	return r, nil
}

// Next is row.Source's.
func (r *Rows) Next() ([]row.Cell, error) {
	if err := r.stream.Next(r.dest); err != nil {
		if err == io.EOF {
			err = nil
		}
		return nil, err
	}
	r.scratch = r.scratch[:0]
	for i, v := range r.dest {
		if err := r.read(i, v); err != nil {
			return nil, err
		}
	}
	return r.cells, nil
}

// read fills the cell of column i.
func (r *Rows) read(i int, v driver.Value) error {
	cell, c := &r.cells[i], r.columns[i]
	if v == nil {
		*cell = row.Cell{Null: true}
		return nil
	}
	cell.Null = false
	switch {
	case !c.fits:
		return r.convert(i, v)
	case c.arrival == whole:
		cell.Int = v.(int64)
	case c.arrival == bit:
		cell.Int = truth(v.(bool))
	case c.arrival == text:
		cell.Data = bytesOf(v.(string))
	case c.arrival == digits, c.arrival == binary:
		cell.Data = v.([]byte)
	default:
		start := len(r.scratch)
		r.scratch = c.arrival.append(r.scratch, v)
		cell.Data = r.scratch[start:]
	}
	return nil
}

// convert reads a value from its text, since the column is of another type than
// the field.
func (r *Rows) convert(i int, v driver.Value) error {
	c, t := r.columns[i], r.types[i]
	value, err := wire.ParseValue(t, string(c.arrival.append(nil, v)), time.UTC)
	if err != nil || c.arrival == binary {
		return &Unfit{r.stream.Columns()[i], r.stream.ColumnTypeDatabaseTypeName(i), t.String()}
	}
	r.cells[i] = row.Cell{Int: value.Int, Data: value.Bytes}
	if t != record.Bytes {
		r.cells[i].Data = []byte(value.Text)
	}
	return nil
}

// Close stops the statement unless it is over. It may be called again.
func (r *Rows) Close() error { return r.stream.Close() }

// arrival is the way in which the driver hands over the values of a type.
type arrival uint8

const (
	whole  arrival = iota // int64
	bit                   // bool
	digits                // []byte with the digits of a decimal
	float                 // float64
	single                // float64 of a 32-bit number
	text                  // string
	date                  // time.Time
	guid                  // []byte in the server's order
	binary                // []byte
)

// arrivals is by the name of the column's type. The Go type would not do:
// []byte is digits, a guid, or bytes.
var arrivals = map[string]arrival{
	"TINYINT": whole, "SMALLINT": whole, "INT": whole, "BIGINT": whole,
	"BIT":     bit,
	"DECIMAL": digits, "MONEY": digits, "SMALLMONEY": digits,
	"FLOAT": float, "REAL": single,
	"CHAR": text, "VARCHAR": text, "NCHAR": text, "NVARCHAR": text, "TEXT": text, "NTEXT": text, "XML": text,
	"DATETIME": date, "DATETIME2": date, "SMALLDATETIME": date, "DATE": date, "TIME": date, "DATETIMEOFFSET": date,
	"UNIQUEIDENTIFIER": guid,
	"BINARY":           binary, "VARBINARY": binary, "IMAGE": binary,
}

// fits reports whether values that arrive like this are a field's own, or have
// the text that JSON wants of it.
func (a arrival) fits(t record.Type) bool {
	t = t.Held()
	switch a {
	case whole, bit:
		return t.Integer() || t == record.Bool
	case digits, float, single:
		return t == record.Decimal || t == record.Text
	case date:
		return t == record.DateTime || t == record.Text
	case guid:
		return t == record.Guid || t == record.Text
	case binary:
		return t == record.Bytes
	default:
		return t == record.Text
	}
}

// append writes a value's text.
func (a arrival) append(dst []byte, v driver.Value) []byte {
	switch a {
	case whole:
		return strconv.AppendInt(dst, v.(int64), 10)
	case bit:
		return strconv.AppendInt(dst, truth(v.(bool)), 10)
	case float:
		return strconv.AppendFloat(dst, v.(float64), 'f', -1, 64)
	case single:
		return strconv.AppendFloat(dst, v.(float64), 'f', -1, 32)
	case text:
		return append(dst, v.(string)...)
	case date:
		return appendDate(dst, v.(time.Time))
	case guid:
		return appendGuid(dst, v.([]byte))
	default:
		return append(dst, v.([]byte)...)
	}
}

func truth(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// bytesOf is a text's bytes, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
