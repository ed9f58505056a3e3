// Package workbook streams rows into an XLSX workbook with one sheet.
package workbook

import (
	"fmt"
	"io"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/client/xlsx"
)

// Column is a column of the sheet: a member of the rows and its type.
type Column struct {
	Name string
	Type record.Type
}

// Writer writes rows. Numbers and dates become text cells if a spreadsheet cannot store
// them exactly. A null has no cell; an empty text has an empty one.
type Writer struct {
	book   *xlsx.Writer
	names  []string
	types  []record.Type
	values []client.Value
	text   []byte // buffer for a cell
	rows   int64
}

// Widths of columns, in characters.
const (
	textWidth   = 20
	numberWidth = 14
)

// New starts a workbook with a header row.
func New(to io.Writer, sheet string, columns []Column) (*Writer, error) {
	w := &Writer{}
	var header []xlsx.Column
	for _, c := range columns {
		width := textWidth
		if c.Type.Number() || c.Type == record.Bool {
			width = numberWidth
		}
		header = append(header, xlsx.Column{Name: c.Name, Width: width})
		w.names = append(w.names, c.Name)
		w.types = append(w.types, c.Type)
	}
	book, err := xlsx.New(to, sheet, header)
	if err != nil {
		return nil, err
	}
	w.book = book
	return w, nil
}

// Row writes a row and does not retain it. The error wraps xlsx.ErrText or xlsx.ErrRows if
// the row exceeds the limits of a sheet.
func (w *Writer) Row(r client.Row) error {
	w.rows++
	w.values = r.Values(w.values[:0], w.names)
	w.book.BeginRow()
	for i, v := range w.values {
		w.writeCell(v, w.types[i])
	}
	if err := w.book.EndRow(); err != nil {
		return fmt.Errorf("row %d cannot be written: %w", w.rows, err)
	}
	return nil
}

// Close completes the workbook. It does not close the underlying writer.
func (w *Writer) Close() error { return w.book.Close() }

// writeCell writes a value as a cell of the type that stores it exactly.
func (w *Writer) writeCell(v client.Value, t record.Type) {
	if v.Null() {
		w.book.Null()
		return
	}
	w.text = v.AppendCell(w.text[:0], t)
	first := v[0]
	if first == 't' || first == 'f' {
		w.book.Bool(first == 't')
		return
	}
	isNumber := first == '-' || first >= '0' && first <= '9'
	if isNumber && (t == record.Double || xlsx.Exact(v)) {
		w.book.Number(v)
		return
	}
	if t == record.DateTime || t == record.Epoch {
		date, err := time.Parse(wire.DateLayout, string(w.text))
		_, isExact := xlsx.Serial(date)
		if err == nil && isExact {
			w.book.Date(date)
			return
		}
	}
	w.book.Text(w.text)
}
