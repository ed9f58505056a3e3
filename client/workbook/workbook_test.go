package workbook

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/xlsx"
)

// sheetXML writes rows and returns the XML of the sheet.
func sheetXML(t *testing.T, rows ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, "rows", []Column{
		{Name: "T", Type: record.Text},
		{Name: "N", Type: record.Decimal},
		{Name: "D", Type: record.Epoch},
		{Name: "B", Type: record.Bool},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range rows {
		row, err := client.ParseRow([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Row(row); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	file, err := archive.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// TestRowCellTypes checks that values which a cell cannot store exactly become text.
func TestRowCellTypes(t *testing.T) {
	text, err := sheetXML(t,
		`{"T":"00123","N":40002.15,"D":"/Date(1782864000000+0000)/","B":true}`,
		`{"T":"=1","N":12345678901234567890}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		">00123</t>",
		"<v>40002.15</v>",
		"<v>46204</v>", // 2026-07-01
		`t="b"><v>1</v>`,
		">=1</t>",
		">12345678901234567890</t>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet is %s, want %s in it", text, want)
		}
	}
}

func TestErrorNamesRowWithLongText(t *testing.T) {
	_, err := sheetXML(t, `{"T":"a"}`, `{"T":"`+strings.Repeat("a", xlsx.MaxText+1)+`"}`)
	if !errors.Is(err, xlsx.ErrText) || !strings.Contains(err.Error(), "row 2") {
		t.Errorf("error %v, want ErrText with row 2", err)
	}
}

func TestNewReturnsErrorOfLongHeader(t *testing.T) {
	columns := []Column{{Name: strings.Repeat("a", xlsx.MaxText+1), Type: record.Text}}
	w, err := New(io.Discard, "rows", columns)
	if w != nil || !errors.Is(err, xlsx.ErrText) {
		t.Errorf("New with a name of %d characters: got %v, %v, want ErrText",
			len(columns[0].Name), w, err)
	}
}
