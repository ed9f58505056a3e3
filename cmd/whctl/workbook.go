package main

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/xlsx"
)

// xlsxPrinter writes a workbook. Numbers, bools and dates are such wherever the
// cell holds them exactly, and else their text; all text stays text. A null is
// an empty cell, an empty text a cell with nothing in it.
type xlsxPrinter struct {
	layout
	values []client.Value
	text   []byte // of one cell
	book   *xlsx.Writer
	rows   int64
}

func newXLSX(l layout) printer { return &xlsxPrinter{layout: l} }

func (p *xlsxPrinter) begin() (err error) {
	var columns []xlsx.Column
	for _, c := range p.columns {
		width := 20
		if c.typ.Number() || c.typ == record.Bool {
			width = 14
		}
		columns = append(columns, xlsx.Column{Name: c.name, Width: width})
	}
	p.book, err = xlsx.New(p.out, p.sheet, columns)
	return err
}

func (p *xlsxPrinter) row(r client.Row) error {
	p.rows++
	p.values = r.Values(p.values[:0], p.names)
	p.book.BeginRow()
	for i, v := range p.values {
		p.put(v, p.columns[i].typ)
	}
	err := p.book.EndRow()
	switch {
	case errors.Is(err, xlsx.ErrText):
		return fmt.Errorf("row %d cannot be written: %w; leave the field out (--fields), or use csv", p.rows, err)
	case errors.Is(err, xlsx.ErrRows):
		return fmt.Errorf("%w; take fewer (--where, --take), or use csv", err)
	}
	return err
}

func (p *xlsxPrinter) end() error { return p.book.Close() }

// put writes one cell.
func (p *xlsxPrinter) put(v client.Value, t record.Type) {
	if v.Null() {
		p.book.Null()
		return
	}
	p.text = appendCell(p.text[:0], v, t)
	switch c := v[0]; {
	case c == 't' || c == 'f':
		p.book.Bool(c == 't')
		return
	case (c == '-' || c >= '0' && c <= '9') && xlsx.Exact(v):
		p.book.Number(v)
		return
	case t == record.DateTime || t == record.Epoch:
		at, err := time.Parse(wire.DateLayout, string(p.text))
		if _, held := xlsx.Serial(at); err == nil && held {
			p.book.Date(at)
			return
		}
	}
	p.book.Text(p.text)
}

// appendCell appends the text of a value as cells have it: dates of webhooks,
// which travel in milliseconds, are dates like all others.
func appendCell(dst []byte, v client.Value, t record.Type) []byte {
	start := len(dst)
	dst = v.AppendText(dst)
	if t == record.Epoch && bytes.HasPrefix(dst[start:], []byte("/Date(")) {
		if date, err := wire.ParseDate(string(dst[start:]), time.UTC); err == nil {
			return append(dst[:start], date...)
		}
	}
	return dst
}
