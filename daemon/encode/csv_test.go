package encode

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
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

// FuzzCSV checks that encoding/csv reads back the output of the encoder.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b\"c", "d,e\r\nf")
	f.Add("", "", "")
	f.Add(" ", "\x00\xff", "\r")
	f.Add("\"", "\n", "\u2028,")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		shape := Shape{Columns: []Column{{a, record.Text}, {b, record.Object}, {c, record.Decimal}}}
		cells := []row.Cell{text(a), text(b), text(c)}
		got, err := csv.NewReader(strings.NewReader(string(result(format(t, "csv"), shape, [][]row.Cell{cells}, Tail{})))).ReadAll()
		if err != nil || len(got) != 2 {
			t.Fatalf("%d lines: %v", len(got), err)
		}
		for i, in := range []string{a, b, c} {
			want := strings.ReplaceAll(string([]rune(in)), "\r\n", "\n") // encoding/csv does the same
			if got[0][i] != want || got[1][i] != want {
				t.Errorf("column %d: header %q, value %q, want %q", i, got[0][i], got[1][i], want)
			}
		}
	})
}
