package main

import (
	"io"

	"github.com/bizhook/whd/client"
)

// ndjsonWriter writes one row a line, as the service wrote it.
type ndjsonWriter struct {
	out io.Writer
}

func newNDJSON(l layout) RowWriter { return ndjsonWriter{l.out} }

func (p ndjsonWriter) Begin() error { return nil }

func (p ndjsonWriter) Row(r client.Row) error {
	if _, err := p.out.Write(r.JSON()); err != nil {
		return err
	}
	_, err := io.WriteString(p.out, "\n")
	return err
}

func (p ndjsonWriter) End() error { return nil }
