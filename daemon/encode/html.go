package encode

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// htmlRows is a page with the rows as a table. What is known only at the end,
// such as the number of rows, stands below it, so that rows can stream.
type htmlRows struct {
	shape  Shape
	offset int64
	rows   int64
}

func newHTML(s Shape) Encoder { return &htmlRows{shape: s} }

// Begin writes the page up to the first row.
func (e *htmlRows) Begin(dst []byte, h Head) []byte {
	e.offset = h.Offset
	dst = beginPage(dst, e.shape.Operation)
	dst = appendLinks(dst, e.shape.Links)
	dst = beginTable(dst, e.shape.Record+" records")
	dst = append(dst, "<thead>\n<tr>"...)
	for _, c := range e.shape.Columns {
		tag := `th scope="col"`
		if c.Type.Number() {
			tag += ` class="n"`
		}
		dst = appendElement(dst, tag, c.Name)
	}
	return append(dst, "</tr>\n</thead>\n<tbody>\n"...)
}

// appendLinks writes the ways to the same data in other formats.
func appendLinks(dst []byte, links []Link) []byte {
	if len(links) == 0 {
		return dst
	}
	dst = append(dst, `<nav aria-label="The same data in other formats"><ul>`...)
	for _, l := range links {
		dst = append(dst, `<li><a href="`...)
		dst = markupEscapes.append(dst, []byte(l.URL))
		dst = append(dst, `">`...)
		dst = markupEscapes.append(dst, []byte(l.Name))
		dst = append(dst, "</a></li>"...)
	}
	return append(dst, "</ul></nav>\n"...)
}

// Row writes one row of the table.
func (e *htmlRows) Row(dst []byte, cells []row.Cell) []byte {
	e.rows++
	dst = append(dst, "<tr>"...)
	cells = cells[:len(e.shape.Columns)]
	for i := range e.shape.Columns {
		t := e.shape.Columns[i].Type
		if t.Number() {
			dst = append(dst, `<td class="n">`...)
		} else {
			dst = append(dst, "<td>"...)
		}
		if !cells[i].Null {
			dst = appendHTMLValue(dst, t, &cells[i])
		}
		dst = append(dst, "</td>"...)
	}
	return append(dst, "</tr>\n"...)
}

// End writes what is below the table.
func (e *htmlRows) End(dst []byte, t Tail) []byte {
	dst = endTable(append(dst, "</tbody>\n"...))
	dst = appendElement(dst, "p", e.count(t.Total))
	dst = append(dst, '\n')
	return endPage(appendFacts(dst, "Meta", t.Meta))
}

// count tells which rows these are. Total is 0 where nobody counted.
func (e *htmlRows) count(total int64) string {
	text := "No records"
	if e.rows > 0 {
		text = "Records " + strconv.FormatInt(e.offset+1, 10) + " to " + strconv.FormatInt(e.offset+e.rows, 10)
	}
	if total > 0 {
		text += " of " + strconv.FormatInt(total, 10)
	}
	return text + "."
}

// appendHTMLValue writes a value for a person: bytes and nested JSON stand in
// full, since nothing on the page should be less than what the links lead to.
func appendHTMLValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	switch t {
	case record.Decimal, record.Text, record.DateTime, record.Guid, record.TimeSpan, record.Dictionary, record.Object:
		return markupEscapes.append(dst, cell.Data)
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.AppendInt(dst, cell.Int, 10)
	case record.Bool:
		return appendTitleBool(dst, cell.Int != 0)
	case record.Bytes:
		return base64.StdEncoding.AppendEncode(dst, cell.Data)
	}
	panic(unhandled(t))
}

// documentHTML shows one value as a list of its members, several as a table.
func documentHTML(dst []byte, name string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	dst = beginPage(dst, name)
	switch {
	case len(t.rows) == 0:
		dst = append(dst, "<p>None.</p>\n"...)
	case text[0] == '[':
		dst = appendTable(dst, name, t)
	default:
		dst = appendFacts(dst, "Members", t.facts(0))
	}
	return endPage(dst), err
}

// facts is one row as names and values.
func (t table) facts(row int) []Pair {
	facts := make([]Pair, len(t.names))
	for i, name := range t.names {
		facts[i] = Pair{name, t.rows[row][name]}
	}
	return facts
}

// appendTable writes a small table at once, unlike the rows of a result.
func appendTable(dst []byte, caption string, t table) []byte {
	dst = beginTable(dst, caption)
	dst = append(dst, "<thead>\n<tr>"...)
	for _, name := range t.names {
		dst = appendElement(dst, `th scope="col"`, name)
	}
	dst = append(dst, "</tr>\n</thead>\n<tbody>\n"...)
	for i := range t.rows {
		dst = append(dst, "<tr>"...)
		for _, f := range t.facts(i) {
			dst = appendElement(dst, "td", f.Value)
		}
		dst = append(dst, "</tr>\n"...)
	}
	return endTable(append(dst, "</tbody>\n"...))
}

// failureHTML is a page that says what went wrong, and with which member.
func failureHTML(dst []byte, s wire.ResponseStatus) []byte {
	dst = beginPage(dst, cmp.Or(s.ErrorCode, "Error"))
	dst = appendElement(dst, `p class="error" role="alert"`, s.Message)
	dst = append(dst, '\n')
	var wrong, details []Pair
	for _, e := range s.Errors {
		wrong = append(wrong, Pair{e.FieldName, e.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta)) {
		details = append(details, Pair{name, s.Meta[name]})
	}
	dst = appendFacts(dst, "Members of the request", wrong)
	dst = appendFacts(dst, "Details", details)
	if s.StackTrace != "" {
		dst = append(appendElement(dst, "pre", s.StackTrace), '\n')
	}
	return endPage(dst)
}
