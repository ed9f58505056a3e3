package output

import (
	"io"

	"github.com/bizhook/whd/client"
)

// jsonWriter writes one array, one row a line. Rows stay as the service wrote
// them, so no digit of a number changes.
type jsonWriter struct {
	out    io.Writer
	before string // the next row
}

func newJSON(l layout) RowWriter { return &jsonWriter{out: l.out, before: "[\n"} }

func (p *jsonWriter) Begin() error { return nil }

func (p *jsonWriter) Row(r client.Row) error {
	if _, err := io.WriteString(p.out, p.before); err != nil {
		return err
	}
	p.before = ",\n"
	_, err := p.out.Write(r.JSON())
	return err
}

func (p *jsonWriter) End() error {
	text := "\n]\n"
	if p.before != ",\n" {
		text = "[]\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}

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
