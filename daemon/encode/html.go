package encode

import (
	"html/template"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// pageWriter writes the HTML pages of a site.
type pageWriter struct{ site Site }

func (p pageWriter) rows(s Shape) Encoder { return &htmlRows{shape: s, site: p.site} }

// Bytes and nested JSON are shown in full: the page must show the same data as the
// other formats.
var htmlValues = values{text: markupEscapes.append, bool: appendTitleBool}

// htmlRows writes a page with the rows as a table. The number of rows and the total
// follow below the table, so that rows can be streamed.
type htmlRows struct {
	shape  Shape
	site   Site
	offset int64
	rows   int64

	byCursor bool // the rows follow a cursor: their place among all rows is unknown
}

// Begin appends the page up to the first row.
func (e *htmlRows) Begin(dst []byte, h Head) []byte {
	e.offset = h.Offset
	e.byCursor = h.Cursor
	return execute(dst, "query", e.top())
}

// Row appends one row of the table.
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
		isLink := len(e.shape.Keys) > 0 && i == e.shape.Keys[0] && e.hasKey(cells)
		if isLink {
			dst = e.appendRowLink(dst, cells)
		}
		if !cells[i].Null {
			dst = htmlValues.append(dst, t, &cells[i])
		}
		if isLink {
			dst = append(dst, "</a>"...)
		}
		dst = append(dst, "</td>"...)
	}
	return append(dst, "</tr>\n"...)
}

// hasKey reports whether a row has a key that an address can have.
func (e *htmlRows) hasKey(cells []row.Cell) bool {
	return !slices.ContainsFunc(e.shape.Keys, func(i int) bool {
		return cells[i].Null || strings.TrimSpace(cells[i].Text(e.shape.Columns[i].Type)) == ""
	})
}

// appendRowLink appends the start of a link to the page of a row.
func (e *htmlRows) appendRowLink(dst []byte, cells []row.Cell) []byte {
	dst = append(dst, `<a href="`...)
	dst = append(dst, template.HTMLEscapeString(e.shape.RowURL)...)
	if e.shape.KeyInPath {
		i := e.shape.Keys[0]
		dst = append(dst, '/')
		text := url.PathEscape(cells[i].Text(e.shape.Columns[i].Type))
		dst = append(dst, template.HTMLEscapeString(text)...)
		return append(dst, `">`...)
	}
	separator := "?"
	for _, i := range e.shape.Keys {
		c := e.shape.Columns[i]
		dst = append(dst, separator...)
		dst = append(dst, url.QueryEscape(c.Name)...)
		dst = append(dst, '=')
		dst = append(dst, url.QueryEscape(cells[i].Text(c.Type))...)
		separator = "&amp;"
	}
	return append(dst, `">`...)
}

// End appends the page below the table.
func (e *htmlRows) End(dst []byte, t Tail) []byte { return execute(dst, "queryEnd", e.bottom(t)) }

// documentPage is the data of a page that shows one or several values.
type documentPage struct {
	Page
	Pairs []Pair     // the members of a single value
	Names []string   // the columns of several values
	Rows  [][]string // in the order of Names
}

// document shows one value as a list of members, several as a table.
func (p pageWriter) document(dst []byte, name string, text []byte) ([]byte, error) {
	t, err := newTable(text)
	if err != nil {
		return dst, err
	}
	data := documentPage{Page: Page{Title: name, Site: p.site}}
	switch {
	case len(t.rows) == 0: // an empty list
	case text[0] == '[':
		data.Names = t.names
		for i := range t.rows {
			data.Rows = append(data.Rows, t.values(i))
		}
	default:
		data.Pairs = t.pairs(0)
	}
	return execute(dst, "document", data), nil
}

// failurePage is the data of an error page.
type failurePage struct {
	Page
	Status               wire.ResponseStatus
	Advice               string
	Suggestions          []Link // pages with similar names
	FieldErrors, Details *pairList
}

// advice describes the remedy of an error, by its code.
var advice = map[string]string{
	"ArgumentException":      "Correct the members of the request and send it again.",
	"SerializationException": "Correct the request and send it again.",
	"NotEmpty":               "Fill in the members that are missing and send it again.",
	"Unauthorized":           "Log in, or send an API key.",
	"Forbidden":              "Use an account with the required role, or request the role from an administrator.",
	"NotFound":               "Check the address, or find the page from the start.",
	"MethodNotAllowed":       "Check the method in the API reference.",
	"Conflict":               "Load the page again and repeat the change if it is still needed.",
	"RequestTooLarge":        "Send less at a time.",
	"TooManyRequests":        "Wait a moment and load the page again.",
	"ServiceUnavailable":     "Wait a moment and load the page again. An administrator finds the cause on /readyz and in the log.",
	"Timeout":                "Add conditions, so that fewer records are read, or try again later.",
	"RequestTimeout":         "Send the request again.",
	"InternalError":          "Try again. If the error remains, give the RequestId to an administrator: the log has the cause.",
	"ResyncRequired":         "Load all records again.",
	"CaptureStopped":         "An administrator resumes the capture.",
}

// suggestion matches the similar names in a message.
var suggestion = regexp.MustCompile(`^unknown (record kind|operation) .*; did you mean ([\w, ]+)\?$`)

// suggestions returns links to the pages with the names that a message suggests.
func suggestions(base, message string) []Link {
	m := suggestion.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	path := base + "/metadata?op="
	if m[1] == "record kind" {
		path = base + "/Queries/"
	}
	var links []Link
	for name := range strings.SplitSeq(m[2], ", ") {
		links = append(links, Link{Name: name, URL: path + url.PathEscape(name)})
	}
	return links
}

// failureTitles are the titles of errors with codes that only programs understand.
var failureTitles = map[string]string{
	"":                       "Error",
	"ArgumentException":      "Invalid request",
	"SerializationException": "Unreadable request",
	"NotEmpty":               "Incomplete request",
	"Unauthorized":           "Not logged in",
}

// failureTitle returns the title of an error with a code: Not found for NotFound.
func failureTitle(code string) string {
	if title, ok := failureTitles[code]; ok {
		return title
	}
	var title strings.Builder
	for i, c := range code {
		if i > 0 && unicode.IsUpper(c) {
			title.WriteByte(' ')
			c = unicode.ToLower(c)
		}
		title.WriteRune(c)
	}
	return title.String()
}

// failure writes a page with the error message, the invalid members and details.
func (p pageWriter) failure(dst []byte, s wire.ResponseStatus) []byte {
	var fieldErrors, details []Pair
	for _, e := range s.Errors {
		if len(s.Errors) == 1 && strings.HasSuffix(s.Message, e.Message) {
			break // the message has the same text
		}
		fieldErrors = append(fieldErrors, Pair{e.FieldName, e.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta)) {
		details = append(details, Pair{name, s.Meta[name]})
	}
	similar := suggestions(p.site.Base, s.Message)
	if similar != nil {
		s.Message, _, _ = strings.Cut(s.Message, "; did you mean") // the links say it
	}
	return execute(dst, "failure", failurePage{
		Page:        Page{Title: failureTitle(s.ErrorCode), Site: p.site},
		Status:      s,
		Advice:      advice[s.ErrorCode],
		Suggestions: similar,
		FieldErrors: newPairList("Members of the request", fieldErrors),
		Details:     newPairList("Details", details),
	})
}
