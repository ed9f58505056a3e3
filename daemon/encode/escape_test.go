package encode

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// TestNastyText puts text with special characters into a value, a column name and
// Meta of each format.
func TestNastyText(t *testing.T) {
	tests := []struct{ name, in, json, csv, markup, jsv string }{
		{
			name:   "plain",
			in:     "Bolt 5 mm",
			json:   "Bolt 5 mm",
			csv:    "Bolt 5 mm",
			markup: "Bolt 5 mm",
			jsv:    "Bolt 5 mm",
		},
		{name: "spaces", in: "  a ", json: "  a ", csv: "  a ", markup: "  a ", jsv: "  a "},
		{
			name:   "quote",
			in:     `5" x 6"`,
			json:   `5\" x 6\"`,
			csv:    `"5"" x 6"""`,
			markup: "5&quot; x 6&quot;",
			jsv:    `"5"" x 6"""`,
		},
		{name: "apostrophe", in: "it's", json: "it's", csv: "it's", markup: "it's", jsv: "it's"},
		{name: "backslash", in: `a\b`, json: `a\\b`, csv: `a\b`, markup: `a\b`, jsv: `a\b`},
		{name: "comma", in: "a,b", json: "a,b", csv: `"a,b"`, markup: "a,b", jsv: `"a,b"`},
		{
			name:   "line ends",
			in:     "a\r\nb\rc\n",
			json:   `a\r\nb\rc\n`,
			csv:    "\"a\r\nb\rc\n\"",
			markup: "a&#xD;\nb&#xD;c\n",
			jsv:    "\"a\r\nb\rc\n\"",
		},
		{name: "tab", in: "a\tb", json: `a\tb`, csv: "a\tb", markup: "a\tb", jsv: "a\tb"},
		{
			name:   "controls",
			in:     "\x00\x01\b\f\x1f\x7f",
			json:   `\u0000\u0001\b\f\u001f` + "\x7f",
			csv:    "\"\ufffd\x01\b\f\x1f\x7f\"",
			markup: "�����\x7f",
			jsv:    "\x00\x01\b\f\x1f\x7f",
		},
		{name: "not UTF-8", in: "a\xffb\xc3", json: "a�b�", csv: `"a�b�"`, markup: "a�b�", jsv: `"a�b�"`},
		{
			name:   "not UTF-8 in quotes",
			in:     "\xe2\x80,",
			json:   "��,",
			csv:    `"��,"`,
			markup: "��,",
			jsv:    `"��,"`,
		},
		{name: "surrogate", in: "\xed\xa0\x80", json: "���", csv: `"���"`, markup: "���", jsv: `"���"`},
		{name: "replacement", in: "�", json: "�", csv: "�", markup: "�", jsv: "�"},
		{
			name:   "line separators",
			in:     "a\u2028b\u2029",
			json:   `a\u2028b\u2029`,
			csv:    "a\u2028b\u2029",
			markup: "a\u2028b\u2029",
			jsv:    "a\u2028b\u2029",
		},
		{
			name:   "not a character",
			in:     "\uFFFE\uFFFF",
			json:   "\uFFFE\uFFFF",
			csv:    "\uFFFE\uFFFF",
			markup: "��",
			jsv:    "\uFFFE\uFFFF",
		},
		{name: "wide", in: "Å漢😀", json: "Å漢😀", csv: "Å漢😀", markup: "Å漢😀", jsv: "Å漢😀"},
		{
			name:   "wide, then special",
			in:     "漢\"漢",
			json:   `漢\"漢`,
			csv:    `"漢""漢"`,
			markup: "漢&quot;漢",
			jsv:    `"漢""漢"`,
		},
		{name: "section end", in: "]]>", json: "]]>", csv: "]]>", markup: "]]&gt;", jsv: `"]]>"`},
		{
			name:   "script",
			in:     "</script><script>&amp;",
			json:   "</script><script>&amp;",
			csv:    "</script><script>&amp;",
			markup: "&lt;/script&gt;&lt;script&gt;&amp;amp;",
			jsv:    "</script><script>&amp;",
		},
		{name: "braces", in: "{a:b}", json: "{a:b}", csv: "{a:b}", markup: "{a:b}", jsv: `"{a:b}"`},
		{name: "formula", in: "=1+1", json: "=1+1", csv: "=1+1", markup: "=1+1", jsv: "=1+1"},
		{
			name:   "long",
			in:     strings.Repeat("x", 5000) + `"`,
			json:   strings.Repeat("x", 5000) + `\"`,
			csv:    `"` + strings.Repeat("x", 5000) + `"""`,
			markup: strings.Repeat("x", 5000) + "&quot;",
			jsv:    `"` + strings.Repeat("x", 5000) + `"""`,
		},
	}
	shape := Shape{Record: "R", Columns: []Column{{"V", record.Text}}}
	for _, test := range tests {
		rows := map[string]string{
			"json":   `{"V":"` + test.json + `"}`,
			"ndjson": `{"V":"` + test.json + "\"}\n",
			"csv":    test.csv + "\r\n",
			"xml":    "<R><V>" + test.markup + "</V></R>",
			"jsv":    "{V:" + test.jsv + "}",
			"html":   "<tr><td>" + test.markup + "</td></tr>\n",
		}
		for _, f := range textFormats() {
			if got := rowOf(f, shape, text(test.in)); got != rows[f.Name] {
				t.Errorf("%s as %s: got %q, want %q", test.name, f.Name, got, rows[f.Name])
			}
		}
	}
}

// TestPlainText checks each byte at each place of texts of any length.
func TestPlainText(t *testing.T) {
	for size := range 18 {
		text := []byte(strings.Repeat("0", size))
		for at := range text {
			for c := range 256 {
				text[at] = byte(c)
				want := c >= '-' && c < 0x80 && c != '<' && c != '>'
				got := isPlain(text)
				if got != want {
					t.Errorf("isPlain(%q) is %t, want %t", text, got, want)
				}
				hasNoEscapes := csvEscapes.plain(text) == size && markupEscapes.plain(text) == size
				if got && !hasNoEscapes {
					t.Errorf("%q is plain, but has an escape in CSV or XML", text)
				}
			}
			text[at] = '-'
		}
	}
}

// TestNastyNames does the same for the names of columns, which may come from an
// external registry, and of Meta.
func TestNastyNames(t *testing.T) {
	const name = "a \"<:,\n"
	shape := Shape{Operation: name, Record: name, Columns: []Column{{name, record.Int}}}
	tail := Tail{Meta: []Pair{{name, "v"}}}
	tests := []struct{ format, want string }{
		{
			format: "json",
			want:   `{"Offset":20,"Results":[{"a \"<:,\n":1}],"Total":0,"Meta":{"a \"<:,\n":"v"},"ResponseStatus":{}}`,
		},
		{format: "ndjson", want: `{"a \"<:,\n":1}` + "\n"},
		{format: "csv", want: "\"a \"\"<:,\n\"\r\n1\r\n"},
		{
			format: "jsv",
			want:   "{Offset:20,Results:[{\"a \"\"<:,\n\":1}],Total:0,Meta:{\"a \"\"<:,\n\":v},ResponseStatus:{}}",
		},
		{
			format: "xml",
			want: xmlDeclaration + `<Item Name="a &quot;&lt;:,&#xA;Response"><Offset>20</Offset>` +
				`<Results><Item Name="a &quot;&lt;:,&#xA;"><Item Name="a &quot;&lt;:,&#xA;">1</Item></Item></Results>` +
				`<Total>0</Total><Meta><Item Name="a &quot;&lt;:,&#xA;">v</Item></Meta>` +
				`<ResponseStatus></ResponseStatus></Item>`,
		},
	}
	for _, test := range tests {
		got := result(format(t, test.format), shape, [][]row.Cell{{number(1)}}, tail)
		if string(got) != test.want {
			t.Errorf("%s: got %q, want %q", test.format, got, test.want)
		}
	}
}
