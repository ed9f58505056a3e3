package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

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

// shortID is the ends of an id.
func shortID(id string) string {
	if len(id) <= 10 {
		return id
	}
	return id[:4] + ".." + id[len(id)-4:]
}

// Shortened is rows with only the ends of some fields.
func Shortened(rows iter.Seq2[client.Row, error], fields []string) iter.Seq2[client.Row, error] {
	if len(fields) == 0 {
		return rows
	}
	return func(yield func(client.Row, error) bool) {
		for row, err := range rows {
			if err == nil {
				row, err = ShortenedRow(row, fields)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// ShortenedRow is a row with only the ends of some fields.
func ShortenedRow(row client.Row, fields []string) (client.Row, error) {
	text := []byte{'{'}
	for name, value := range row.All() {
		if len(text) > 1 {
			text = append(text, ',')
		}
		if slices.Contains(fields, name) && !value.Null() {
			value = fmt.Appendf(nil, "%q", shortID(value.String()))
		}
		if value.Null() {
			value = []byte("null")
		}
		text = append(fmt.Appendf(text, "%q:", name), value...)
	}
	return client.ParseRow(append(text, '}'))
}

// Documents prints documents of the service. Of those of a kind the columns are
// its fields; JSON has all that they hold. Of keys, a screen shows the ends only.
func Documents[T any](p *Printer, columns []Column, keys []string, documents ...T) error {
	f, err := p.Format()
	if err != nil {
		return err
	}
	var rows []client.Row
	for _, document := range documents {
		row, err := DocumentRow(document)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	_, err = p.Rows(columns, Shortened(Each(rows), p.HiddenKeys(f, keys)))
	return err
}

// DocumentRow is a document as a row.
func DocumentRow(document any) (client.Row, error) {
	text, err := DocumentText(document)
	if err != nil {
		return client.Row{}, err
	}
	return client.ParseRow(text)
}

// DocumentText is a document as JSON, as the service would write it.
func DocumentText(document any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(document)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Each makes a stream of rows that are all here.
func Each(rows []client.Row) iter.Seq2[client.Row, error] {
	return func(yield func(client.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Made prints the id of something that was made, or with --json all of it.
func (p *Printer) Made(id string, document any) error {
	text := []byte(id)
	if p.Context.Bool("json") {
		var err error
		if text, err = DocumentText(document); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}
