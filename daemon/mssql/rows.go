package mssql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unsafe"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// Rows are the rows of a query: a row.Source. Texts and digits point to memory that the
// driver allocated for the row; converted values are in one buffer that is reused for
// every row.
type Rows struct {
	stream  *stream
	types   []record.Type
	columns []columnReader
	dest    []driver.Value
	cells   []row.Cell
	scratch []byte

	limited context.Context // context of a statement with a time limit of its own, else nil
	cancel  context.CancelFunc
}

// columnReader is how the values of a column are read.
type columnReader struct {
	driverType
	fits   bool  // the cell can hold them without conversion
	lo, hi int64 // range of integers of the field
}

// ColumnTypeError is the error for a column, or a value in it, that cannot be converted to the
// type of its field.
type ColumnTypeError struct {
	Column, Type, FieldType string
	Value                   string // empty if no value of the column can be converted
}

// Error returns the column, the beginning of the value, and both types.
func (e *ColumnTypeError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("column %s is %s in the database, which does not fit %s",
			e.Column, e.Type, e.FieldType)
	}
	return fmt.Sprintf("column %s is %s in the database and contains %.40q, which does not fit %s",
		e.Column, e.Type, e.Value, e.FieldType)
}

func newRows(s *stream, types []record.Type) (*Rows, error) {
	names := s.Columns()
	if len(names) != len(types) {
		return nil, fmt.Errorf("mssql: %d columns where %d were expected", len(names), len(types))
	}
	r := &Rows{
		stream:  s,
		types:   types,
		columns: make([]columnReader, len(types)),
		dest:    make([]driver.Value, len(types)),
		cells:   make([]row.Cell, len(types)),
	}
	for i, t := range types {
		name := s.ColumnTypeDatabaseTypeName(i)
		d, ok := driverTypes[name]
		if !ok {
			return nil, &ColumnTypeError{Column: names[i], Type: name, FieldType: t.String()}
		}
		c := columnReader{driverType: d, fits: d.fits(t), lo: math.MinInt64, hi: math.MaxInt64}
		if t.Stored().Integer() {
			c.lo, c.hi = t.Stored().Range()
		} else if t == record.Bool {
			c.lo = 0
			c.hi = 1
		}
		r.columns[i] = c
	}
	return r, nil
}

// Next returns the next row, which is valid until the following call, and nil after the last
// row.
func (r *Rows) Next() ([]row.Cell, error) {
	err := r.stream.Next(r.dest)
	if err == io.EOF {
		return nil, nil
	}
	if err != nil && r.limited != nil {
		err = limitError(r.limited, err)
	}
	if err != nil {
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

// read sets the cell of column i.
func (r *Rows) read(i int, v driver.Value) error {
	cell := &r.cells[i]
	c := r.columns[i]
	if v == nil {
		*cell = row.Cell{Null: true}
		return nil
	}
	cell.Null = false
	switch {
	case !c.fits:
		return r.convert(i, v)
	case r.types[i] == record.Double:
		start := len(r.scratch)
		r.scratch = wire.AppendDouble(r.scratch, v.(float64), c.bits())
		cell.Data = r.scratch[start:]
	case c.driverType == integer:
		cell.Int = v.(int64)
		if cell.Int < c.lo || cell.Int > c.hi {
			return r.misfit(i, v)
		}
	case c.driverType == bit:
		cell.Int = boolToInt(v.(bool))
	case c.driverType == text:
		cell.Data = bytesOf(v.(string))
	case c.driverType == decimal, c.driverType == binary:
		cell.Data = v.([]byte)
	default:
		start := len(r.scratch)
		r.scratch = c.driverType.append(r.scratch, v)
		cell.Data = r.scratch[start:]
	}
	return nil
}

// convert parses a value from its text, if the column has another type than the field.
func (r *Rows) convert(i int, v driver.Value) error {
	c := r.columns[i]
	t := r.types[i]
	value, err := wire.ParseValue(t, string(c.driverType.append(nil, v)), time.UTC)
	if err != nil || c.driverType == binary {
		return r.misfit(i, v)
	}
	r.cells[i] = row.Cell{Int: value.Int, Data: value.Bytes}
	if t != record.Bytes {
		r.cells[i].Data = []byte(value.Text)
	}
	return nil
}

// misfit returns the error for a value that does not fit its field. It must not be cut to the
// size of the field, nor taken for true: a filter would not find it.
func (r *Rows) misfit(i int, v driver.Value) error {
	e := &ColumnTypeError{
		Column:    r.stream.Columns()[i],
		Type:      r.stream.ColumnTypeDatabaseTypeName(i),
		FieldType: r.types[i].String(),
	}
	if c := r.columns[i]; c.driverType != binary {
		e.Value = string(c.driverType.append(nil, v))
	}
	return e
}

// Close stops the statement if it is running. It may be called several times.
func (r *Rows) Close() error {
	err := r.stream.Close()
	if r.cancel != nil {
		r.cancel()
	}
	return err
}

// driverType is the Go type in which the driver returns the values of a type.
type driverType uint8

const (
	integer driverType = iota // int64
	bit                       // bool
	decimal                   // []byte with the digits of a decimal
	float                     // float64
	single                    // float64 of a 32-bit number
	text                      // string
	date                      // time.Time
	clock                     // time.Time on some day
	guid                      // []byte in the server's order
	binary                    // []byte
)

// driverTypes maps SQL types to the types that the driver returns. Reflection cannot be used,
// since []byte may be digits, a GUID or binary data.
var driverTypes = map[string]driverType{
	"TINYINT":  integer,
	"SMALLINT": integer,
	"INT":      integer,
	"BIGINT":   integer,
	"BIT":      bit,

	"DECIMAL":    decimal,
	"MONEY":      decimal,
	"SMALLMONEY": decimal,
	"FLOAT":      float,
	"REAL":       single,

	"CHAR":     text,
	"VARCHAR":  text,
	"NCHAR":    text,
	"NVARCHAR": text,
	"TEXT":     text,
	"NTEXT":    text,
	"XML":      text,

	"DATETIME":       date,
	"DATETIME2":      date,
	"SMALLDATETIME":  date,
	"DATE":           date,
	"DATETIMEOFFSET": date,
	"TIME":           clock,

	"UNIQUEIDENTIFIER": guid,
	"BINARY":           binary,
	"VARBINARY":        binary,
	"IMAGE":            binary,
}

// fits reports whether values of the type need no conversion for a field: they are of the
// field's type, or their text is that used in JSON.
func (d driverType) fits(t record.Type) bool {
	t = t.Stored()
	switch d {
	case integer, bit:
		return t.Integer() || t == record.Bool
	case float, single:
		return t == record.Double || t == record.Decimal || t == record.Text
	case decimal:
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

// bits returns the size of a binary number.
func (d driverType) bits() int {
	if d == single {
		return 32
	}
	return 64
}

// append appends a value as text.
func (d driverType) append(dst []byte, v driver.Value) []byte {
	switch d {
	case integer:
		return strconv.AppendInt(dst, v.(int64), 10)
	case bit:
		return strconv.AppendInt(dst, boolToInt(v.(bool)), 10)
	case float, single:
		return strconv.AppendFloat(dst, v.(float64), 'f', -1, d.bits())
	case text:
		return append(dst, v.(string)...)
	case clock:
		return v.(time.Time).AppendFormat(dst, "15:04:05.0000000")
	case date:
		return appendDate(dst, v.(time.Time))
	case guid:
		return appendGuid(dst, v.([]byte))
	default:
		return append(dst, v.([]byte)...)
	}
}

func boolToInt(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// bytesOf returns the bytes of a string, which must not be modified.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
