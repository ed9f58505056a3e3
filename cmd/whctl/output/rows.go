package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// Lines prints values that are not rows of the service and returns the format that
// was used.
func (p *Printer) Lines(columns []Column, lines [][]any) (Format, error) {
	return p.Rows(Table{Columns: columns}, func(yield func(client.Row, error) bool) {
		for _, line := range lines {
			row, err := LineRow(columns, line)
			if !yield(row, err) || err != nil {
				return
			}
		}
	})
}

// LineRow returns a row in the form that the service sends, without nulls.
func LineRow(columns []Column, line []any) (client.Row, error) {
	text := []byte{'{'}
	for i, value := range line {
		if value == nil {
			continue
		}
		encoded, err := DocumentText(value)
		if err != nil {
			return client.Row{}, err
		}
		text = appendMember(text, columns[i].Name, encoded)
	}
	return client.ParseRow(append(text, '}'))
}

// appendMember appends a member to the start of an object.
func appendMember(text []byte, name string, value []byte) []byte {
	if len(text) > 1 {
		text = append(text, ',')
	}
	return fmt.Appendf(text, "%q:%s", name, value)
}

// Documents prints documents of the service as rows. JSON has all their members,
// other formats the columns.
func Documents[T any](p *Printer, t Table, documents ...T) error {
	var rows []client.Row
	for _, document := range documents {
		row, err := DocumentRow(document)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	_, err := p.Rows(t, Each(rows))
	return err
}

// DocumentRow returns a document as a row.
func DocumentRow(document any) (client.Row, error) {
	text, err := DocumentText(document)
	if err != nil {
		return client.Row{}, err
	}
	return client.ParseRow(text)
}

// DocumentText encodes a document as JSON, without HTML escapes, as the service
// does in NDJSON: with dates in ISO 8601.
func DocumentText(document any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(document)
	return wire.ISODates(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), err
}

// Each returns an iterator over rows.
func Each(rows []client.Row) iter.Seq2[client.Row, error] {
	return func(yield func(client.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Created prints the ID of a new object, or with --json the object.
func (p *Printer) Created(id string, document any) error {
	if !p.Context.Bool("json") {
		_, err := fmt.Fprintln(p.Stdout, id)
		return err
	}
	text, err := DocumentText(document)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}
