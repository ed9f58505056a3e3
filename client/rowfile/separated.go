package rowfile

import (
	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/csv"
	"github.com/bizhook/whd/client/record"
)

// separatedWriter writes CSV by RFC 4180 with minimal quoting, or TSV. Lines end with
// LF, which other command-line tools expect, or with CRLF for Excel.
type separatedWriter struct {
	Options
	columns   []string
	values    []client.Value // values of the current row
	text      []byte         // text of the current cell
	separator byte
	eol       string
}

// csvText is a separatedWriter that writes lines of the service.
type csvText struct{ *separatedWriter }

func (w csvText) Text(lines []byte) error {
	_, err := w.Out.Write(lines)
	return err
}

func newCSV(o Options) Writer {
	w := &separatedWriter{Options: o, columns: o.names(), separator: ',', eol: "\n"}
	if o.Excel {
		w.eol = "\r\n"
		return w
	}
	if o.Null == "" {
		return csvText{w} // the service writes the same cells
	}
	return w
}

func newTSV(o Options) Writer {
	return &separatedWriter{Options: o, columns: o.names(), separator: '\t', eol: "\n"}
}

func (w *separatedWriter) Begin() error {
	line := w.Out.AvailableBuffer()
	if w.Excel {
		line = append(line, "\ufeff"...)
	}
	if w.separator == ',' {
		line = csv.AppendNames(line, w.columns)
	} else {
		line = appendTSVNames(line, w.columns)
	}
	_, err := w.Out.Write(append(line, w.eol...))
	return err
}

func (w *separatedWriter) Row(r client.Row) error {
	w.values = r.Values(w.values[:0], w.columns)
	line := w.Out.AvailableBuffer()
	for i, v := range w.values {
		if i > 0 {
			line = append(line, w.separator)
		}
		line = w.cell(line, v, w.Columns[i].Type)
	}
	if len(line) == 0 && w.separator == ',' {
		line = append(line, `""`...) // an empty line would not count as a row
	}
	_, err := w.Out.Write(append(line, w.eol...))
	return err
}

func (w *separatedWriter) End() error { return nil }

// cell appends a value; numbers keep their digits. In CSV, a text equal to --null is
// quoted, to distinguish it from a null.
func (w *separatedWriter) cell(line []byte, v client.Value, t record.Type) []byte {
	if v.Null() {
		return append(line, w.Null...)
	}
	if c := v[0]; c != '"' && c != '{' && c != '[' {
		return append(line, v...) // a number or a bool
	}
	w.text = v.AppendCell(w.text[:0], t)
	if w.separator == '\t' {
		return appendTSV(line, w.text)
	}
	if w.Excel && v[0] == '"' && csv.IsFormula(w.text) {
		w.text = append([]byte{'\''}, w.text...)
	}
	if w.Null != "" && string(w.text) == w.Null {
		return csv.AppendQuoted(line, w.text) // not a null
	}
	return csv.Append(line, w.text)
}

// appendTSV appends a cell with tabs, line breaks and backslashes escaped.
func appendTSV(line, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '\t':
			line = append(line, `\t`...)
		case '\n':
			line = append(line, `\n`...)
		case '\r':
			line = append(line, `\r`...)
		case '\\':
			line = append(line, `\\`...)
		default:
			line = append(line, c)
		}
	}
	return line
}

func appendTSVNames(line []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			line = append(line, '\t')
		}
		line = appendTSV(line, []byte(name))
	}
	return line
}
