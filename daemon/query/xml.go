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
	open, total := []*node{{}}, 0 // the document, and the elements that are not closed yet
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) { return r, checkCharset(name, body) }
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
			if total++; total > maxNodes || len(open) > maxDepth {
				return nil, malformed("the XML body must have at most %d elements, nested at most %d deep", maxNodes, maxDepth)
			}
			child := &node{name: t.Name.Local}
			for _, a := range t.Attr {
				if a.Name.Local == "nil" {
					child.null = child.null || a.Value == "true" || a.Value == "1"
				} else if a.Name.Local != "xmlns" && a.Name.Space != "xmlns" && !strings.HasPrefix(a.Name.Space, "http://www.w3.org/") {
					return nil, malformed("the XML body has the attribute %s of %s: members must be elements", Printable(a.Name.Local), Printable(child.name))
				}
			}
			top.children, open = append(top.children, child), append(open, child)
		case xml.CharData:
			top.text = append(top.text, t...)
		case xml.EndElement:
			if own, inner := !top.structured(), len(top.children) > 0; own && (inner || len(open) == 2) || top.null && (own || inner) {
				return nil, malformed("the XML body has text between the elements of %s, or a null that is not empty", Printable(top.name))
			}
			if open = open[:len(open)-1]; len(open) != 1 && (len(open) == 2 || len(top.children) > 1) {
				top.list(func(name string) bool { return name == top.children[0].name })
			}
		}
	}
}
