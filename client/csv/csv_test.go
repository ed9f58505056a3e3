package csv

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/csv/csvtest"
)

// TestAppend checks the quoting of cells. The tests of the writers of CSV use the same table.
func TestAppend(t *testing.T) {
	for _, c := range csvtest.Cells {
		if got := string(Append(nil, []byte(c.Text))); got != c.CSV {
			t.Errorf("append %q: got %q, want %q", c.Text, got, c.CSV)
		}
	}
}

// TestIsFormula checks which texts get a guard in CSV for spreadsheets.
func TestIsFormula(t *testing.T) {
	for _, c := range csvtest.Cells {
		want := strings.HasPrefix(strings.TrimPrefix(c.Guarded, `"`), "'")
		if got := IsFormula([]byte(c.Text)); got != want {
			t.Errorf("%q is a formula: got %t, want %t", c.Text, got, want)
		}
	}
}

// TestAppendNames checks that the first name cannot make a file one in the format SYLK.
func TestAppendNames(t *testing.T) {
	for names, want := range map[string]string{
		"ID Name":   `"ID",Name`,
		"Name ID":   "Name,ID",
		`a"b x,y`:   `"a""b","x,y"`,
		"IDNo":      `"IDNo"`,
		"InvoiceID": "InvoiceID",
	} {
		if got := string(AppendNames(nil, strings.Fields(names))); got != want {
			t.Errorf("append the names %q: got %s, want %s", names, got, want)
		}
	}
}
