package encode

import (
	"bytes"
	"encoding/json"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// JSV is JSON with unquoted names and texts. Those with special characters are
// quoted as in CSV. A value ends at one of "[]{},", a name at ":".
var (
	jsvEscapes = newEscapes(noEscape, jsvASCII(`,{}[]`+"\r\n"))
	jsvNames   = newEscapes(noEscape, jsvASCII(`,{}[]:`+"\r\n"))
)

// jsvASCII returns the characters that require quotes, and their form inside quotes.
func jsvASCII(special string) map[byte]string {
	ascii := map[byte]string{'"': `""`}
	for i := range len(special) {
		ascii[special[i]] = special[i : i+1]
	}
	return ascii
}

var (
	jsvEnvelope      = newJSVEnvelope("Offset", "Results", "Total", "Meta", "ResponseStatus")
	jsvCamelEnvelope = newJSVEnvelope("offset", "results", "total", "meta", "responseStatus")
)

// newJSVEnvelope returns the envelope with these names of its members.
func newJSVEnvelope(offset, results, total, meta, status string) envelopeParts {
	return envelopeParts{
		offset:  "{" + offset + ":",
		results: "," + results + ":[",
		total:   "]," + total + ":",
		meta:    "," + meta + ":{",
		end:     "}," + status + ":{}}",
		name:    jsvNames.quoted,
		text:    appendJSVString,
	}
}

func newJSV(s Shape) Encoder {
	parts := &jsvEnvelope
	if s.CamelCase {
		parts = &jsvCamelEnvelope
	}
	return &envelopeRows{envelopeParts: parts, object: newObject(s, jsvNames.quoted, "", appendJSVValue)}
}

var jsvValues = values{text: appendJSVString, bool: appendTitleBool}

// appendJSVValue appends any value but a decimal that is a valid number.
func appendJSVValue(dst []byte, t record.Type, cell *row.Cell) []byte {
	if cell.Misfit {
		return appendJSVString(dst, cell.Data)
	}
	if t == record.Bytes && len(cell.Data) == 0 {
		return appendJSVString(dst, nil)
	}
	if (t == record.Dictionary || t == record.Object) && json.Valid(cell.Data) {
		return appendJSV(dst, cell.Data)
	}
	return jsvValues.append(dst, t, cell)
}

// appendJSVString quotes the empty text as well, because a missing text is read as
// null.
func appendJSVString(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, `""`...)
	}
	return jsvEscapes.quoted(dst, text)
}

// documentJSV appends a document, which is JSON, as JSV.
func documentJSV(dst []byte, _ string, text []byte) ([]byte, error) {
	return appendJSV(dst, text), nil
}

// appendJSV appends valid JSON as JSV. The structure is the same; texts, booleans,
// nulls and white space differ. A list with a single null becomes an empty one: JSV has no text for
// a null.
func appendJSV(dst, text []byte) []byte {
	for len(text) > 0 {
		n := 1
		switch c := text[0]; c {
		case '"':
			n = jsonStringLength(text)
			next := bytes.TrimLeft(text[n:], " \t\r\n")
			isName := len(next) > 0 && next[0] == ':'
			if isName {
				dst = jsvNames.quoted(dst, unquote(text[:n]))
			} else {
				dst = appendJSVString(dst, unquote(text[:n]))
			}
		case 't':
			n = len("true")
			dst = appendTitleBool(dst, true)
		case 'f':
			n = len("false")
			dst = appendTitleBool(dst, false)
		case 'n': // a null is a missing value
			n = len("null")
		case ' ', '\t', '\r', '\n':
		default:
			dst = append(dst, c)
		}
		text = text[n:]
	}
	return dst
}

// jsonStringLength returns the length of the string at the start of text, including
// its quotes.
func jsonStringLength(text []byte) int {
	i := 1
	for text[i] != '"' {
		if text[i] == '\\' {
			i++
		}
		i++
	}
	return i + 1
}

// unquote returns the text of a JSON string. It allocates only if there is an
// escape.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return inner // not reached: the caller has validated the JSON
	}
	return []byte(text)
}
