package output

import (
	"bytes"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// separatedWriter writes CSV by RFC 4180 with minimal quoting, or TSV. Lines end with
// LF, which other command-line tools expect, or with CRLF for Excel.
type separatedWriter struct {
	layout
	text      []byte // of the current cell
	separator byte
	eol       string
}

// csvText is a separatedWriter that writes lines of the service.
type csvText struct{ *separatedWriter }

func (p csvText) Text(lines []byte) error {
	_, err := p.out.Write(lines)
	return err
}

func newCSV(l layout) RowWriter {
	p := &separatedWriter{layout: l, separator: ',', eol: "\n"}
	switch {
	case l.excel:
		p.eol = "\r\n"
	case l.null == "":
		return csvText{p}
	}
	return p
}

func newTSV(l layout) RowWriter { return &separatedWriter{layout: l, separator: '\t', eol: "\n"} }

func (p *separatedWriter) Begin() error {
	line := p.out.AvailableBuffer()
	if p.excel {
		line = append(line, "\ufeff"...)
	}
	for i, name := range p.names {
		if i > 0 {
			line = append(line, p.separator)
		}
		if p.separator == ',' {
			line = appendCSV(line, []byte(name))
		} else {
			line = appendTSV(line, []byte(name))
		}
	}
	_, err := p.out.Write(append(line, p.eol...))
	return err
}

func (p *separatedWriter) Row(r client.Row) error {
	p.values = r.Values(p.values[:0], p.names)
	line := p.out.AvailableBuffer()
	for i, v := range p.values {
		if i > 0 {
			line = append(line, p.separator)
		}
		line = p.cell(line, v, p.columns[i].Type)
	}
	if len(line) == 0 && p.separator == ',' {
		line = append(line, `""`...) // an empty line would not count as a row
	}
	_, err := p.out.Write(append(line, p.eol...))
	return err
}

func (p *separatedWriter) End() error { return nil }

// cell appends a value; numbers keep their digits. In CSV, a text equal to --null is
// quoted, to distinguish it from a null.
func (p *separatedWriter) cell(line []byte, v client.Value, t record.Type) []byte {
	if v.Null() {
		return append(line, p.null...)
	}
	if c := v[0]; c != '"' && c != '{' && c != '[' {
		return append(line, v...) // a number or a bool
	}
	p.text = v.AppendCell(p.text[:0], t)
	if p.separator == '\t' {
		return appendTSV(line, p.text)
	}
	if p.excel && v[0] == '"' && formula(p.text) {
		p.text = append([]byte{'\''}, p.text...)
	}
	if p.null != "" && string(p.text) == p.null {
		return appendQuoted(line, p.text) // not a null
	}
	return appendCSV(line, p.text)
}

// formula reports whether a spreadsheet would treat the text as a formula.
func formula(text []byte) bool {
	return len(text) > 0 && bytes.IndexByte([]byte("=+-@\t\r"), text[0]) >= 0
}

// special has the bytes that require quotes.
var special = [256]bool{',': true, '"': true, '\n': true, '\r': true}

// appendCSV appends a cell, in quotes if needed.
func appendCSV(line, text []byte) []byte {
	for _, c := range text {
		if special[c] {
			return appendQuoted(line, text)
		}
	}
	return append(line, text...)
}

// appendQuoted appends a cell in quotes and doubles the quotes inside.
func appendQuoted(line, text []byte) []byte {
	line = append(line, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(append(line, text...), '"')
		}
		line = append(append(line, text[:i]...), `""`...)
		text = text[i+1:]
	}
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
