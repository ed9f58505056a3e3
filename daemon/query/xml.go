package query

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/bizhook/whd/daemon/fault"
)

// readXML reads an XML body: a root element of any name, with an element for each
// member. Namespaces and attributes of the W3C are ignored, except nil="true" for null.
// Elements of the same name are the items of a list; a member may also have a single item.
// Document types are rejected, so there are no entities beyond the five of XML.
func readXML(body []byte) (Members, error) {
	open := []*node{{}} // the document, and the elements that are not closed yet
	total := 0
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		return r, checkCharset(name, body)
	}
	for {
		top := open[len(open)-1]
		token, err := d.Token()
		switch t := token.(type) {
		case nil:
			if fault.Is(err, fault.Unsupported) {
				return nil, fault.From(err)
			}
			if !errors.Is(err, io.EOF) || len(top.children) != 1 || !top.structured() {
				return nil, fault.Wrap(err, fault.Malformed, "the XML body cannot be read at byte %d", d.InputOffset())
			}
			return top.children[0].members(&collector{})
		case xml.Directive:
			return nil, malformed("the XML body must not have a document type")
		case xml.StartElement:
			total++
			if total > maxNodes || len(open) > maxDepth {
				return nil, malformed("the XML body must have at most %d elements, nested at most %d deep",
					maxNodes, maxDepth)
			}
			child := &node{name: t.Name.Local}
			for _, a := range t.Attr {
				isNamespace := a.Name.Local == "xmlns" || a.Name.Space == "xmlns"
				if a.Name.Local == "nil" {
					child.null = child.null || a.Value == "true" || a.Value == "1"
				} else if !isNamespace && !strings.HasPrefix(a.Name.Space, "http://www.w3.org/") {
					const message = "the XML body has the attribute %s of %s: members must be elements"
					return nil, malformed(message, Printable(a.Name.Local), Printable(child.name))
				}
			}
			top.children = append(top.children, child)
			open = append(open, child)
		case xml.CharData:
			top.text = append(top.text, t...)
		case xml.EndElement:
			isRoot, isMember := len(open) == 2, len(open) == 3
			hasText, hasChildren := !top.structured(), len(top.children) > 0
			isMixed := hasText && (hasChildren || isRoot)
			isFilledNull := top.null && (hasText || hasChildren)
			if isMixed || isFilledNull {
				return nil, malformed("the XML body has text between the elements of %s, or a null that is not empty",
					Printable(top.name))
			}
			open = open[:len(open)-1]
			if isMember || !isRoot && len(top.children) > 1 {
				top.list(func(name string) bool { return name == top.children[0].name })
			}
		}
	}
}
