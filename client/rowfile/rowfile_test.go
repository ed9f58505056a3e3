package rowfile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/csv/csvtest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/rowfile"
)

// write returns the file of rows of JSON in a format.
func write(t *testing.T, format string, o rowfile.Options, rows ...string) string {
	t.Helper()
	var file bytes.Buffer
	o.Out = bufio.NewWriter(&file)
	w := newWriter(t, format, o)
	if err := w.Begin(); err != nil {
		t.Fatalf("beginning %s: %v", format, err)
	}
	for _, text := range rows {
		row, err := client.ParseRow([]byte(text))
		if err != nil {
			t.Fatalf("parsing %s: %v", text, err)
		}
		if err := w.Row(row); err != nil {
			t.Fatalf("writing %s as %s: %v", text, format, err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatalf("ending %s: %v", format, err)
	}
	if err := o.Out.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func newWriter(t *testing.T, format string, o rowfile.Options) rowfile.Writer {
	t.Helper()
	for _, f := range rowfile.Formats() {
		if f.Name == format {
			return f.New(o)
		}
	}
	t.Fatalf("there is no format %s", format)
	return nil
}

// TestCSVCells: cells keep their line breaks, and CSV for Excel has the guard of the service.
func TestCSVCells(t *testing.T) {
	columns := []rowfile.Column{{Name: "Text", Type: record.Text}, {Name: "N", Type: record.Int}}
	for _, c := range csvtest.Cells {
		text, err := json.Marshal(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		row := `{"Text":` + string(text) + `,"N":-1}`

		got := write(t, "csv", rowfile.Options{Columns: columns}, row)
		want := "Text,N\n" + c.CSV + ",-1\n"
		if got != want {
			t.Errorf("%q: got %q, want %q", c.Text, got, want)
		}

		got = write(t, "csv", rowfile.Options{Columns: columns, Excel: true}, row)
		want = "\ufeffText,N\r\n" + c.Guarded + ",-1\r\n"
		if got != want {
			t.Errorf("%q for Excel: got %q, want %q", c.Text, got, want)
		}
	}
}

// TestCSVIsNotSYLK: Excel would refuse a file that starts with ID.
func TestCSVIsNotSYLK(t *testing.T) {
	columns := []rowfile.Column{{Name: "ID", Type: record.Int}, {Name: "ID2", Type: record.Int}}
	got := write(t, "csv", rowfile.Options{Columns: columns}, `{"ID":1,"ID2":2}`)
	want := "\"ID\",ID2\n1,2\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONOfNoRows(t *testing.T) {
	if got := write(t, "json", rowfile.Options{}); got != "[]\n" {
		t.Errorf("got %q, want an empty array", got)
	}
}
