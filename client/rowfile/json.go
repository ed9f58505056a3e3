package rowfile

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

func newJSON(o Options) Writer { return &jsonWriter{out: o.Out, before: "[\n", array: true} }

func newNDJSON(o Options) Writer { return &jsonWriter{out: o.Out} }

func (w *jsonWriter) Begin() error { return nil }

func (w *jsonWriter) Row(r client.Row) error { return w.write(r.JSON()) }

func (w *jsonWriter) Text(lines []byte) error {
	for line := range bytes.Lines(lines) {
		if err := w.write(line[:len(line)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (w *jsonWriter) write(json []byte) error {
	if _, err := io.WriteString(w.out, w.before); err != nil {
		return err
	}
	if _, err := w.out.Write(json); err != nil || w.array {
		w.before = ",\n"
		return err
	}
	_, err := io.WriteString(w.out, "\n")
	return err
}

func (w *jsonWriter) End() error {
	if !w.array {
		return nil
	}
	text := "\n]\n"
	if w.before != ",\n" { // there are no rows
		text = "[]\n"
	}
	_, err := io.WriteString(w.out, text)
	return err
}
