package output

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/theme"
)

// printed returns rows in a format.
func printed(t testing.TB, name string, l layout, lines ...string) string {
	t.Helper()
	var text bytes.Buffer
	l.out = &Sink{Writer: bufio.NewWriter(&text)}
	l.names = record.Texts(l.columns, func(c Column) string { return c.Name })
	l.single = true
	l.view = newRawView(Table{Columns: l.columns}, Screen{}.raw(theme.Theme{}))
	l.view.null = l.null
	if l.notice == nil {
		l.notice = func(string, ...any) {}
	}
	i := slices.Index(FormatNames(), name)
	writeRows(t, Formats()[i].new(l), lines)
	if err := l.out.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// writeRows writes rows, given as JSON.
func writeRows(t testing.TB, to RowWriter, lines []string) {
	t.Helper()
	errs := []error{to.Begin()}
	for _, line := range lines {
		row, err := client.ParseRow([]byte(line))
		errs = append(errs, err, to.Row(row))
	}
	for _, err := range append(errs, to.End()) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

var twoColumns = layout{
	width:   80,
	columns: []Column{{Name: "A", Type: record.Text}, {Name: "B", Type: record.Decimal}},
}

func TestCSV(t *testing.T) {
	lines := []string{
		`{"A":"x","B":1.50}`,
		`{"B":12345678901234567890123456789012345678}`,
		`{"A":"","B":null}`,
		`{"A":"00123"}`,
		`{"A":"a,b \"c\"\r\nd","B":-0.0001}`,
		`{"A":"=cmd|' /C'!A0","B":-5}`,
		`{"A":"\ud83d\ude00 é"}`,
		`{"A":true}`,
		`{"A":{"k":[1,2]}}`,
		`{"A":"NULL"}`,
	}
	golden(t, "csv", printed(t, "csv", twoColumns, lines...))
	excel := twoColumns
	excel.excel = true
	golden(t, "csv-excel", printed(t, "csv", excel, lines...))
	null := twoColumns
	null.null = "NULL"
	golden(t, "csv-null", printed(t, "csv", null, lines...))
	golden(t, "tsv", printed(t, "tsv", twoColumns, append(lines, `{"A":"tab\tback\\slash"}`)...))
	golden(t, "json", printed(t, "json", twoColumns, lines...))
	golden(t, "ndjson", printed(t, "ndjson", twoColumns, lines...))
	for _, name := range streaming() {
		golden(t, name+"-empty", printed(t, name, twoColumns))
	}
}

// FuzzCSV checks that encoding/csv reads the cells that were written.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b")
	f.Add("", "")
	f.Add("a,b\n\"c\"", " \r\n")
	f.Add("\xff", "\u2028\ufeff\x00")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, cells := range [][]string{{a}, {a, b}} {
			var columns []Column
			object := map[string]string{}
			for i, cell := range cells {
				name := string(rune('A' + i))
				columns = append(columns, Column{Name: name})
				object[name] = cell
			}
			line, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			text := printed(t, "csv", layout{columns: columns}, string(line))
			got, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || len(got) != 2 {
				t.Fatalf("reading %q: got %q, error %v; want two lines", text, got, err)
			}
			for i := range cells {
				// The reader converts CRLF inside quotes to LF.
				cells[i] = strings.ReplaceAll(toUTF8(cells[i]), "\r\n", "\n")
			}
			if !reflect.DeepEqual(got[1], cells) {
				t.Fatalf("reading %q: got %q, want %q", text, got[1], cells)
			}
		}
	})
}

// toUTF8 replaces each invalid byte, like encoding/json.
func toUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
