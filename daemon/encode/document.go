package encode

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// items splits an array. Anything else is its own only item.
func items(text []byte) ([]json.RawMessage, error) {
	if text[0] != '[' {
		return []json.RawMessage{text}, nil
	}
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	return list, err
}

// table is a document as rows and columns, for the formats that have no other
// structure. What is nested deeper stands in its cell as JSON.
type table struct {
	names []string
	rows  []map[string]string
}

// newTable reads the items of a document. Members that are left out of some
// items still make one column, placed where the name first appears.
func newTable(text []byte) (table, error) {
	var t table
	list, err := items(text)
	known := make(map[string]bool)
	for _, item := range list {
		var names []string
		cells := make(map[string]string)
		if names, err = members(item, cells); err != nil {
			return t, err
		}
		for _, name := range names {
			if !known[name] {
				known[name] = true
				t.names = append(t.names, name)
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, err
}

// values is one row in the order of the names.
func (t table) values(row int) []string {
	values := make([]string, len(t.names))
	for i, name := range t.names {
		values[i] = t.rows[row][name]
	}
	return values
}

// facts is one row as names and values.
func (t table) facts(row int) []Pair {
	facts := make([]Pair, len(t.names))
	for i, value := range t.values(row) {
		facts[i] = Pair{t.names[i], value}
	}
	return facts
}

// members reads an object into cells and gives its names in order. What is no
// object is the member Value.
func members(item json.RawMessage, cells map[string]string) ([]string, error) {
	if item[0] != '{' {
		cells["Value"] = cellText(item)
		return []string{"Value"}, nil
	}
	tokens := json.NewDecoder(bytes.NewReader(item))
	if _, err := tokens.Token(); err != nil {
		return nil, err
	}
	var names []string
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := tokens.Decode(&value); err != nil {
			return nil, err
		}
		names = append(names, name.(string)) // the decoder hands out nothing else before a value
		cells[names[len(names)-1]] = cellText(value)
	}
	return names, nil
}

// cellText is a value as CSV has it. The dates of the webhook resources, which
// JSON writes in a notation of its own, become ordinary ones.
func cellText(value json.RawMessage) string {
	switch value[0] {
	case '"':
		text := string(unquote(value))
		if strings.HasPrefix(text, "/Date(") {
			if date, err := wire.ParseDate(text, time.UTC); err == nil {
				return date
			}
		}
		return text
	case 't', 'f':
		return string(appendTitleBool(nil, value[0] == 't'))
	case 'n':
		return ""
	}
	return string(value)
}
