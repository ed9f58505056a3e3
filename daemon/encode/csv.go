package encode

import (
	"cmp"
	"encoding/base64"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// csvEscapes lists what makes a value need quotes, and how it stands inside
// them. Values are not guarded against spreadsheets that take a leading "=" for
// a formula: that would change the data for every other reader.
var csvEscapes = newEscapes(never, map[byte]string{'"': `""`, ',': ",", '\r': "\r", '\n': "\n"})

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
			dst = appendCSVValue(dst, e.columns[i].Type, &cells[i])
		}
	}
	return endCSVLine(dst, start)
}

// End writes nothing.
func (e csvRows) End(dst []byte, _ Tail) []byte { return dst }

// appendCSVValue writes a value. Nested JSON stays JSON, in quotes, since every
// reader of CSV can hand it to a reader of JSON.
func appendCSVValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	switch t {
	case record.Decimal, record.Text, record.DateTime, record.Epoch, record.Guid, record.Dictionary, record.Object:
		return csvEscapes.quoted(dst, cell.Data)
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.AppendInt(dst, cell.Int, 10)
	case record.TimeSpan:
		return wire.AppendTimeSpan(dst, cell.Int)
	case record.Bool:
		return appendTitleBool(dst, cell.Int != 0)
	case record.Bytes:
		return base64.StdEncoding.AppendEncode(dst, cell.Data)
	}
	panic(unhandled(t))
}

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
	line := make([]string, len(t.names))
	for _, cells := range t.rows {
		for i, name := range t.names {
			line[i] = cells[name]
		}
		dst = appendCSVLine(dst, line)
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
