package output

import "github.com/bizhook/whd/client"

// tsvWriter writes cells separated by tabs, without quotes.
type tsvWriter struct {
	layout
	values []client.Value
	text   []byte // of one cell
}

// newTSV makes the printer; see appendTSV for what cells look like.
func newTSV(l layout) RowWriter { return &tsvWriter{layout: l} }

func (p *tsvWriter) Begin() error {
	line := p.out.AvailableBuffer()
	for i, name := range p.names {
		line = appendTSV(tab(line, i), []byte(name))
	}
	_, err := p.out.Write(append(line, '\n'))
	return err
}

func (p *tsvWriter) Row(r client.Row) error {
	p.values = r.Values(p.values[:0], p.names)
	line := p.out.AvailableBuffer()
	for i, v := range p.values {
		line = tab(line, i)
		if v.Null() {
			line = append(line, p.null...)
			continue
		}
		p.text = v.AppendCell(p.text[:0], p.columns[i].Type)
		line = appendTSV(line, p.text)
	}
	_, err := p.out.Write(append(line, '\n'))
	return err
}

func (p *tsvWriter) End() error { return nil }

func tab(line []byte, i int) []byte {
	if i > 0 {
		return append(line, '\t')
	}
	return line
}

// appendTSV appends a cell; what would end it is escaped with a backslash.
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
