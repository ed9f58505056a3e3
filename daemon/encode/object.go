package encode

import (
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// member is a column of a format that repeats the names in every row, with its
// constant bytes prepared.
type member struct {
	prefix []byte // comma, name and colon
	null   []byte // written instead of prefix and value for null
	typ    record.Type
}

// object writes rows as objects of names and values.
type object struct {
	members []member
	value   func(dst []byte, t record.Type, cell *row.Cell) []byte
}

// newObject prepares the columns. The members share one buffer, since this runs for
// every request.
func newObject(
	s Shape, appendName func(dst, name []byte) []byte, null string,
	value func([]byte, record.Type, *row.Cell) []byte,
) object {
	const usualName = 32 // bytes of a name with its quotes, comma and colon
	shared := make([]byte, 0, usualName*len(s.Columns))
	name := make([]byte, 0, usualName)
	since := func(start int) []byte { return shared[start:len(shared):len(shared)] }
	members := make([]member, len(s.Columns))
	for i, c := range s.Columns {
		start := len(shared)
		shared = append(shared, ',')
		name = append(name[:0], c.Name...)
		if s.CamelCase {
			toCamelCase(name)
		}
		shared = appendName(shared, name)
		shared = append(shared, ':')
		members[i] = member{prefix: since(start), typ: c.Type}
		if s.Nulls {
			start = len(shared)
			shared = append(shared, members[i].prefix...)
			shared = append(shared, null...)
			members[i].null = since(start)
		}
	}
	return object{members, value}
}

// append appends one row. Every member starts with a comma; the opening brace then
// replaces the first one, so members need not check whether they are first.
// Decimals, the most common cells, are appended inline to avoid a call.
func (o *object) append(dst []byte, cells []row.Cell) []byte {
	start := len(dst)
	cells = cells[:len(o.members)]
	for i := range o.members {
		m, cell := &o.members[i], &cells[i]
		if cell.Null {
			dst = append(dst, m.null...)
			continue
		}
		dst = append(dst, m.prefix...)
		if m.typ == record.Decimal && !cell.Misfit && isJSONNumber(cell.Data) {
			dst = append(dst, cell.Data...)
			continue
		}
		dst = o.value(dst, m.typ, cell)
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

// envelopeParts are the texts that JSON and JSV write around the rows, and the
// functions for names and texts.
type envelopeParts struct {
	offset, results, total, meta, end string

	name func(dst, name []byte) []byte
	text func(dst, text []byte) []byte
}

// envelopeRows writes the envelope of JSON and JSV with its rows as objects.
type envelopeRows struct {
	*envelopeParts
	object object
	comma  string // before the next row
}

// Begin appends the start of the envelope.
func (e *envelopeRows) Begin(dst []byte, h Head) []byte {
	dst = append(dst, e.offset...)
	dst = strconv.AppendInt(dst, h.Offset, 10)
	return append(dst, e.results...)
}

// Row appends one object.
func (e *envelopeRows) Row(dst []byte, cells []row.Cell) []byte {
	dst = append(dst, e.comma...)
	e.comma = ","
	return e.object.append(dst, cells)
}

// End appends the end of the envelope.
func (e *envelopeRows) End(dst []byte, t Tail) []byte {
	dst = append(dst, e.total...)
	dst = strconv.AppendInt(dst, t.Total, 10)
	dst = append(dst, e.meta...)
	for i, p := range t.Meta {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.name(dst, []byte(p.Name))
		dst = append(dst, ':')
		dst = e.text(dst, []byte(p.Value))
	}
	return append(dst, e.end...)
}

// IsNumber reports whether text is a decimal that JSON has as a number.
func IsNumber(text []byte) bool { return isJSONNumber(text) }

// isJSONNumber reports whether text is a JSON number without an exponent, which is
// the stored form of decimals. It counts characters first and checks both ends
// afterwards, because a branch at every digit would be slower.
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

// numberParts maps digits to 0, the decimal point to 1, and all other bytes to a
// value above the one point allowed.
var numberParts = func() (parts [256]int) {
	for c := range parts {
		if c < '0' || c > '9' {
			parts[c] = 2
		}
	}
	parts['.'] = 1
	return parts
}()
