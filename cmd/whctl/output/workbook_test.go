package output

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
)

// LibreOffice converts the workbook to CSV, in full precision, with formulas as formulas:
// texts, numbers and dates keep their values.
func TestWorkbookInLibreOffice(t *testing.T) {
	office := clientstest.Tool(t, "soffice")
	lines := []string{
		`{"T":"00123","N":40002.1500,"D":"2026-07-08T09:10:11.0000000","B":true}`,
		`{"T":"=1+1","N":922337203685477.5807,"D":"2026-07-08T09:10:11.1230000","B":false}`,
		`{"T":"1E5","N":12345678901234567890123456789012345678,"D":"2026-07-08T09:10:11.1234567"}`,
		`{"T":"MAR1","N":-0.0001,"D":"1753-01-01T00:00:00.0000000"}`,
		`{"T":"a,b \"c\"\nd <&> _x0041_ \u0007","N":0,"D":null}`,
		`{"T":"","N":null}`,
		`{"T":"  \ud83d\ude00 \u00e9 "}`,
	}
	want := [][]string{
		{"T", "N", "D", "B"},
		{"00123", "40002.15", "2026-07-08 09:10:11", "TRUE"},
		{"=1+1", "922337203685477.5807", "2026-07-08 09:10:11.123", "FALSE"},
		{"1E5", "12345678901234567890123456789012345678", "2026-07-08T09:10:11.1234567", ""},
		{"MAR1", "-0.0001", "1753-01-01T00:00:00.0000000", ""},
		{"a,b \"c\"\nd <&> _x0041_ \a", "0", "", ""},
		{"", "", "", ""},
		{"  😀 é ", "", "", ""},
	}
	dir := t.TempDir()
	columns := layout{
		columns: []Column{
			{Name: "T", Type: record.Text},
			{Name: "N", Type: record.Decimal},
			{Name: "D", Type: record.DateTime},
			{Name: "B", Type: record.Bool},
		},
		sheet: "SO_Totals",
	}
	book := filepath.Join(dir, "book.xlsx")
	content := printed(t, "xlsx", columns, lines...)
	if err := os.WriteFile(book, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	// Commas, double quotes, UTF-8, from the first line, cells as shown, and formulas as such.
	const filter = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true"
	profile := clientstest.FileURL(filepath.Join(dir, "profile"))
	cmd := exec.Command(office, "-env:UserInstallation="+profile,
		"--headless", "--convert-to", filter, "--outdir", dir, book)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("converting the workbook: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "book.csv"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("converting the workbook to CSV: error %v\ngot  %q\nwant %q", err, got, want)
	}
}
