// Package encodetest reads replies as strangers do: with the parsers of the
// standard library, or with ones that are written from a format's own rules.
// Nothing here is shared with the encoders.
package encodetest

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Row is a row as a reader of its format sees it: the text of each member by
// its name. A null is absent, or empty in the formats that know none.
type Row map[string]string

var readers = map[string]func(body []byte, names []string) ([]Row, error){
	"json": readJSON, "ndjson": readNDJSON, "csv": readCSV, "xml": readXML, "jsv": readJSV, "html": readHTML,
}

// Rows reads the rows of a reply to a query for the columns of these names.
func Rows(format string, body []byte, names []string) ([]Row, error) {
	read, ok := readers[format]
	if !ok {
		return nil, fmt.Errorf("no reader of %s", format)
	}
	return read(body, names)
}

// seen is how a reader of the format sees a value, of which text is what JSON
// has. It is false where the reply leaves the value out.
func seen(format string, t record.Type, null bool, text string) (string, bool) {
	switch {
	case null:
		return "", format == "csv" || format == "html"
	case t == record.Bool && (format == "csv" || format == "jsv" || format == "html"):
		return strings.ToUpper(text[:1]) + text[1:], true
	case format == "csv":
		return strings.ReplaceAll(text, "\r\n", "\n"), true // what encoding/csv makes of it
	case format == "xml" || format == "html":
		return strings.Map(inMarkup, text), true
	}
	return text, true
}

// inMarkup replaces the characters that markup cannot hold, escaped or not.
func inMarkup(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return '\uFFFD'
	}
	return r
}
