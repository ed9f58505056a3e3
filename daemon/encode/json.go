package encode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// jsonEscapes escapes the characters required by JSON, U+2028 and U+2029: older JavaScript
// parsers, which read JSONP, treat them as line ends.
var jsonEscapes = newEscapes(jsonWide, jsonASCII())

// jsonASCII returns the escapes of ASCII characters.
func jsonASCII() map[byte]string {
	ascii := make(map[byte]string)
	for c := range byte(0x20) {
		ascii[c] = fmt.Sprintf(`\u%04x`, c)
	}
	ascii['\b'] = `\b`
	ascii['\f'] = `\f`
	ascii['\n'] = `\n`
	ascii['\r'] = `\r`
	ascii['\t'] = `\t`
	ascii['"'] = `\"`
	ascii['\\'] = `\\`
	return ascii
}

// jsonWide returns the escape of a character beyond ASCII.
func jsonWide(r rune) string {
	switch r {
	case '\u2028':
		return `\u2028`
	case '\u2029':
		return `\u2029`
	}
	return ""
}

func appendJSONString(dst, text []byte) []byte {
	dst = append(dst, '"')
	dst = jsonEscapes.append(dst, text)
	return append(dst, '"')
}

// appendJSONValue appends any value but a decimal that is a valid number. Invalid
// numbers, which stores should not contain, are quoted so that the response stays
// valid.
func appendJSONValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	if cell.Misfit {
		return appendJSONString(dst, cell.Data)
	}
	switch t {
	case record.Text, record.DateTime, record.Guid, record.Decimal:
		return appendJSONString(dst, cell.Data)
	case record.Double:
		if isJSONDouble(cell) {
			return append(dst, cell.Data...)
		}
		return appendJSONString(dst, cell.Data)
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.AppendInt(dst, cell.Int, 10)
	case record.TimeSpan:
		dst = append(dst, '"')
		dst = wire.AppendTimeSpan(dst, cell.Int)
		return append(dst, '"')
	case record.Epoch:
		return appendEpoch(dst, cell.Data)
	case record.Bool:
		return strconv.AppendBool(dst, cell.Int != 0)
	case record.Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, cell.Data)
		return append(dst, '"')
	case record.Dictionary, record.Object:
		return appendJSONText(dst, cell.Data)
	}
	panic(unhandled(t))
}

// isJSONDouble reports whether a double is a number in JSON. Infinite ones are not, nor are
// numbers that are stored as texts such as 007.
func isJSONDouble(cell *row.Cell) bool {
	if cell.Class == row.Text {
		return isJSONNumber(cell.Data)
	}
	return isFinite(cell.Data)
}

// isFinite reports whether the text of a double is that of a number: infinite ones end with a letter.
func isFinite(text []byte) bool {
	n := len(text)
	return n > 0 && text[n-1] <= '9'
}

// appendEpoch appends a date of the webhook resources. Text that is not a date,
// which stores should not contain, is appended unchanged.
func appendEpoch(dst, date []byte) []byte {
	if quoted, ok := wire.AppendEpoch(append(dst, '"'), date); ok {
		return append(quoted, '"')
	}
	return appendJSONString(dst, date)
}

// jsonOneLine replaces line breaks in text that is already JSON. They can only occur
// between tokens, where a space is equivalent and does not break NDJSON.
var jsonOneLine = newEscapes(jsonWide, map[byte]string{'\n': " ", '\r': " "})

// appendJSONText appends text that is JSON. Text that is not JSON is quoted.
func appendJSONText(dst, text []byte) []byte {
	if !json.Valid(text) {
		return appendJSONString(dst, text)
	}
	return jsonOneLine.append(dst, text)
}

// newJSONObject returns the writer of the rows of JSON and NDJSON.
func newJSONObject(s Shape) object {
	value := appendJSONValue
	if s.ISODates {
		value = appendISOValue
	}
	return newObject(s, appendJSONString, "null", value)
}

// appendISOValue is appendJSONValue with the dates of webhooks in ISO 8601, in UTC.
func appendISOValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	if t != record.Epoch || cell.Misfit || len(cell.Data) != len(wire.DateLayout) {
		return appendJSONValue(dst, t, cell)
	}
	dst = append(dst, '"')
	dst = append(dst, cell.Data...)
	return append(dst, 'Z', '"')
}

var jsonEnvelope = envelopeParts{
	offset:  `{"Offset":`,
	results: `,"Results":[`,
	total:   `],"Total":`,
	meta:    `,"Meta":{`,
	end:     `},"ResponseStatus":{}}`,
	name:    appendJSONString,
	text:    appendJSONString,
}

var jsonCamelEnvelope = envelopeParts{
	offset:  `{"offset":`,
	results: `,"results":[`,
	total:   `],"total":`,
	meta:    `,"meta":{`,
	end:     `},"responseStatus":{}}`,
	name:    appendJSONString,
	text:    appendJSONString,
}

func newJSON(s Shape) Encoder {
	parts := &jsonEnvelope
	if s.CamelCase {
		parts = &jsonCamelEnvelope
	}
	return &envelopeRows{envelopeParts: parts, object: newJSONObject(s)}
}

// ndjsonRows writes one JSON object per line, without an envelope: offset and total
// are sent as headers.
type ndjsonRows struct {
	object object
}

func newNDJSON(s Shape) Encoder { return &ndjsonRows{newJSONObject(s)} }

// Begin appends nothing.
func (e *ndjsonRows) Begin(dst []byte, _ Head) []byte { return dst }

// Row appends one line.
func (e *ndjsonRows) Row(dst []byte, cells []row.Cell) []byte {
	return append(e.object.append(dst, cells), '\n')
}

// End appends nothing.
func (e *ndjsonRows) End(dst []byte, _ Tail) []byte { return dst }

// documentJSON appends a document unchanged.
func documentJSON(dst []byte, _ string, text []byte) ([]byte, error) {
	return append(dst, text...), nil
}

// documentNDJSON appends one line for each item of a document.
func documentNDJSON(dst []byte, _ string, text []byte) ([]byte, error) {
	lines, err := items(text)
	for _, line := range lines {
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst, err
}

// AppendJSONText appends a text as a JSON string.
func AppendJSONText(dst []byte, text string) []byte { return appendJSONString(dst, []byte(text)) }

// JSONObject writes rows as JSON objects. The function of NewJSONObject writes values other
// than null and valid decimals.
type JSONObject struct{ object object }

// NewJSONObject returns a writer of rows of a shape.
func NewJSONObject(s Shape, value func(dst []byte, t record.Type, cell *row.Cell) []byte) JSONObject {
	return JSONObject{newObject(s, appendJSONString, "null", value)}
}

// Append appends one row.
func (o *JSONObject) Append(dst []byte, cells []row.Cell) []byte { return o.object.append(dst, cells) }

// AppendJSON appends a value as in the rows of JSON; null for none.
func AppendJSON(dst []byte, t record.Type, cell row.Cell) []byte {
	if cell.Null {
		return append(dst, "null"...)
	}
	if t == record.Decimal && !cell.Misfit && isJSONNumber(cell.Data) {
		return append(dst, cell.Data...)
	}
	return appendJSONValue(dst, t, &cell)
}
