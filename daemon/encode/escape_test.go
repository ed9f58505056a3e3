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
		{"plain", "Bolt 5 mm", "Bolt 5 mm", "Bolt 5 mm", "Bolt 5 mm", "Bolt 5 mm"},
		{"spaces", "  a ", "  a ", "  a ", "  a ", "  a "},
		{"quote", `5" x 6"`, `5\" x 6\"`, `"5"" x 6"""`, "5&quot; x 6&quot;", `"5"" x 6"""`},
		{"apostrophe", "it's", "it's", "it's", "it's", "it's"},
		{"backslash", `a\b`, `a\\b`, `a\b`, `a\b`, `a\b`},
		{"comma", "a,b", "a,b", `"a,b"`, "a,b", `"a,b"`},
		{"line ends", "a\r\nb\rc\n", `a\r\nb\rc\n`, "\"a\r\nb\rc\n\"", "a&#xD;\nb&#xD;c\n", "\"a\r\nb\rc\n\""},
		{"tab", "a\tb", `a\tb`, "a\tb", "a\tb", "a\tb"},
		{"controls", "\x00\x01\b\f\x1f\x7f", `\u0000\u0001\b\f\u001f` + "\x7f", "\x00\x01\b\f\x1f\x7f", "�����\x7f", "\x00\x01\b\f\x1f\x7f"},
		{"not UTF-8", "a\xffb\xc3", "a�b�", `"a�b�"`, "a�b�", `"a�b�"`},
		{"not UTF-8 in quotes", "\xe2\x80,", "��,", `"��,"`, "��,", `"��,"`},
		{"surrogate", "\xed\xa0\x80", "���", `"���"`, "���", `"���"`},
		{"replacement", "�", "�", "�", "�", "�"},
		{"line separators", "a\u2028b\u2029", `a\u2028b\u2029`, "a\u2028b\u2029", "a\u2028b\u2029", "a\u2028b\u2029"},
		{"not a character", "\uFFFE\uFFFF", "\uFFFE\uFFFF", "\uFFFE\uFFFF", "��", "\uFFFE\uFFFF"},
		{"wide", "Å漢😀", "Å漢😀", "Å漢😀", "Å漢😀", "Å漢😀"},
		{"wide, then special", "漢\"漢", `漢\"漢`, `"漢""漢"`, "漢&quot;漢", `"漢""漢"`},
		{"section end", "]]>", "]]>", "]]>", "]]&gt;", `"]]>"`},
		{"script", "</script><script>&amp;", "</script><script>&amp;", "</script><script>&amp;", "&lt;/script&gt;&lt;script&gt;&amp;amp;", "</script><script>&amp;"},
		{"braces", "{a:b}", "{a:b}", "{a:b}", "{a:b}", `"{a:b}"`},
		{"formula", "=1+1", "=1+1", "=1+1", "=1+1", "=1+1"},
		{"long", strings.Repeat("x", 5000) + `"`, strings.Repeat("x", 5000) + `\"`, `"` + strings.Repeat("x", 5000) + `"""`, strings.Repeat("x", 5000) + "&quot;", `"` + strings.Repeat("x", 5000) + `"""`},
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
				if got := isPlain(text); got != want || got && csvEscapes.plain(text)+markupEscapes.plain(text) != 2*size {
					t.Errorf("%q: plain %t", text, got)
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
		{"json", `{"Offset":20,"Results":[{"a \"<:,\n":1}],"Total":0,"Meta":{"a \"<:,\n":"v"},"ResponseStatus":{}}`},
		{"ndjson", `{"a \"<:,\n":1}` + "\n"},
		{"csv", "\"a \"\"<:,\n\"\r\n1\r\n"},
		{"jsv", "{Offset:20,Results:[{\"a \"\"<:,\n\":1}],Total:0,Meta:{\"a \"\"<:,\n\":v},ResponseStatus:{}}"},
		{"xml", xmlDeclaration + `<Item Name="a &quot;&lt;:,
Response"><Offset>20</Offset><Results><Item Name="a &quot;&lt;:,
"><Item Name="a &quot;&lt;:,
">1</Item></Item></Results><Total>0</Total><Meta><Item Name="a &quot;&lt;:,
">v</Item></Meta><ResponseStatus></ResponseStatus></Item>`},
	}
	for _, test := range tests {
		got := result(format(t, test.format), shape, [][]row.Cell{{number(1)}}, tail)
		if string(got) != test.want {
			t.Errorf("%s: got %q, want %q", test.format, got, test.want)
		}
	}
}
