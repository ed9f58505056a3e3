package output

import (
	"bytes"
	"io"

	"github.com/bizhook/whd/client"
)

// jsonWriter writes one row per line, in an array or as NDJSON. Rows are copied
// unchanged, so that numbers keep their digits.
type jsonWriter struct {
	out    io.Writer
	before string // separator before the next row
	array  bool
}

func newJSON(l layout) RowWriter { return &jsonWriter{out: l.out, before: "[\n", array: true} }

func newNDJSON(l layout) RowWriter { return &jsonWriter{out: l.out} }

func (p *jsonWriter) Begin() error { return nil }

func (p *jsonWriter) Row(r client.Row) error { return p.write(r.JSON()) }

func (p *jsonWriter) Text(lines []byte) (err error) {
	for line := range bytes.Lines(lines) {
		if err = p.write(line[:len(line)-1]); err != nil {
			break
		}
	}
	return err
}

func (p *jsonWriter) write(json []byte) error {
	if _, err := io.WriteString(p.out, p.before); err != nil {
		return err
	}
	if _, err := p.out.Write(json); err != nil || p.array {
		p.before = ",\n"
		return err
	}
	_, err := io.WriteString(p.out, "\n")
	return err
}

func (p *jsonWriter) End() error {
	text := "\n]\n"
	switch {
	case !p.array:
		return nil
	case p.before != ",\n":
		text = "[]\n"
	}
	_, err := io.WriteString(p.out, text)
	return err
}
