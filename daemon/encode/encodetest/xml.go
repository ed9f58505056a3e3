package encodetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// element is an XML element. Of its attributes only xsi:nil is read.
type element struct {
	name     string
	null     bool // xsi:nil
	children []element
	text     string
}

// readElement reads an element up to its end tag.
func readElement(decoder *xml.Decoder, start xml.StartElement) (element, error) {
	e := element{name: start.Name.Local}
	for _, a := range start.Attr {
		if a.Name.Local == "nil" && a.Value == "true" {
			e.null = true
		}
	}
	var text strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			return e, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			child, err := readElement(decoder, token)
			if err != nil {
				return e, err
			}
			e.children = append(e.children, child)
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			e.text = text.String()
			return e, nil
		}
	}
}

// readRoot reads a whole document, which has one root element.
func readRoot(decoder *xml.Decoder) (root element, err error) {
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && root.name != "" {
			return root, nil
		}
		if err != nil {
			return root, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		root, err = readElement(decoder, start)
		if err != nil {
			return root, err
		}
	}
}

// readXML reads the elements in Results: one for each row, with one child for each
// value.
func readXML(body []byte, _ []string) ([]Row, error) {
	root, err := readRoot(xml.NewDecoder(bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, part := range root.children {
		if part.name != "Results" {
			continue
		}
		for _, record := range part.children {
			row := make(Row)
			for _, value := range record.children {
				if !value.null {
					row[value.name] = value.text
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readHTML reads the body of the table of rows. The markup is simple enough for the
// non-strict mode of encoding/xml.
func readHTML(body []byte, names []string) ([]Row, error) {
	const begin, end = "<tbody>", "</tbody>"
	from := bytes.Index(body, []byte(begin))
	to := bytes.Index(body, []byte(end))
	if from < 0 || to < from {
		return nil, errors.New("table not found")
	}
	decoder := xml.NewDecoder(bytes.NewReader(body[from : to+len(end)]))
	decoder.Strict = false
	decoder.AutoClose = xml.HTMLAutoClose
	decoder.Entity = xml.HTMLEntity
	table, err := readRoot(decoder)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, tr := range table.children {
		var values []string
		for _, td := range tr.children {
			if len(td.children) > 0 { // a link
				td = td.children[0]
			}
			values = append(values, td.text)
		}
		rows = append(rows, values)
	}
	return byColumn(rows, names)
}
