package encode

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// markupEscapes are the escapes of the content of XML and HTML. Characters that neither allows
// become U+FFFD. A carriage return is escaped because parsers convert it to a line feed.
var markupEscapes = newEscapes(markupWide, markupASCII())

// attributeEscapes are the escapes of double-quoted attributes of XML, in which parsers also convert
// tabs and line feeds, to spaces.
var attributeEscapes = newEscapes(markupWide, attributeASCII())

// markupASCII returns the escapes of ASCII characters.
func markupASCII() map[byte]string {
	ascii := map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\r': "&#xD;"}
	for c := range byte(0x20) {
		if c != '\t' && c != '\n' && c != '\r' {
			ascii[c] = "\uFFFD"
		}
	}
	return ascii
}

// attributeASCII returns the escapes of ASCII characters in attributes.
func attributeASCII() map[byte]string {
	ascii := markupASCII()
	ascii['\t'] = "&#x9;"
	ascii['\n'] = "&#xA;"
	return ascii
}

// markupWide returns the replacement of a character beyond ASCII.
func markupWide(r rune) string {
	if r == '\uFFFE' || r == '\uFFFF' {
		return "\uFFFD"
	}
	return ""
}

// Values have the same text as in JSON, but for dates of webhooks, which are in ISO 8601. Nested JSON
// stays JSON, because its names may not be valid XML names.
var xmlValues = values{text: markupEscapes.append, bool: strconv.AppendBool}

// The namespace is declared on the root element, only if nulls are written.
const (
	xmlDeclaration = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	xmlNil         = ` xsi:nil="true"/>`
	xmlNamespace   = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`
)

// xmlTag is the start and end tag of an element.
type xmlTag struct {
	open  string
	close string
}

// newXMLTag returns the tags of an element. Names that are not valid in XML, such as
// COUNT(*), become an attribute of an Item element.
func newXMLTag(name string) xmlTag {
	if isXMLName(name) {
		return xmlTag{"<" + name + ">", "</" + name + ">"}
	}
	escaped := attributeEscapes.append(nil, []byte(name))
	return xmlTag{`<Item Name="` + string(escaped) + `">`, "</Item>"}
}

// isXMLName reports whether name is a valid element name. It accepts the ASCII
// subset of XML names without the colon of namespaces.
func isXMLName(name string) bool {
	for i := range len(name) {
		c := name[i]
		lower := c | 0x20
		isLetter := lower >= 'a' && lower <= 'z' || c == '_'
		isDigit := c >= '0' && c <= '9' || c == '-' || c == '.'
		isAllowed := isLetter || isDigit && i > 0
		if !isAllowed {
			return false
		}
	}
	return name != ""
}

// xmlColumn is a column with its constant texts prepared.
type xmlColumn struct {
	xmlTag
	null string // written instead of the element for null
	typ  record.Type
}

// xmlRows writes the envelope and the rows.
type xmlRows struct {
	root    xmlTag
	record  xmlTag
	columns []xmlColumn
}

func newXML(s Shape) Encoder {
	e := &xmlRows{root: newXMLTag(responseName(s.Operation)), record: newXMLTag(s.Record)}
	for _, c := range s.Columns {
		column := xmlColumn{xmlTag: newXMLTag(c.Name), typ: c.Type}
		if s.Nulls {
			column.null = column.open[:len(column.open)-1] + xmlNil
		}
		e.columns = append(e.columns, column)
	}
	if s.Nulls {
		e.root.open = e.root.open[:len(e.root.open)-1] + xmlNamespace
	}
	return e
}

// responseName returns the name of an operation's response type.
func responseName(operation string) string { return operation + "Response" }

// Begin appends the start of the envelope.
func (e *xmlRows) Begin(dst []byte, h Head) []byte {
	dst = append(dst, xmlDeclaration...)
	dst = append(dst, e.root.open...)
	dst = append(dst, "<Offset>"...)
	dst = strconv.AppendInt(dst, h.Offset, 10)
	return append(dst, "</Offset><Results>"...)
}

// Row appends one element.
func (e *xmlRows) Row(dst []byte, cells []row.Cell) []byte {
	dst = append(dst, e.record.open...)
	cells = cells[:len(e.columns)]
	for i := range e.columns {
		c, cell := &e.columns[i], &cells[i]
		if cell.Null {
			dst = append(dst, c.null...)
			continue
		}
		dst = append(dst, c.open...)
		if plainTexts>>c.typ&1 == 1 && isPlain(cell.Data) {
			dst = append(dst, cell.Data...)
		} else {
			dst = xmlValues.append(dst, c.typ, cell)
		}
		dst = append(dst, c.close...)
	}
	return append(dst, e.record.close...)
}

// End appends the end of the envelope.
func (e *xmlRows) End(dst []byte, t Tail) []byte {
	dst = append(dst, "</Results><Total>"...)
	dst = strconv.AppendInt(dst, t.Total, 10)
	dst = append(dst, "</Total><Meta>"...)
	for _, p := range t.Meta {
		tag := newXMLTag(p.Name)
		dst = append(dst, tag.open...)
		dst = markupEscapes.append(dst, []byte(p.Value))
		dst = append(dst, tag.close...)
	}
	dst = append(dst, "</Meta><ResponseStatus></ResponseStatus>"...)
	return append(dst, e.root.close...)
}

// documentXML appends a document, which is JSON, as elements.
func documentXML(dst []byte, name string, text []byte) ([]byte, error) {
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	dst = append(dst, xmlDeclaration...)
	if string(text) == "null" { // XML needs a root element
		tag := newXMLTag(name)
		return append(append(dst, tag.open...), tag.close...), nil
	}
	return appendXMLElement(dst, name, tokens)
}

// appendXMLElement appends the next value of tokens as an element, unless it is null. The items of an
// array are named Item.
func appendXMLElement(dst []byte, name string, tokens *json.Decoder) ([]byte, error) {
	token, err := tokens.Token()
	if token == nil || err != nil {
		return dst, err
	}
	tag := newXMLTag(name)
	dst = append(dst, tag.open...)
	switch t := token.(type) {
	case json.Delim:
		dst, err = appendXMLChildren(dst, t, tokens)
		if err != nil {
			return dst, err
		}
	case string:
		dst = markupEscapes.append(dst, []byte(t))
	case json.Number: // without characters that have an escape
		dst = append(dst, t...)
	case bool:
		dst = strconv.AppendBool(dst, t)
	}
	return append(dst, tag.close...), nil
}

// appendXMLChildren appends the content of an object or array, up to and including
// its closing delimiter.
func appendXMLChildren(dst []byte, opening json.Delim, tokens *json.Decoder) ([]byte, error) {
	for tokens.More() {
		name := "Item"
		if opening == '{' {
			key, err := tokens.Token()
			if err != nil {
				return dst, err
			}
			name = key.(string) // the decoder returns only string tokens here
		}
		var err error
		dst, err = appendXMLElement(dst, name, tokens)
		if err != nil {
			return dst, err
		}
	}
	_, err := tokens.Token()
	return dst, err
}
