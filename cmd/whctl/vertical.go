package main

import (
	"bytes"
	"strings"

	"github.com/bizhook/whd/client"
)

// verticalPrinter writes a line for each field, and an empty one between rows.
// Nothing is cut short.
type verticalPrinter struct {
	layout
	values []client.Value
	width  int // of the names
	rows   int
}

func newVertical(l layout) printer { return &verticalPrinter{layout: l} }

func (p *verticalPrinter) begin() error {
	p.width = 0
	for _, name := range p.names {
		p.width = max(p.width, cellWidth(name))
	}
	return nil
}

func (p *verticalPrinter) row(r client.Row) error {
	p.values = r.Values(p.values[:0], p.names)
	cells := make([]string, len(p.values))
	for i, v := range p.values {
		cells[i] = p.cell(v, p.columns[i].typ)
	}
	return p.cells(cells)
}

func (p *verticalPrinter) end() error { return nil }

// cells writes a row whose values are text already.
func (p *verticalPrinter) cells(cells []string) error {
	var text []byte
	if p.rows++; p.rows > 1 {
		text = append(text, '\n')
	}
	for i, name := range p.names {
		line := name + strings.Repeat(" ", p.width-cellWidth(name)+tableGap) + cells[i]
		text = append(append(text, bytes.TrimRight([]byte(line), " ")...), '\n')
	}
	_, err := p.out.Write(text)
	return err
}
