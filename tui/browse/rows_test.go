package browse_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
)

// A filter with an invalid value is not submitted.
func TestInvalidFilterIsRejected(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press(":", "'SO_Totals", "enter", "/", "'InvoiceID>5", "enter")
	d.WantText("/ InvoiceID>5", "InvoiceID is text")
	d.Press("esc", "/", "'InvoiceTotal>=abc", "enter")
	d.WantText("must be a number")
	d.Press("esc")
	d.WantText("1 of 12,000")
}

// The last row is reached without loading the rows between, and the selection stays on
// its row after a refresh.
func TestJumpToLastRowSkipsPages(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{})
	d.Press(":", "'SO_Totals", "enter", "G")
	d.WantText("12,000 of 12,000")
	b := d.App.Front().(*browse.Browser)
	last := b.Grid.Row().ID
	if b.Rows.Pages.Row(6000) != nil {
		t.Error("rows between the first and the last page were fetched")
	}
	d.Press("k", "k", "R", "j", "j")
	if got := b.Grid.Row().ID; got != last {
		t.Errorf("%s is selected, want %s", got, last)
	}
}

// The status shows the exact sum of the marked values.
func TestStatusShowsSumOfMarkedRows(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, tui.Options{})
	d.Press(":", "'SO_Totals", "enter", "l", "space", "space", "space")
	kind, _ := record.Builtin().Lookup("SO_Totals")
	page, err := c.Page(t.Context(), client.Query{Kind: kind, Take: new(int64(3))})
	if err != nil {
		t.Fatal(err)
	}
	sum := new(big.Rat)
	for _, row := range page.Rows {
		n, ok := new(big.Rat).SetString(row.Text("InvoiceTotal"))
		if !ok {
			t.Fatalf("%s is no number", row.Text("InvoiceTotal"))
		}
		sum.Add(sum, n)
	}
	d.Resize(120, 24)
	_, fraction, _ := strings.Cut(page.Rows[0].Text("InvoiceTotal"), ".")
	d.WantText("3 marked, InvoiceTotal sum "+display.Grouped(sum.FloatString(len(fraction)))+"  min ", "  max ")
}

// In a record, the cursor goes from field to field, and y copies the value as the service
// sends it.
func TestCopyFieldOfRecord(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'SO_Totals InvoiceTotal>=10000", "enter", "enter")
	row := d.App.Front().(*browse.Record).Full
	if row.Text("InvoiceID") == "" || row.Text("InvoiceTotal") == "" {
		t.Fatalf("the record is %s, want one with both fields", row.JSON())
	}
	for _, test := range []struct {
		keys []string
		want string
	}{
		{nil, row.Text("InvoiceID")},
		{[]string{"down"}, row.Text("InvoiceTotal")},
		{[]string{"tab", "down", "down"}, row.Text("InvoiceTotal")}, // as JSON
	} {
		d.Press(test.keys...)
		d.Copied.Reset()
		d.Press("y")
		if got := d.LastCopied(); got != test.want {
			t.Errorf("after %q, y copies %q, want %q:\n%s", test.keys, got, test.want, d.Text())
		}
	}
}

// On a wide screen the fields of the selected record are next to the rows, also those that
// are not shown as columns.
func TestPreviewOfRecord(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Resize(120, 40)
	d.Press(":", "'so_totals", "enter", "C", "*", "space", "enter", "j")
	d.WantText("SO_Totals", "[2 of 12,000]", "Cartage3TaxTotal")
	d.CheckScreen()
	d.Press("G")
	d.WantText("[12,000 of 12,000]")
}
