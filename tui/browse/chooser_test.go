package browse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
)

// Columns are found by a part of their name; keys apply to the listed columns.
func TestChooserSearchFindsColumns(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'SO_Totals", "enter", "C")
	d.WantText("8 of 8 shown", "/ searches fields")
	d.Press("/", "'cartage2", "enter")
	c := d.App.Overlay().(*browse.Chooser)
	if list := c.Listed(); len(list) != 2 || !strings.HasPrefix(list[0], "Cartage2") {
		t.Fatalf("the search for cartage2 lists %q, want two fields", list)
	}
	d.WantText("/ cartage2", "8 of 8 shown")
	d.Press("*")
	d.WantText("6 of 8 shown")
	d.Press("*", "j", "space")
	d.WantText("7 of 8 shown")
	d.Press("K")
	if list := c.Listed(); !strings.HasSuffix(list[0], "TaxTotal") {
		t.Errorf("after K, the list is %q, want the field TaxTotal first", list)
	}

	// Keys have no effect if no column is listed.
	d.Press("/", "'zzz", "enter", "space", "*", "J", "up", "down")
	d.WantText("no field matches cartage2zzz", "7 of 8 shown")
	d.Press("/", "ctrl+u", "enter", "enter")
	fields := d.App.Front().(*browse.Browser).Selection.Fields
	if len(fields) != 7 || slices.Contains(fields, "Cartage2TaxTotal") {
		t.Errorf("the fields are %q, want 7 without Cartage2TaxTotal", fields)
	}
}

// One key chooses key fields and amounts.
func TestChooseKeysAndAmounts(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'JB_EstimateResourceLines", "enter", "C", "m", "enter")
	selection := d.App.Front().(*browse.Browser).Selection
	if n := len(selection.Fields); n == 0 || n == len(selection.Kind.Fields) {
		t.Fatalf("%d of %d fields are shown, want some", n, len(selection.Kind.Fields))
	}
	for _, name := range selection.Fields {
		index, _ := selection.Kind.Column(name)
		isKey := index == 0 || strings.HasSuffix(name, "ID")
		isAmount := selection.Kind.Fields[index].Type == record.Decimal
		if !isKey && !isAmount {
			t.Errorf("%s is shown, but is neither a key nor an amount", name)
		}
	}
	d.Press(":", "'DB_Class", "enter", "C", "m")
	d.WantText("DB_Class has no decimal fields")
}
