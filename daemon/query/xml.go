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
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		return r, checkCharset(name, body)
	}
	document := &node{}
	tree := xmlTree{open: []*node{document}}
	for {
		token, err := d.Token()
		if token == nil {
			if fault.Is(err, fault.Unsupported) { // from checkCharset
				return nil, fault.From(err)
			}
			if !errors.Is(err, io.EOF) || len(document.children) != 1 || !document.structured() {
				return nil, fault.Wrap(err, fault.Malformed, "the XML body cannot be read at byte %d", d.InputOffset())
			}
			return document.children[0].members(&collector{})
		}
		if err := tree.add(token); err != nil {
			return nil, err
		}
	}
}

// xmlTree collects the elements of an XML body.
type xmlTree struct {
	open  []*node // the document, and the elements that are not closed yet
	total int     // number of elements
}

func (x *xmlTree) top() *node { return x.open[len(x.open)-1] }

// add adds a token.
func (x *xmlTree) add(token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return malformed("the XML body must not have a document type")
	case xml.StartElement:
		return x.start(t)
	case xml.CharData:
		top := x.top()
		top.text = append(top.text, t...)
	case xml.EndElement:
		return x.end()
	}
	return nil
}

// start opens an element.
func (x *xmlTree) start(t xml.StartElement) error {
	x.total++
	if x.total > maxNodes || len(x.open) > maxDepth {
		return malformed("the XML body must have at most %d elements, nested at most %d deep",
			maxNodes, maxDepth)
	}
	child := &node{name: t.Name.Local}
	for _, a := range t.Attr {
		if a.Name.Local == "nil" {
			child.null = child.null || a.Value == "true" || a.Value == "1"
			continue
		}
		isNamespace := a.Name.Local == "xmlns" || a.Name.Space == "xmlns"
		if !isNamespace && !strings.HasPrefix(a.Name.Space, "http://www.w3.org/") {
			return malformed("the XML body has the attribute %s of %s: members must be elements",
				Printable(a.Name.Local), Printable(child.name))
		}
	}
	top := x.top()
	top.children = append(top.children, child)
	x.open = append(x.open, child)
	return nil
}

// end closes the last element.
func (x *xmlTree) end() error {
	element := x.top()
	isRoot := len(x.open) == 2
	isMember := len(x.open) == 3
	hasText := !element.structured()
	hasChildren := len(element.children) > 0
	isMixed := hasText && (hasChildren || isRoot)
	isFilledNull := element.null && (hasText || hasChildren)
	if isMixed || isFilledNull {
		return malformed("the XML body has text between the elements of %s, or a null that is not empty",
			Printable(element.name))
	}

	x.open = x.open[:len(x.open)-1]
	mayBeList := isMember || (!isRoot && len(element.children) > 1)
	if mayBeList {
		element.list(func(name string) bool { return name == element.children[0].name })
	}
	return nil
}
