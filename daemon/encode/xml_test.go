package encode

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

func TestXMLName(t *testing.T) {
	tests := []struct {
		name string
		want bool
	}{
		{name: "InvoiceID", want: true},
		{name: "SY_Plugin_RecID", want: true},
		{name: "_", want: true},
		{name: "a.b-c9", want: true},
		{name: "", want: false},
		{name: "9a", want: false},
		{name: "-a", want: false},
		{name: "a b", want: false},
		{name: "a:b", want: false},
		{name: "COUNT(*)", want: false},
		{name: "é", want: false},
		{name: "a<", want: false},
		{name: "@", want: false},
		{name: "[", want: false},
	}
	for _, test := range tests {
		if got := isXMLName(test.name); got != test.want {
			t.Errorf("%q: got %v", test.name, got)
		}
	}
}

// TestXMLAttributes checks that parsers read back each name. They convert white space in attributes to
// spaces unless it is escaped; encoding/xml does not.
func TestXMLAttributes(t *testing.T) {
	tag := newXMLTag("COUNT(\t*)\r\n<\"&")
	if want := `<Item Name="COUNT(&#x9;*)&#xD;&#xA;&lt;&quot;&amp;">`; tag.open != want {
		t.Errorf("got the tag %s, want %s", tag.open, want)
	}
}

// TestXMLNull checks that a document without a value has a root element, without which it is no XML.
func TestXMLNull(t *testing.T) {
	got, err := format(t, "xml").Document(nil, "Kind", nil)
	if want := xmlDeclaration + "<Kind></Kind>"; string(got) != want || err != nil {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

// readMarkup returns all text of a document, which must be well-formed, and the names of its elements but
// for the members of the envelope.
func readMarkup(t *testing.T, decoder *xml.Decoder) (text string, names []string) {
	t.Helper()
	envelope := []string{"Offset", "Results", "Total", "Meta", "ResponseStatus"}
	var all strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all.String(), names
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			all.Write(token)
		case xml.StartElement:
			name := token.Name.Local
			for _, a := range token.Attr {
				if a.Name.Local == "Name" {
					name = a.Value
				}
			}
			if !slices.Contains(envelope, name) {
				names = append(names, name)
			}
		}
	}
}

// inMarkup returns text with the characters that XML and HTML do not allow replaced.
func inMarkup(in string) string {
	return strings.Map(func(r rune) rune {
		isSpace := r == '\t' || r == '\n' || r == '\r'
		isControl := r < ' ' && !isSpace
		isNonCharacter := r == 0xFFFE || r == 0xFFFF
		if isControl || isNonCharacter {
			return '�'
		}
		return r
	}, string([]rune(in)))
}

// FuzzXML checks that encoding/xml reads back the output of the encoder.
func FuzzXML(f *testing.F) {
	f.Add("Name", "<a>&]]>\r\n\x00\xff\uFFFE")
	f.Add("COUNT(*)", "")
	f.Add("COUNT(\t*)\r\n", "")
	f.Add("", "\"'")
	f.Fuzz(func(t *testing.T, name, value string) {
		shape := Shape{
			Operation: name,
			Record:    name,
			Nulls:     true,
			Columns:   []Column{{Name: name, Type: record.Text}, {Name: name, Type: record.Int}},
		}
		tail := Tail{Meta: []Pair{{name, value}}}
		got := result(format(t, "xml"), shape, [][]row.Cell{{text(value), null}}, tail)
		body := strings.TrimPrefix(string(got), xmlDeclaration)
		want := "20" + inMarkup(value) + "0" + inMarkup(value)
		have, names := readMarkup(t, xml.NewDecoder(strings.NewReader(body)))
		if have != want {
			t.Errorf("got %q, want %q", have, want)
		}
		for _, got := range names { // of the response, the record, its columns, and in Meta
			want := inMarkup(name)
			if got != want && got != responseName(want) {
				t.Errorf("the name %q is read as %q, want %q", name, got, want)
			}
		}
	})
}
