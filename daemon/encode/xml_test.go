package encode

import (
	"encoding/xml"
	"errors"
	"io"
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

// characters returns all text of a document, which must be well-formed.
func characters(t *testing.T, decoder *xml.Decoder) string {
	t.Helper()
	var all strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			all.Write(text)
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
		if have := characters(t, xml.NewDecoder(strings.NewReader(body))); have != want {
			t.Errorf("got %q, want %q", have, want)
		}
	})
}
