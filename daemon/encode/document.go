package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// items splits an array. Any other value is returned as the only item. text is one valid JSON value
// without white space around it, and so are the items.
func items(text []byte) ([]json.RawMessage, error) {
	if text[0] != '[' {
		return []json.RawMessage{text}, nil
	}
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	return list, err
}

// table is a document as rows and columns, for formats without nested structure.
// Nested values are JSON texts in their cells.
type table struct {
	names []string
	rows  []map[string]json.RawMessage
}

// Limits of a table. A small document may exceed them, since each of its items may have other
// names.
const (
	maxColumns = 16_384
	maxCells   = 1_000_000
)

// ErrTableSize is the error of a document that exceeds the limits.
var ErrTableSize = fmt.Errorf("a table holds at most %d columns and %d cells; use json", maxColumns, maxCells)

// newTable reads the items of a document. Members that only some items have become
// columns too, in the order in which names first appear.
func newTable(text []byte) (table, error) {
	var t table
	list, err := items(text)
	if err != nil {
		return t, err
	}
	isColumn := make(map[string]bool)
	for _, item := range list {
		cells := make(map[string]json.RawMessage)
		names, err := members(item, cells)
		if err != nil {
			return t, err
		}
		for _, name := range names {
			if !isColumn[name] {
				isColumn[name] = true
				t.names = append(t.names, name)
			}
		}
		if len(t.names) > maxColumns || len(t.names)*len(list) > maxCells {
			return t, ErrTableSize
		}
		t.rows = append(t.rows, cells)
	}
	return t, nil
}

// values returns the texts of one row in the order of the names.
func (t table) values(row int) []string {
	values := make([]string, len(t.names))
	for i, name := range t.names {
		if value := t.rows[row][name]; value != nil {
			values[i] = cellText(value)
		}
	}
	return values
}

// pairs returns one row as pairs of names and values.
func (t table) pairs(row int) []Pair {
	pairs := make([]Pair, len(t.names))
	for i, value := range t.values(row) {
		pairs[i] = Pair{Name: t.names[i], Value: value}
	}
	return pairs
}

// members reads an object into cells and returns its names in order. A value that is
// not an object becomes the member Value.
func members(item json.RawMessage, cells map[string]json.RawMessage) ([]string, error) {
	if item[0] != '{' {
		cells["Value"] = item
		return []string{"Value"}, nil
	}
	tokens := json.NewDecoder(bytes.NewReader(item))
	if _, err := tokens.Token(); err != nil {
		return nil, err
	}
	var names []string
	for tokens.More() {
		token, err := tokens.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // the decoder returns only string tokens here
		var value json.RawMessage
		if err := tokens.Decode(&value); err != nil {
			return nil, err
		}
		names = append(names, name)
		cells[name] = value
	}
	return names, nil
}

// cellText returns a value in its CSV form.
func cellText(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return string(unquote(value))
	case 't', 'f':
		return string(appendTitleBool(nil, value[0] == 't'))
	case 'n':
		return ""
	}
	return string(value)
}
