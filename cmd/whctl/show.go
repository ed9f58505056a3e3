package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bizhook/whd/client"
)

// Lines prints what no service sent, or not as rows, in the format that is asked
// for, which it gives.
func (p *Printer) Lines(columns []Column, lines [][]any) (Format, error) {
	return p.Rows(columns, func(yield func(client.Row, error) bool) {
		for _, line := range lines {
			if row, err := rowOf(columns, line); !yield(row, err) || err != nil {
				return
			}
		}
	})
}

// rowOf makes a row as if the service had sent it: nulls are left out.
func rowOf(columns []Column, line []any) (client.Row, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	separator := byte('{')
	for i, value := range line {
		if value == nil {
			continue
		}
		fmt.Fprintf(&text, "%c%q:", separator, columns[i].Name)
		if err := encoder.Encode(value); err != nil {
			return client.Row{}, err
		}
		text.Truncate(text.Len() - 1) // the encoder's line end
		separator = ','
	}
	if separator == '{' {
		text.WriteByte('{')
	}
	text.WriteByte('}')
	return client.ParseRow(text.Bytes())
}
