package encode

import (
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// member is a column of a format that names every value, with the bytes that
// are the same in every row.
type member struct {
	prefix []byte // comma, name and colon
	null   []byte // instead of prefix and value
	typ    record.Type
}

// object writes rows as objects of names and values.
type object struct {
	members []member
	value   func(dst []byte, t record.Type, cell *row.Cell) []byte
}

// newObject prepares the columns. The members share one buffer, since this
// runs for every request.
func newObject(s Shape, appendName func(dst, name []byte) []byte, null string, value func([]byte, record.Type, *row.Cell) []byte) object {
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
	return object{members, value}
}

// append writes one row. Every member brings its comma; the first one then
// gives its place to the brace, so no member needs to know whether it is first.
// Decimals, which most cells of most records are, do not pay for a call.
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
		if m.typ == record.Decimal && isJSONNumber(cell.Data) {
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

// envelopeParts are what JSON and JSV write around the rows, and how names and
// texts stand in it.
type envelopeParts struct {
	offset, results, total, meta, end string

	name func(dst, name []byte) []byte
	text func(dst, text []byte) []byte
}

// envelopeRows is the envelope of JSON and JSV with its rows as objects.
type envelopeRows struct {
	*envelopeParts
	object object
	comma  string // before the next row
}

// Begin opens the envelope.
func (e *envelopeRows) Begin(dst []byte, h Head) []byte {
	dst = append(dst, e.offset...)
	dst = strconv.AppendInt(dst, h.Offset, 10)
	return append(dst, e.results...)
}

// Row writes one object.
func (e *envelopeRows) Row(dst []byte, cells []row.Cell) []byte {
	dst = append(dst, e.comma...)
	e.comma = ","
	return e.object.append(dst, cells)
}

// End closes the envelope.
func (e *envelopeRows) End(dst []byte, t Tail) []byte {
	dst = append(dst, e.total...)
	dst = strconv.AppendInt(dst, t.Total, 10)
	dst = append(dst, e.meta...)
	for i, p := range t.Meta {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(e.name(dst, []byte(p.Name)), ':')
		dst = e.text(dst, []byte(p.Value))
	}
	return append(dst, e.end...)
}

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
var numberParts = func() (parts [256]int) {
	for c := range parts {
		if c < '0' || c > '9' {
			parts[c] = 2
		}
	}
	parts['.'] = 1
	return parts
}()
