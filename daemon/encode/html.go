package encode

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// pageWriter writes the pages of a site.
type pageWriter struct{ site Site }

func (p pageWriter) rows(s Shape) Encoder { return &htmlRows{shape: s, site: p.site} }

// Bytes and nested JSON stand in full, since nothing on the page should be less
// than what the links lead to.
var htmlValues = values{text: markupEscapes.append, bool: appendTitleBool}

// htmlRows is a page with the rows as a table. What is known only at the end,
// such as the number of rows, stands below it, so that rows can stream.
type htmlRows struct {
	shape  Shape
	site   Site
	offset int64
	rows   int64
}

// Begin writes the page up to the first row.
func (e *htmlRows) Begin(dst []byte, h Head) []byte {
	e.offset = h.Offset
	return execute(dst, "query", e.top())
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
			dst = htmlValues.append(dst, t, &cells[i])
		}
		dst = append(dst, "</td>"...)
	}
	return append(dst, "</tr>\n"...)
}

// End writes what is below the table.
func (e *htmlRows) End(dst []byte, t Tail) []byte { return execute(dst, "queryEnd", e.bottom(t)) }

// documentPage is the data of a page about one value, or several.
type documentPage struct {
	Page
	Facts []Pair     // of one
	Names []string   // of several, which are a table
	Rows  [][]string // in the order of Names
}

// document shows one value as a list of its members, several as a table.
func (p pageWriter) document(dst []byte, name string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	if err != nil {
		return dst, err
	}
	data := documentPage{Page: Page{Title: name, Site: p.site}}
	switch {
	case len(t.rows) == 0:
	case text[0] == '[':
		data.Names = t.names
		for i := range t.rows {
			data.Rows = append(data.Rows, t.values(i))
		}
	default:
		data.Facts = t.facts(0)
	}
	return execute(dst, "document", data), nil
}

// failurePage is the data of a page about an error.
type failurePage struct {
	Page
	Status         wire.ResponseStatus
	Wrong, Details *facts
}

// failure is a page that says what went wrong, and with which member.
func (p pageWriter) failure(dst []byte, s wire.ResponseStatus) []byte {
	var wrong, details []Pair
	for _, e := range s.Errors {
		wrong = append(wrong, Pair{e.FieldName, e.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta)) {
		details = append(details, Pair{name, s.Meta[name]})
	}
	return execute(dst, "failure", failurePage{
		Page: Page{Title: cmp.Or(s.ErrorCode, "Error"), Site: p.site}, Status: s,
		Wrong: about("Members of the request", wrong), Details: about("Details", details),
	})
}
