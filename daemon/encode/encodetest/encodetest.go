// Package encodetest reads responses independently of the encoders: with parsers of
// the standard library, or with parsers written from the specification of a format.
package encodetest

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Row is a row as read from a response: the text of each member by its name. A null
// is absent, or empty in formats without nulls.
type Row map[string]string

// readers are the readers of the formats, by name. names are the columns in their order.
var readers = map[string]func(body []byte, names []string) ([]Row, error){
	"json":   readJSON,
	"ndjson": readNDJSON,
	"csv":    readCSV,
	"xml":    readXML,
	"jsv":    readJSV,
	"html":   readHTML,
	"xlsx":   readXLSX,
}

// Rows reads the rows of a query response with the given columns.
func Rows(format string, body []byte, names []string) ([]Row, error) {
	read, ok := readers[format]
	if !ok {
		return nil, fmt.Errorf("no reader of %s", format)
	}
	return read(body, names)
}

// expected returns a value as a reader of the format sees it, given its JSON text.
// It returns false if the response omits the value.
func expected(format string, t record.Type, null bool, text string) (string, bool) {
	if null {
		return "", format == "csv" || format == "html"
	}
	hasTitles := format == "csv" || format == "jsv" || format == "html" // such as True
	if t == record.Bool && hasTitles {
		return strings.ToUpper(text[:1]) + text[1:], true
	}
	switch format {
	case "csv":
		return strings.ReplaceAll(text, "\r\n", "\n"), true // as encoding/csv does
	case "xml", "html":
		return strings.Map(inMarkup, text), true
	}
	return text, true
}

// inMarkup replaces the characters that markup cannot contain, escaped or not.
func inMarkup(r rune) rune {
	isSpace := r == '\t' || r == '\n' || r == '\r'
	isControl := r < ' ' && !isSpace
	if isControl || r == 0xFFFE || r == 0xFFFF {
		return '\uFFFD'
	}
	return r
}
