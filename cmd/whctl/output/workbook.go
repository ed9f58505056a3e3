package output

import (
	"errors"
	"fmt"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/workbook"
	"github.com/bizhook/whd/client/xlsx"
)

// xlsxWriter writes a workbook.
type xlsxWriter struct {
	layout
	book *workbook.Writer
}

func newXLSX(l layout) RowWriter { return &xlsxWriter{layout: l} }

func (p *xlsxWriter) Begin() (err error) {
	p.book, err = workbook.New(p.out, p.sheet, p.columns)
	return err
}

func (p *xlsxWriter) Row(r client.Row) error {
	err := p.book.Row(r)
	switch {
	case errors.Is(err, xlsx.ErrText):
		return fmt.Errorf("%w; leave the field out (--fields), or use csv", err)
	case errors.Is(err, xlsx.ErrRows):
		return fmt.Errorf("%w; take fewer (--where, --take), or use csv", err)
	}
	return err
}

func (p *xlsxWriter) End() error { return p.book.Close() }
