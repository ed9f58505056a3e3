package rowfile

import (
	"bytes"
	"io"

	"github.com/bizhook/whd/client"
)

// jsonWriter writes one row per line, in an array or as NDJSON. Rows are copied
// unchanged, so that numbers keep their digits.
type jsonWriter struct {
	out     io.Writer
	isArray bool
	hasRows bool
}

func newJSON(o Options) Writer { return &jsonWriter{out: o.Out, isArray: true} }

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
	before, after := "", "\n"
	if w.isArray {
		before, after = "[\n", ""
		if w.hasRows {
			before = ",\n"
		}
	}
	w.hasRows = true
	if _, err := io.WriteString(w.out, before); err != nil {
		return err
	}
	if _, err := w.out.Write(json); err != nil {
		return err
	}
	_, err := io.WriteString(w.out, after)
	return err
}

func (w *jsonWriter) End() error {
	if !w.isArray {
		return nil
	}
	text := "[]\n"
	if w.hasRows {
		text = "\n]\n"
	}
	_, err := io.WriteString(w.out, text)
	return err
}
