package encode

import (
	"cmp"

	"github.com/bizhook/whd/client/csv"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// csvEscapes has the quoting of texts: the characters that require quotes, and their form inside
// quotes. NUL becomes U+FFFD, as all control characters do in XML: many readers end a text or a file at
// it, or take the file for a binary one.
var csvEscapes = newEscapes(noEscape, map[byte]string{
	'"': `""`, ',': ",", '\r': "\r", '\n': "\n", 0: "\ufffd",
})

// Nested JSON is written as a quoted JSON text, which CSV readers can pass to a JSON
// parser.
var csvValues = values{text: csvEscapes.quoted, bool: appendTitleBool}

// csvWriter has the options of CSV. Without guard, texts that a spreadsheet reads as a
// formula are not changed: that would change the data for all other readers.
type csvWriter struct{ bom, guard bool }

// begin appends the byte order mark.
func (w csvWriter) begin(dst []byte) []byte {
	if w.bom {
		return append(dst, "\ufeff"...)
	}
	return dst
}

// guardText returns a text with the guard before it if it is a formula.
func (w csvWriter) guardText(text string) string {
	if !w.guard {
		return text
	}
	return string(guarded([]byte("'" + text)))
}

// guarded returns a text that starts with the guard, an apostrophe, without it unless the text is a
// formula.
func guarded(text []byte) []byte {
	if csv.IsFormula(text[1:]) {
		return text
	}
	return text[1:]
}

// csvNumbers has a bit for each type with values that are numbers or booleans in a cell.
const csvNumbers = 1<<record.Int | 1<<record.Short | 1<<record.Byte | 1<<record.Long |
	1<<record.Decimal | 1<<record.Double | 1<<record.Bool

// isCSVText reports whether the cell of a value is a text, which may be a formula.
func isCSVText(t record.Type, cell *row.Cell) bool {
	switch {
	case cell.Misfit || csvNumbers>>t&1 == 0:
		return true
	case t == record.Decimal:
		return !isJSONNumber(cell.Data)
	case t == record.Double:
		return !isFinite(cell.Data)
	}
	return false
}

// appendGuarded appends a text, with the guard if it may be a formula.
func (e *csvRows) appendGuarded(dst []byte, t record.Type, cell *row.Cell) []byte {
	e.text = append(e.text[:0], '\'')
	e.text = csvTexts.append(e.text, t, cell)
	return csvEscapes.quoted(dst, guarded(e.text))
}

// csvTexts writes values without quotes.
var csvTexts = values{text: appendText, bool: appendTitleBool}

// appendText appends a text unchanged.
func appendText(dst, text []byte) []byte { return append(dst, text...) }

// csvRows writes rows as in RFC 4180: a header line, CRLF, no envelope.
type csvRows struct {
	csvWriter
	columns []Column
	text    []byte // text of the current cell
}

func (w csvWriter) rows(s Shape) Encoder { return &csvRows{csvWriter: w, columns: s.Columns} }

// Begin writes the header line.
func (e *csvRows) Begin(dst []byte, _ Head) []byte {
	dst = e.begin(dst)
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.Name
	}
	return appendCSVHeader(dst, names)
}

// Row writes one line.
func (e *csvRows) Row(dst []byte, cells []row.Cell) []byte {
	start := len(dst)
	cells = cells[:len(e.columns)]
	for i := range e.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		t := e.columns[i].Type
		cell := &cells[i]
		switch {
		case cell.Null: // an empty cell
		case e.guard && isCSVText(t, cell):
			dst = e.appendGuarded(dst, t, cell)
		case plainTexts>>t&1 == 1 && isPlain(cell.Data):
			dst = append(dst, cell.Data...)
		default:
			dst = csvValues.append(dst, t, cell)
		}
	}
	return endCSVLine(dst, start)
}

// End appends nothing.
func (e *csvRows) End(dst []byte, _ Tail) []byte { return dst }

// appendTitleBool appends True or False, the CSV and JSV form of booleans.
func appendTitleBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "True"...)
	}
	return append(dst, "False"...)
}

// document writes no header line for an empty list, since the member names are
// only known from the items.
func (w csvWriter) document(dst []byte, _ string, text []byte) ([]byte, error) {
	dst = w.begin(dst)
	t, err := newTable(text)
	if err != nil || len(t.names) == 0 {
		return dst, err
	}
	header := make([]string, len(t.names))
	for i, name := range t.names {
		header[i] = w.guardText(name)
	}
	dst = appendCSVHeader(dst, header)
	for i := range t.rows {
		values := t.values(i)
		for j, name := range t.names {
			value := t.rows[i][name]
			isText := len(value) > 0 && value[0] == '"'
			if isText {
				values[j] = w.guardText(values[j])
			}
		}
		dst = appendCSVLine(dst, values)
	}
	return dst, nil
}

// failure writes the error as rows, so that CSV clients can read it.
func (w csvWriter) failure(dst []byte, s wire.ResponseStatus) []byte {
	dst = w.begin(dst)
	dst = appendCSVLine(dst, []string{"ErrorCode", "Message", "FieldName"})
	failed := s.Errors
	if len(failed) == 0 {
		failed = []wire.FieldError{{ErrorCode: s.ErrorCode, Message: s.Message}}
	}
	for _, e := range failed {
		dst = appendCSVLine(dst, []string{
			w.guardText(cmp.Or(e.ErrorCode, s.ErrorCode)),
			w.guardText(e.Message),
			w.guardText(e.FieldName),
		})
	}
	return dst
}

// appendCSVHeader appends the line of the names of columns.
func appendCSVHeader(dst []byte, names []string) []byte {
	start := len(dst)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		cell := csvEscapes.quoted(nil, []byte(name))
		if i == 0 && csv.IsSYLK(name) && cell[0] != '"' {
			cell = csv.AppendQuoted(nil, cell)
		}
		dst = append(dst, cell...)
	}
	return endCSVLine(dst, start)
}

// appendCSVLine appends a line of text values.
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

// endCSVLine ends the line that starts at start. An empty line, which is an empty
// value of a single column, becomes "", because many readers skip empty lines and
// would lose the row.
func endCSVLine(dst []byte, start int) []byte {
	if len(dst) == start {
		dst = append(dst, `""`...)
	}
	return append(dst, "\r\n"...)
}
