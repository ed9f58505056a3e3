package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/client/xlsx"
	"github.com/bizhook/whd/daemon/row"
)

// ErrWorkbook is the error of a result that exceeds the limits of a workbook. CSV has none.
var ErrWorkbook = errors.New("does not fit into a workbook")

// xlsxRows writes a workbook with one sheet. Numbers and dates that a spreadsheet cannot
// store exactly become text cells, so that no digit is lost. A Double never needs that: a cell of a
// number is a binary double, of which spreadsheets only display 15 digits.
type xlsxRows struct {
	shape    Shape
	types    []record.Type // of the columns; unused for documents
	workbook *xlsx.Writer
	to       appender // where the workbook writes to: the buffer of the current call
	text     []byte   // text of the current cell
	rows     int64
	err      error
}

// appender is an io.Writer that appends to a buffer of the caller.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

func newXLSX(s Shape) Encoder {
	e := &xlsxRows{shape: s}
	for _, c := range s.Columns {
		e.types = append(e.types, c.Type)
	}
	return e
}

var xlsxValues = values{text: appendText, bool: appendTitleBool}

// Widths of columns, in characters.
const (
	textWidth   = 20
	numberWidth = 14
)

// Begin writes the header row.
func (e *xlsxRows) Begin(dst []byte, _ Head) []byte {
	columns := make([]xlsx.Column, len(e.shape.Columns))
	for i, c := range e.shape.Columns {
		columns[i] = xlsx.Column{Name: c.Name, Width: textWidth}
		if c.Type.Number() || c.Type == record.Bool {
			columns[i].Width = numberWidth
		}
	}
	e.to = dst
	e.workbook, e.err = xlsx.New(&e.to, e.shape.Record, columns)
	return e.to
}

// Row writes one row.
func (e *xlsxRows) Row(dst []byte, cells []row.Cell) []byte {
	return e.typedRow(dst, e.types, cells)
}

// typedRow writes a row with the types of its cells.
func (e *xlsxRows) typedRow(dst []byte, types []record.Type, cells []row.Cell) []byte {
	if e.err != nil {
		return dst
	}
	e.rows++
	e.to = dst
	e.workbook.BeginRow()
	for i, t := range types {
		e.cell(t, &cells[i])
	}
	if err := e.workbook.EndRow(); err != nil {
		e.err = fmt.Errorf("row %d %w: %w; select fewer rows or fields, or use csv", e.rows, ErrWorkbook, err)
	}
	return e.to
}

// cell writes a value as a number or a date only if that is exact.
func (e *xlsxRows) cell(t record.Type, cell *row.Cell) {
	if cell.Null {
		e.workbook.Null()
		return
	}
	e.text = xlsxValues.append(e.text[:0], t, cell)
	if cell.Misfit {
		e.workbook.Text(e.text)
		return
	}
	if t == record.Bool {
		e.workbook.Bool(cell.Int != 0)
		return
	}
	if e.isNumber(t) {
		e.workbook.Number(e.text)
		return
	}
	if date, ok := e.date(t); ok {
		e.workbook.Date(date)
		return
	}
	e.workbook.Text(e.text)
}

// date returns the text of a value as a date. ok is false if it is none, or a workbook cannot hold
// it exactly.
func (e *xlsxRows) date(t record.Type) (date time.Time, ok bool) {
	isDateType := t == record.DateTime || t == record.Epoch
	if !isDateType || len(e.text) != len(wire.DateLayout) {
		return time.Time{}, false
	}
	date, err := time.Parse(wire.DateLayout, string(e.text))
	if err != nil {
		return time.Time{}, false
	}
	_, exact := xlsx.Serial(date)
	return date, exact
}

// isNumber reports whether the text of a value is that of a number that a workbook holds
// exactly.
func (e *xlsxRows) isNumber(t record.Type) bool {
	if t == record.Double && isFinite(e.text) {
		return true
	}
	if !t.Number() || !isJSONNumber(e.text) {
		return false
	}
	return len(e.text) <= xlsx.MaxDigits || xlsx.Exact(e.text)
}

// End completes the workbook.
func (e *xlsxRows) End(dst []byte, _ Tail) []byte {
	e.to = dst
	if e.err == nil {
		e.err = e.workbook.Close()
	}
	return e.to
}

// Err returns why the result cannot be written.
func (e *xlsxRows) Err() error { return e.err }

// documentXLSX writes the items of a document as rows. The types are those of each value:
// texts in the form of the service's dates are dates.
func documentXLSX(dst []byte, name string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	if err != nil {
		return dst, err
	}
	e := &xlsxRows{shape: Shape{Record: name, Columns: make([]Column, len(t.names))}}
	for i, name := range t.names {
		e.shape.Columns[i].Name = name
	}
	dst = e.Begin(dst, Head{})
	cells := make([]row.Cell, len(t.names))
	types := make([]record.Type, len(t.names))
	for _, values := range t.rows {
		for i, name := range t.names {
			types[i], cells[i] = typedCell(values[name])
		}
		dst = e.typedRow(dst, types, cells)
	}
	dst = e.End(dst, Tail{})
	return dst, e.err
}

// typedCell returns a JSON value as a cell. A decimal or a date that cannot be read as
// such is written as text.
func typedCell(value json.RawMessage) (record.Type, row.Cell) {
	switch {
	case len(value) == 0 || value[0] == 'n':
		return record.Text, row.Cell{Null: true}
	case value[0] == 't':
		return record.Bool, row.Cell{Int: 1}
	case value[0] == 'f':
		return record.Bool, row.Cell{}
	case value[0] == '"':
		return record.DateTime, row.Cell{Data: []byte(cellText(value))}
	}
	return record.Decimal, row.Cell{Data: value}
}
