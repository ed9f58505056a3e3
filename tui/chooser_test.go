package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/browse"
)

// Columns are found by a part of their names; what is done then is done to those
// that are listed.
func TestColumnsAreFound(t *testing.T) {
	d := drive(t, connected(t, demoDaemon(t)), Options{})
	d.press(":", "'SO_Totals", "enter", "C")
	d.sees("8 of 8 shown", "/ finds a field")
	d.press("/", "'cartage2", "enter")
	c := d.app.over.(*browse.Chooser)
	if list := c.Listed(); len(list) != 2 || !strings.HasPrefix(list[0], "Cartage2") {
		t.Fatalf("%v is listed", list)
	}
	d.sees("/ cartage2", "8 of 8 shown")
	d.press("*")
	d.sees("6 of 8 shown")
	d.press("*", "j", "space")
	d.sees("7 of 8 shown")
	d.press("K")
	if list := c.Listed(); !strings.HasSuffix(list[0], "TaxTotal") {
		t.Errorf("nothing was moved: %v", list)
	}
	d.press("/", "'zzz", "enter", "space", "*", "J", "up", "down")
	d.sees("no field's name holds cartage2zzz", "7 of 8 shown")
	d.press("/", "ctrl+u", "enter", "enter")
	b := d.app.Front().(*browse.Browser)
	if len(b.Fields) != 7 || slices.Contains(b.Fields, "Cartage2TaxTotal") {
		t.Errorf("%v is shown", b.Fields)
	}
}

// Keys and amounts are chosen by one key.
func TestKeysAndMoney(t *testing.T) {
	d := drive(t, connected(t, demoDaemon(t)), Options{})
	d.press(":", "'JB_EstimateResourceLines", "enter", "C", "m", "enter")
	b := d.app.Front().(*browse.Browser)
	if len(b.Fields) == 0 || len(b.Fields) == len(b.Kind.Fields) {
		t.Fatalf("%v is shown", b.Fields)
	}
	for _, name := range b.Fields {
		if at, _ := b.Kind.Column(name); at != 0 && b.Kind.Fields[at].TypeName() != "decimal" && b.Kind.Fields[at].TypeName() != "decimal?" && !strings.HasSuffix(name, "ID") {
			t.Errorf("%s is neither", name)
		}
	}
	d.press(":", "'DB_Class", "enter", "C", "m")
	d.sees("DB_Class has no field of money")
}
