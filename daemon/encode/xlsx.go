package encode

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/client/xlsx"
	"github.com/bizhook/whd/daemon/row"
)

// xlsxRows writes a workbook with one sheet. Numbers and dates that a spreadsheet cannot
// store exactly become text cells, so that no digit is lost.
type xlsxRows struct {
	shape    Shape
	workbook *xlsx.Writer
	to       appender
	text     []byte // of the current cell
	rows     int64
	err      error
}

// appender is an io.Writer that appends to a buffer of the caller.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

func newXLSX(s Shape) Encoder { return &xlsxRows{shape: s} }

var xlsxValues = values{text: func(dst, text []byte) []byte { return append(dst, text...) }, bool: appendTitleBool}

// Begin writes the header row.
func (e *xlsxRows) Begin(dst []byte, _ Head) []byte {
	columns := make([]xlsx.Column, len(e.shape.Columns))
	for i, c := range e.shape.Columns {
		columns[i] = xlsx.Column{Name: c.Name, Width: 20}
		if c.Type.Number() || c.Type == record.Bool {
			columns[i].Width = 14
		}
	}
	e.to = dst
	e.workbook, e.err = xlsx.New(&e.to, e.shape.Record, columns)
	return e.to
}

// Row writes one row.
func (e *xlsxRows) Row(dst []byte, cells []row.Cell) []byte {
	if e.err != nil {
		return dst
	}
	e.rows++
	e.to = dst
	e.workbook.BeginRow()
	for i, c := range e.shape.Columns {
		e.cell(c.Type, &cells[i])
	}
	if err := e.workbook.EndRow(); err != nil {
		e.err = fmt.Errorf("row %d does not fit into a workbook: %w; select fewer rows or fields, or use csv", e.rows, err)
	}
	return e.to
}

func (e *xlsxRows) cell(t record.Type, cell *row.Cell) {
	if cell.Null {
		e.workbook.Null()
		return
	}
	if t == record.Bool {
		e.workbook.Bool(cell.Int != 0)
		return
	}
	e.text = xlsxValues.append(e.text[:0], t, cell)
	writeCell(e.workbook, e.text, t.Number(), t == record.DateTime || t == record.Epoch)
}

// writeCell writes the text of a value as a number or a date if that is exact.
func writeCell(workbook *xlsx.Writer, text []byte, number, date bool) {
	if number && isJSONNumber(text) && xlsx.Exact(text) {
		workbook.Number(text)
		return
	}
	if date && len(text) == len(wire.DateLayout) {
		at, err := time.Parse(wire.DateLayout, string(text))
		if _, exact := xlsx.Serial(at); err == nil && exact {
			workbook.Date(at)
			return
		}
	}
	workbook.Text(text)
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

// documentXLSX writes the items of a document as rows. JSON has no dates: texts in the
// form of the service's dates are dates.
func documentXLSX(dst []byte, name string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	if err != nil {
		return dst, err
	}
	columns := make([]xlsx.Column, len(t.names))
	for i, name := range t.names {
		columns[i] = xlsx.Column{Name: name, Width: 20}
	}
	to := appender(dst)
	workbook, err := xlsx.New(&to, name, columns)
	if err != nil {
		return dst, err
	}
	for _, cells := range t.rows {
		workbook.BeginRow()
		for _, name := range t.names {
			writeMember(workbook, cells[name])
		}
		if err := workbook.EndRow(); err != nil {
			return dst, err
		}
	}
	return to, workbook.Close()
}

func writeMember(workbook *xlsx.Writer, value json.RawMessage) {
	switch text := string(value); {
	case text == "" || text == "null":
		workbook.Null()
	case text == "true" || text == "false":
		workbook.Bool(text == "true")
	default:
		quoted := strings.HasPrefix(text, `"`)
		writeCell(workbook, []byte(cellText(value)), !quoted, quoted)
	}
}
