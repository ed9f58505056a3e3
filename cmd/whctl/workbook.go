package main

import (
	"errors"
	"fmt"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/workbook"
	"github.com/bizhook/whd/client/xlsx"
)

// xlsxPrinter writes a workbook.
type xlsxPrinter struct {
	layout
	book *workbook.Writer
}

func newXLSX(l layout) printer { return &xlsxPrinter{layout: l} }

func (p *xlsxPrinter) begin() (err error) {
	var columns []workbook.Column
	for _, c := range p.columns {
		columns = append(columns, workbook.Column{Name: c.name, Type: c.typ})
	}
	p.book, err = workbook.New(p.out, p.sheet, columns)
	return err
}

func (p *xlsxPrinter) row(r client.Row) error {
	err := p.book.Row(r)
	switch {
	case errors.Is(err, xlsx.ErrText):
		return fmt.Errorf("%w; leave the field out (--fields), or use csv", err)
	case errors.Is(err, xlsx.ErrRows):
		return fmt.Errorf("%w; take fewer (--where, --take), or use csv", err)
	}
	return err
}

func (p *xlsxPrinter) end() error { return p.book.Close() }
