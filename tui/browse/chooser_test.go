package browse_test

import (
	"slices"
	"strings"
	"testing"

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
		t.Fatalf("%v is listed", list)
	}
	d.WantText("/ cartage2", "8 of 8 shown")
	d.Press("*")
	d.WantText("6 of 8 shown")
	d.Press("*", "j", "space")
	d.WantText("7 of 8 shown")
	d.Press("K")
	if list := c.Listed(); !strings.HasSuffix(list[0], "TaxTotal") {
		t.Errorf("the field was not moved: %v", list)
	}
	d.Press("/", "'zzz", "enter", "space", "*", "J", "up", "down")
	d.WantText("no field matches cartage2zzz", "7 of 8 shown")
	d.Press("/", "ctrl+u", "enter", "enter")
	b := d.App.Front().(*browse.Browser)
	if len(b.Selection.Fields) != 7 || slices.Contains(b.Selection.Fields, "Cartage2TaxTotal") {
		t.Errorf("%v is shown", b.Selection.Fields)
	}
}

// One key chooses key fields and amounts.
func TestChooseKeysAndAmounts(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Connect(t, tuitest.DemoDaemon(t)), tui.Options{})
	d.Press(":", "'JB_EstimateResourceLines", "enter", "C", "m", "enter")
	b := d.App.Front().(*browse.Browser)
	if len(b.Selection.Fields) == 0 || len(b.Selection.Fields) == len(b.Selection.Kind.Fields) {
		t.Fatalf("%v is shown", b.Selection.Fields)
	}
	for _, name := range b.Selection.Fields {
		if at, _ := b.Selection.Kind.Column(name); at != 0 && b.Selection.Kind.Fields[at].TypeName() != "decimal" && b.Selection.Kind.Fields[at].TypeName() != "decimal?" && !strings.HasSuffix(name, "ID") {
			t.Errorf("%s is neither key nor amount", name)
		}
	}
	d.Press(":", "'DB_Class", "enter", "C", "m")
	d.WantText("DB_Class has no decimal fields")
}
