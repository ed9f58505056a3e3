package output

import (
	"errors"
	"fmt"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/rowfile"
	"github.com/bizhook/whd/client/xlsx"
)

// newFile returns the writer of a file format.
func newFile(f rowfile.Format, l layout) RowWriter {
	w := f.New(rowfile.Options{
		Out:     l.out.Writer,
		Name:    l.sheet,
		Columns: l.columns,
		Null:    l.null,
		Excel:   l.excel,
	})
	if f.Name == "xlsx" {
		return xlsxWriter{w}
	}
	if !l.headless {
		return w
	}
	if text, ok := w.(rowfile.TextWriter); ok {
		return headlessText{headless{w}, text}
	}
	return headless{w}
}

// headless writes rows without a header.
type headless struct{ RowWriter }

func (headless) Begin() error { return nil }

// headlessText is headless for a TextWriter.
type headlessText struct {
	headless
	rowfile.TextWriter
}

// xlsxWriter writes a workbook. Its errors name the flags that make the rows fit.
type xlsxWriter struct{ RowWriter }

func (p xlsxWriter) Row(r client.Row) error {
	err := p.RowWriter.Row(r)
	if errors.Is(err, xlsx.ErrText) {
		return fmt.Errorf("%w; leave the field out (--fields), or use csv", err)
	}
	if errors.Is(err, xlsx.ErrRows) {
		return fmt.Errorf("%w; take fewer (--where, --take), or use csv", err)
	}
	return err
}
