package encode

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// TestCSVLoneColumn checks that no row becomes an empty line, which readers skip.
func TestCSVLoneColumn(t *testing.T) {
	shape := Shape{Columns: []Column{{"Class", record.Text}}}
	got := string(result(format(t, "csv"), shape, [][]row.Cell{{text("A")}, {null}, {text("")}}, Tail{}))
	if want := "Class\r\nA\r\n\"\"\r\n\"\"\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCSVFormulaGuard checks texts, column names and member names of errors.
func TestCSVFormulaGuard(t *testing.T) {
	for _, text := range []string{
		"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d",
		"\uff20", "\x00=", "\ufeff\x00@", "a=", "\uff1c", "",
	} {
		for _, guard := range []bool{false, true} {
			f, want := format(t, "csv").WithCSV(false, guard), text
			if guard && text != "" && text != "a=" && text != "\uff1c" {
				want = "'" + text
			}
			want = strings.ReplaceAll(want, "\x00", "\ufffd")

			document, err := f.Document(nil, "N", []map[string]any{{text: text, "n": -1}})
			if err != nil {
				t.Fatal(err)
			}

			failure := f.Failure(nil, wire.ResponseStatus{Errors: []wire.FieldError{{
				ErrorCode: "n",
				Message:   text,
				FieldName: text,
			}}}, nil)
			for _, body := range [][]byte{
				document,
				failure,
				result(f, Shape{Columns: []Column{{
					Name: "n",
					Type: record.Text,
				}}}, [][]row.Cell{{{Data: []byte(text)}}}, Tail{}),
			} {
				lines, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(body), "\r\n", "\n"))).ReadAll()
				for _, cell := range slices.Concat(lines...) {
					if !slices.Contains([]string{
						want, "n", "-1", "ErrorCode", "Message", "FieldName",
					}, cell) {
						t.Errorf("guard %t: %q is %q in %q, %v", guard, text, cell, body, err)
					}
				}
			}
		}
	}
}

// TestCSVByteOrderMark checks that rows, documents and errors start with the mark exactly if the request
// has bom=true.
func TestCSVByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	for _, bom := range []bool{false, true} {
		f := format(t, "csv").WithCSV(bom, true)
		document := func(v any) []byte {
			body, err := f.Document(nil, "N", v)
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
		columns := []Column{{Name: "Größe", Type: record.Text}}
		for part, body := range map[string][]byte{
			"rows":           result(f, Shape{Columns: columns}, [][]row.Cell{{text("ä")}}, Tail{}),
			"a document":     document([]map[string]any{{"Größe": 1}}),
			"an empty list":  document([]string{}),
			"an error":       f.Failure(nil, wire.ResponseStatus{Message: "Größe"}, nil),
			"a query failed": f.Failure(nil, wire.ResponseStatus{Message: "Größe"}, &Shape{Operation: "N"}),
		} {
			marks := strings.Count(string(body), mark)
			if hasMark := strings.HasPrefix(string(body), mark); hasMark != bom || marks > 1 {
				t.Errorf("%s with bom=%v starts with a byte order mark: %v, and has %d in all: %q",
					part, bom, hasMark, marks, body)
			}
		}
	}
}

// FuzzCSV checks that encoding/csv reads back the output of the encoder.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b\"c", "d,e\r\nf")
	f.Add("", "", "")
	f.Add(" ", "\x00\xff", "\r")
	f.Add("\"", "\n", "\u2028,")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		shape := Shape{Columns: []Column{{a, record.Text}, {b, record.Object}, {c, record.Decimal}}}
		cells := []row.Cell{text(a), text(b), text(c)}
		got, err := csv.NewReader(strings.NewReader(string(result(format(t, "csv"), shape,
			[][]row.Cell{cells}, Tail{})))).ReadAll()
		if err != nil || len(got) != 2 {
			t.Fatalf("%d lines: %v", len(got), err)
		}
		for i, in := range []string{a, b, c} {
			want := strings.ReplaceAll(string([]rune(in)), "\r\n", "\n") // encoding/csv does the same
			want = strings.ReplaceAll(want, "\x00", "\ufffd")
			if got[0][i] != want || got[1][i] != want {
				t.Errorf("column %d: header %q, value %q, want %q", i, got[0][i], got[1][i], want)
			}
		}
	})
}
