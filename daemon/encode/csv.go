package encode

import (
	"cmp"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// csvEscapes lists what makes a value need quotes, and how it stands inside
// them. Values are not guarded against spreadsheets that take a leading "=" for
// a formula: that would change the data for every other reader.
var csvEscapes = newEscapes(never, map[byte]string{'"': `""`, ',': ",", '\r': "\r", '\n': "\n"})

// Nested JSON stays JSON, in quotes, since every reader of CSV can hand it to a
// reader of JSON.
var csvValues = values{text: csvEscapes.quoted, bool: appendTitleBool}

// csvRows writes rows as RFC 4180 has them: a header line, CRLF, no envelope.
type csvRows struct {
	columns []Column
}

func newCSV(s Shape) Encoder { return csvRows{s.Columns} }

// Begin writes the header line.
func (e csvRows) Begin(dst []byte, _ Head) []byte {
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.Name
	}
	return appendCSVLine(dst, names)
}

// Row writes one line.
func (e csvRows) Row(dst []byte, cells []row.Cell) []byte {
	start := len(dst)
	cells = cells[:len(e.columns)]
	for i := range e.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !cells[i].Null {
			dst = csvValues.append(dst, e.columns[i].Type, &cells[i])
		}
	}
	return endCSVLine(dst, start)
}

// End writes nothing.
func (e csvRows) End(dst []byte, _ Tail) []byte { return dst }

// appendTitleBool writes True or False, as CSV and JSV have them.
func appendTitleBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "True"...)
	}
	return append(dst, "False"...)
}

// documentCSV has no header line for an empty list: the names of its members
// are known from its items alone.
func documentCSV(dst []byte, _ string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	if err != nil || len(t.names) == 0 {
		return dst, err
	}
	dst = appendCSVLine(dst, t.names)
	for i := range t.rows {
		dst = appendCSVLine(dst, t.values(i))
	}
	return dst, nil
}

// failureCSV says why in rows, since a client of CSV reads nothing else.
func failureCSV(dst []byte, s wire.ResponseStatus) []byte {
	dst = appendCSVLine(dst, []string{"ErrorCode", "Message", "FieldName"})
	if len(s.Errors) == 0 {
		return appendCSVLine(dst, []string{s.ErrorCode, s.Message, ""})
	}
	for _, e := range s.Errors {
		dst = appendCSVLine(dst, []string{cmp.Or(e.ErrorCode, s.ErrorCode), e.Message, e.FieldName})
	}
	return dst
}

// appendCSVLine writes a line of texts.
func appendCSVLine(dst []byte, values []string) []byte {
	start := len(dst)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = csvEscapes.quoted(dst, []byte(v))
	}
	return endCSVLine(dst, start)
}

// endCSVLine ends the line that begins at start. An empty one is the empty
// value of an only column; many readers would skip it and lose the row.
func endCSVLine(dst []byte, start int) []byte {
	if len(dst) == start {
		dst = append(dst, `""`...)
	}
	return append(dst, "\r\n"...)
}
