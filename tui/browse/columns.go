package browse

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/ui"
)

// fieldColumns returns the columns of fields of a kind.
func fieldColumns(kind *record.Kind, fields []string, overrides map[string]grid.Column) []grid.Column {
	columns := make([]grid.Column, len(fields))
	for i, name := range fields {
		columns[i] = grid.FieldColumn(kind.Field(name))
		if override, ok := overrides[name]; ok {
			override.Name = name
			columns[i] = override
		}
	}
	return columns
}

// DefaultFields returns the fields of a kind without binary ones.
func DefaultFields(kind *record.Kind) []string {
	var fields []string
	for i, f := range kind.Fields {
		if i == 0 || f.Type != record.Bytes {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// gridRows converts records to grid rows. The ID of a row is the first field of the
// kind.
func gridRows(
	kind *record.Kind, fields []string, rows []client.Row,
	cell func(record.Type, client.Value) grid.Cell,
) []*grid.Row {
	types := make([]record.Type, len(fields))
	for i, name := range fields {
		types[i] = kind.Field(name).Type
	}
	shown := make([]*grid.Row, len(rows))
	var values []client.Value
	for i, row := range rows {
		values = row.Values(values[:0], fields)
		cells := make([]grid.Cell, len(values))
		for c, v := range values {
			cells[c] = cell(types[c], v)
		}
		shown[i] = &grid.Row{ID: export.RowID(row, kind.KeyName()), Cells: cells}
	}
	return shown
}

// cellOf formats a value for lists: decimals with digit grouping, dates without
// trailing zeros.
func cellOf(t record.Type, v client.Value) grid.Cell {
	if v.Null() {
		return grid.Cell{Null: true}
	}
	if t == record.TimeSpan {
		return grid.Cell{Text: ui.Milliseconds(v.String())}
	}
	text := valueText(t, v.String())
	isZero := t.Number() && strings.Trim(text, "-0.") == ""
	return grid.Cell{Text: text, Zero: isZero}
}

// valueText formats a value that is not null.
func valueText(t record.Type, text string) string {
	switch t {
	case record.Decimal:
		return display.Grouped(text)
	case record.DateTime:
		text = strings.Replace(text, "T", " ", 1)
		if strings.Contains(text, ".") {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		return strings.TrimSuffix(text, " 00:00:00")
	case record.Bytes:
		return ui.Size(len(text) * 3 / 4)
	}
	return text
}

// shortRow returns a copy of a row with long values truncated.
func shortRow(row client.Row) (short client.Row, cut bool) {
	if len(row.JSON()) <= maxCellBytes {
		return row.Clone(), false
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for name, value := range row.All() {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		key, _ := json.Marshal(name) // a text is always valid
		out.Write(key)
		out.WriteByte(':')
		if len(value) > maxCellBytes {
			value, _ = json.Marshal(truncate(value.String(), maxCellBytes))
			cut = true
		}
		out.Write(value)
	}
	out.WriteByte('}')
	short, err := client.ParseRow(out.Bytes())
	if err != nil {
		return row.Clone(), false
	}
	return short, cut
}

// truncate returns the start of text in at most limit bytes, without a part of a character.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// hasServiceTimes reports whether the dates of a kind are set by the service, and are
// therefore UTC.
func hasServiceTimes(kind *record.Kind) bool { return kind.Database != record.RecordsDB }
