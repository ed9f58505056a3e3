package query

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"

	"github.com/bizhook/whd/daemon/fault"
)

// readXML reads an XML body: a root element of any name, with an element for each
// member. Namespaces and attributes are ignored, except nil="true" for null. Elements
// of the same name are the items of a list; a member may also have a single item.
// Document types are rejected, so there are no entities beyond the five of XML.
func readXML(body []byte) (Members, error) {
	open, total := []*node{{}}, 0 // the document, and the elements that are not closed yet
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		top := open[len(open)-1]
		token, err := d.Token()
		switch t := token.(type) {
		case nil:
			if !errors.Is(err, io.EOF) || len(top.children) != 1 || !top.structured() {
				return nil, fault.Wrap(err, fault.Malformed, "the XML body cannot be read at byte %d", d.InputOffset())
			}
			return top.children[0].members(&collector{})
		case xml.Directive:
			return nil, malformed("the XML body must not have a document type")
		case xml.StartElement:
			if total++; total > maxNodes || len(open) > maxDepth {
				return nil, malformed("the XML body must have at most %d elements, nested at most %d deep", maxNodes, maxDepth)
			}
			child := &node{name: t.Name.Local, null: slices.ContainsFunc(t.Attr, func(a xml.Attr) bool {
				return a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1")
			})}
			top.children, open = append(top.children, child), append(open, child)
		case xml.CharData:
			top.text = append(top.text, t...)
		case xml.EndElement:
			if len(top.children) > 0 && !top.structured() {
				return nil, malformed("the XML body has text between the elements of %s", printable(top.name))
			}
			if open = open[:len(open)-1]; len(open) != 1 && (len(open) == 2 || len(top.children) > 1) {
				top.list(func(name string) bool { return name == top.children[0].name })
			}
		}
	}
}
