// Package workbook writes rows as they come into a workbook of one sheet.
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

// Column is one column of the sheet: a member of the rows, and its type.
type Column struct {
	Name string
	Type record.Type
}

// Writer writes rows. Numbers, bools and dates are such wherever the cell holds
// them exactly, and else their text; all text stays text. A null is an empty
// cell, an empty text a cell with nothing in it.
type Writer struct {
	book   *xlsx.Writer
	names  []string
	types  []record.Type
	values []client.Value
	text   []byte // of one cell
	rows   int64
}

// New begins a workbook whose sheet has a row with the names of the columns.
func New(to io.Writer, sheet string, columns []Column) (*Writer, error) {
	w := &Writer{}
	var widths []xlsx.Column
	for _, c := range columns {
		width := 20
		if c.Type.Number() || c.Type == record.Bool {
			width = 14
		}
		widths = append(widths, xlsx.Column{Name: c.Name, Width: width})
		w.names, w.types = append(w.names, c.Name), append(w.types, c.Type)
	}
	book, err := xlsx.New(to, sheet, widths)
	w.book = book
	return w, err
}

// Row writes a row, which is the Writer's only until it returns. Errors that
// are xlsx.ErrText or xlsx.ErrRows say that a sheet cannot hold it.
func (w *Writer) Row(r client.Row) error {
	w.rows++
	w.values = r.Values(w.values[:0], w.names)
	w.book.BeginRow()
	for i, v := range w.values {
		w.put(v, w.types[i])
	}
	if err := w.book.EndRow(); err != nil {
		return fmt.Errorf("row %d cannot be written: %w", w.rows, err)
	}
	return nil
}

// Close ends the workbook.
func (w *Writer) Close() error { return w.book.Close() }

// put writes one cell.
func (w *Writer) put(v client.Value, t record.Type) {
	if v.Null() {
		w.book.Null()
		return
	}
	w.text = v.AppendCell(w.text[:0], t)
	switch c := v[0]; {
	case c == 't' || c == 'f':
		w.book.Bool(c == 't')
		return
	case (c == '-' || c >= '0' && c <= '9') && xlsx.Exact(v):
		w.book.Number(v)
		return
	case t == record.DateTime || t == record.Epoch:
		at, err := time.Parse(wire.DateLayout, string(w.text))
		if _, held := xlsx.Serial(at); err == nil && held {
			w.book.Date(at)
			return
		}
	}
	w.book.Text(w.text)
}
