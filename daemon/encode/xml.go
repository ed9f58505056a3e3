package encode

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// markupEscapes serves XML and HTML, in content and in double-quoted
// attributes. Characters that neither may hold become U+FFFD. A carriage return
// is escaped since parsers turn a bare one into a line feed.
var markupEscapes = newEscapes(markupWide, markupASCII())

func markupASCII() map[byte]string {
	ascii := map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\r': "&#xD;"}
	for c := range byte(0x20) {
		if c != '\t' && c != '\n' && c != '\r' {
			ascii[c] = "\uFFFD"
		}
	}
	return ascii
}

func markupWide(r rune) string {
	if r == '\uFFFE' || r == '\uFFFF' {
		return "\uFFFD"
	}
	return ""
}

// Values stand in the same text as JSON has them. Nested JSON stays JSON: its names
// need not be names in XML.
var xmlValues = values{text: markupEscapes.append, bool: strconv.AppendBool}

// The namespace is declared, on the root, only where nulls are written.
const (
	xmlDeclaration = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	xmlNil         = ` xsi:nil="true"/>`
	xmlNamespace   = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">`
)

// xmlTag is the two ends of an element.
type xmlTag struct {
	open  string
	close string
}

// newXMLTag makes the element of a name. Names that XML cannot have, such as
// COUNT(*), move into an attribute.
func newXMLTag(name string) xmlTag {
	if isXMLName(name) {
		return xmlTag{"<" + name + ">", "</" + name + ">"}
	}
	escaped := markupEscapes.append(nil, []byte(name))
	return xmlTag{`<Item Name="` + string(escaped) + `">`, "</Item>"}
}

// isXMLName reports whether name can stand as an element without doubt: the
// ASCII part of what XML allows, without the colon of namespaces.
func isXMLName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		later := c >= '0' && c <= '9' || c == '-' || c == '.'
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return name != ""
}

// xmlColumn is a column with what is the same in every row.
type xmlColumn struct {
	xmlTag
	null string // instead of the element
	typ  record.Type
}

// xmlRows is the envelope with its rows.
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

// responseName is what the reply to an operation is called where it needs a
// name.
func responseName(operation string) string { return operation + "Response" }

// Begin opens the envelope.
func (e *xmlRows) Begin(dst []byte, h Head) []byte {
	dst = append(dst, xmlDeclaration...)
	dst = append(dst, e.root.open...)
	dst = append(dst, "<Offset>"...)
	dst = strconv.AppendInt(dst, h.Offset, 10)
	return append(dst, "</Offset><Results>"...)
}

// Row writes one element.
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
		dst = xmlValues.append(dst, c.typ, cell)
		dst = append(dst, c.close...)
	}
	return append(dst, e.record.close...)
}

// End closes the envelope.
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

func documentXML(dst []byte, name string, text []byte) ([]byte, error) {
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	return appendXMLElement(append(dst, xmlDeclaration...), name, tokens)
}

// appendXMLElement writes the next value of tokens as an element. The items of
// an array, which have no name, are called Item.
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
	case string:
		dst = markupEscapes.append(dst, []byte(t))
	case json.Number:
		dst = append(dst, t...)
	case bool:
		dst = strconv.AppendBool(dst, t)
	}
	return append(dst, tag.close...), err
}

// appendXMLChildren writes what is inside an object or array, up to and with
// its closing delimiter.
func appendXMLChildren(dst []byte, opening json.Delim, tokens *json.Decoder) ([]byte, error) {
	for tokens.More() {
		name := "Item"
		if opening == '{' {
			key, err := tokens.Token()
			if err != nil {
				return dst, err
			}
			name = key.(string) // the decoder hands out nothing else before a value
		}
		var err error
		if dst, err = appendXMLElement(dst, name, tokens); err != nil {
			return dst, err
		}
	}
	_, err := tokens.Token()
	return dst, err
}
