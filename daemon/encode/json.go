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

// jsonEscapes escapes no more than JSON demands, and the two line separators,
// since older readers of JavaScript, and so of JSONP, end a line at them.
var jsonEscapes = newEscapes(jsonWide, jsonASCII())

func jsonASCII() map[byte]string {
	ascii := make(map[byte]string)
	for c := range byte(0x20) {
		ascii[c] = fmt.Sprintf(`\u%04x`, c)
	}
	ascii['\b'], ascii['\f'], ascii['\n'], ascii['\r'], ascii['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	ascii['"'], ascii['\\'] = `\"`, `\\`
	return ascii
}

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

// jsonObject writes rows as JSON objects.
type jsonObject []member

func newJSONObject(s Shape) jsonObject { return newMembers(s, appendJSONString, "null") }

// append writes one row. Every member brings its comma; the first one then
// gives its place to the brace, so no member needs to know whether it is first.
// Decimals, which most cells of most records are, do not pay for a call.
func (o jsonObject) append(dst []byte, cells []row.Cell) []byte {
	start := len(dst)
	cells = cells[:len(o)]
	for i := range o {
		m, cell := &o[i], &cells[i]
		if cell.Null {
			dst = append(dst, m.null...)
			continue
		}
		dst = append(dst, m.prefix...)
		if m.typ == record.Decimal && isJSONNumber(cell.Data) {
			dst = append(dst, cell.Data...)
			continue
		}
		dst = appendJSONValue(dst, m.typ, cell)
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

// appendJSONValue writes any value but a decimal that is a number. One that is
// none, which no column should hold, is quoted rather than let it spoil the
// whole reply.
func appendJSONValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	switch t {
	case record.Text, record.DateTime, record.Guid, record.Decimal:
		return appendJSONString(dst, cell.Data)
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.AppendInt(dst, cell.Int, 10)
	case record.TimeSpan:
		return append(wire.AppendTimeSpan(append(dst, '"'), cell.Int), '"')
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

// appendEpoch writes a date of the webhook resources. Text that is no date, which
// no column should hold, stands as it is.
func appendEpoch(dst, date []byte) []byte {
	if quoted, ok := wire.AppendEpoch(append(dst, '"'), date); ok {
		return append(quoted, '"')
	}
	return appendJSONString(dst, date)
}

// unhandled is what an encoder has to say of a type that it was not taught. A
// test walks through all types, so nobody should ever read it.
func unhandled(t record.Type) string { return "encode: no encoding for type " + t.String() }

// isJSONNumber reports whether text is a JSON number without an exponent,
// which is how decimals are held. It counts first and looks at the ends then,
// since a branch at every digit would cost more than the rest of the value.
func isJSONNumber(text []byte) bool {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	points := 0
	for _, c := range text {
		points += numberParts[c]
	}
	if points > 1 || len(text) == 0 {
		return false
	}
	first, last := text[0], text[len(text)-1]
	if first == '0' && len(text) > 1 {
		return text[1] == '.' && last != '.'
	}
	return first != '.' && last != '.'
}

// numberParts is 0 for digits, 1 for the point, of which there may be one, and
// too much for everything else.
var numberParts = newNumberParts()

func newNumberParts() (parts [256]int) {
	for c := range parts {
		if c < '0' || c > '9' {
			parts[c] = 2
		}
	}
	parts['.'] = 1
	return parts
}

// jsonOneLine is for text that is JSON already: a line break can only stand
// between its tokens, where a space does as well and does not break NDJSON.
var jsonOneLine = newEscapes(jsonWide, map[byte]string{'\n': " ", '\r': " "})

// appendJSONText writes text that is JSON itself. What is not JSON is quoted.
func appendJSONText(dst, text []byte) []byte {
	if !json.Valid(text) {
		return appendJSONString(dst, text)
	}
	return jsonOneLine.append(dst, text)
}

// jsonRows is the envelope with its rows.
type jsonRows struct {
	object jsonObject
	comma  string // before the next row
}

func newJSON(s Shape) Encoder { return &jsonRows{object: newJSONObject(s)} }

// Begin opens the envelope.
func (e *jsonRows) Begin(dst []byte, h Head) []byte {
	dst = append(dst, `{"Offset":`...)
	dst = strconv.AppendInt(dst, h.Offset, 10)
	return append(dst, `,"Results":[`...)
}

// Row writes one object.
func (e *jsonRows) Row(dst []byte, cells []row.Cell) []byte {
	dst = append(dst, e.comma...)
	e.comma = ","
	return e.object.append(dst, cells)
}

// End closes the envelope.
func (e *jsonRows) End(dst []byte, t Tail) []byte {
	dst = append(dst, `],"Total":`...)
	dst = strconv.AppendInt(dst, t.Total, 10)
	dst = append(dst, `,"Meta":{`...)
	for i, p := range t.Meta {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, []byte(p.Name))
		dst = append(dst, ':')
		dst = appendJSONString(dst, []byte(p.Value))
	}
	return append(dst, `},"ResponseStatus":{}}`...)
}

func documentJSON(dst []byte, _ string, text []byte) ([]byte, error) {
	return append(dst, text...), nil
}

// ndjsonRows writes one JSON object a line, for pipelines that read line by
// line. It has no envelope: offset and total travel as headers.
type ndjsonRows struct {
	object jsonObject
}

func newNDJSON(s Shape) Encoder { return ndjsonRows{newJSONObject(s)} }

// Begin writes nothing.
func (e ndjsonRows) Begin(dst []byte, _ Head) []byte { return dst }

// Row writes one line.
func (e ndjsonRows) Row(dst []byte, cells []row.Cell) []byte {
	return append(e.object.append(dst, cells), '\n')
}

// End writes nothing.
func (e ndjsonRows) End(dst []byte, _ Tail) []byte { return dst }

func documentNDJSON(dst []byte, _ string, text []byte) ([]byte, error) {
	lines, err := items(text)
	for _, line := range lines {
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst, err
}

// member is a column of a format that names every value, with the bytes that
// are the same in every row.
type member struct {
	prefix []byte // comma, name and colon
	null   []byte // instead of prefix and value
	typ    record.Type
}

// newMembers prepares the columns. The members share one buffer, since this
// runs for every request.
func newMembers(s Shape, appendName func(dst, name []byte) []byte, null string) []member {
	var shared, name []byte
	take := func(from int) []byte { return shared[from:len(shared):len(shared)] }
	members := make([]member, len(s.Columns))
	for i, c := range s.Columns {
		start := len(shared)
		shared = append(shared, ',')
		name = append(name[:0], c.Name...)
		shared = appendName(shared, name)
		shared = append(shared, ':')
		members[i] = member{prefix: take(start), typ: c.Type}
		if s.Nulls {
			start = len(shared)
			shared = append(shared, members[i].prefix...)
			shared = append(shared, null...)
			members[i].null = take(start)
		}
	}
	return members
}
