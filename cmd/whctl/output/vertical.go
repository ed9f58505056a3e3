package output

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client"
)

// verticalWriter writes a line for each field and an empty line between rows. It
// does not truncate.
type verticalWriter struct {
	layout
	width int // of the names
	rows  int
}

func newVertical(l layout) RowWriter { return &verticalWriter{layout: l} }

func (p *verticalWriter) Begin() error {
	p.width = 0
	for _, name := range p.names {
		p.width = max(p.width, ansi.StringWidthWc(name))
	}
	return nil
}

func (p *verticalWriter) Row(r client.Row) error {
	return p.cells(p.cellsOf(r))
}

func (p *verticalWriter) End() error { return nil }

// cells writes a row of texts.
func (p *verticalWriter) cells(cells []string) error {
	var text []byte
	if p.rows++; p.rows > 1 {
		text = append(text, '\n')
	}
	for i, name := range p.names {
		line := name + strings.Repeat(" ", p.width-ansi.StringWidthWc(name)+tableGap) + cells[i]
		text = append(append(text, bytes.TrimRight([]byte(line), " ")...), '\n')
	}
	_, err := p.out.Write(text)
	return err
}
