package main

import (
	"io"

	"github.com/bizhook/whd/client"
)

// ndjsonPrinter writes one row a line, as the service wrote it.
type ndjsonPrinter struct {
	out io.Writer
}

func newNDJSON(l layout) printer { return ndjsonPrinter{l.out} }

func (p ndjsonPrinter) begin() error { return nil }

func (p ndjsonPrinter) row(r client.Row) error {
	if _, err := p.out.Write(r.JSON()); err != nil {
		return err
	}
	_, err := io.WriteString(p.out, "\n")
	return err
}

func (p ndjsonPrinter) end() error { return nil }
