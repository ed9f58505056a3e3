package tui_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/tuitest"
)

// The arrangement of a kind is restored in another session; marks are not.
func TestArrangementIsRestored(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	c := tuitest.Connect(t, i)
	o := tui.Options{State: t.TempDir(), Profile: "prod"}
	d := tuitest.Drive(t, c, o)
	d.Press(":", "'SO_Totals", "enter", "l", ">", ">", "z", "s", "s", "/", "'InvoiceTotal>=1000", "enter", "space", "space")
	d.Press("C", "j", "j", "space", "enter")
	before := d.App.Front().(*browse.Browser)
	if before.Grid.Marks.Len() != 2 || len(before.Selection.Fields) != 7 || before.Grid.Columns.Frozen() != 1 {
		t.Fatalf("%d marks, %d fields, %d frozen", before.Grid.Marks.Len(), len(before.Selection.Fields), before.Grid.Columns.Frozen())
	}
	d.Press("0", "l", "z")
	saved := before.Arrangement()
	d.Advance(1000 * time.Millisecond) // until it is saved

	for name, driver := range map[string]*tuitest.Driver{"this session": d, "the next": tuitest.Drive(t, c, o)} {
		driver.Press(":", "'SO_Totals", "enter")
		b := driver.App.Front().(*browse.Browser)
		now := b.Arrangement()
		if b == before || !slices.Equal(now.Fields, saved.Fields) || now.Widths["InvoiceTotal"] != saved.Widths["InvoiceTotal"] || now.Frozen != 2 ||
			now.OrderBy != "-InvoiceTotal" || !slices.Equal(now.Where, []string{"InvoiceTotal>=1000"}) {
			t.Errorf("arrangement in %s is %+v, want %+v", name, now, saved)
		}
		driver.WantText("[InvoiceTotal>=1000]", "InvoiceTotal ▼")
		if b.Grid.Marks.Len() != 0 {
			t.Errorf("in %s %d rows are marked", name, b.Grid.Marks.Len())
		}
	}
	other := tuitest.Drive(t, c, tui.Options{State: o.State, Profile: "test"})
	other.Press(":", "'SO_Totals", "enter")
	other.WantText("row 1 of 12,000")
}

// A file that cannot be parsed is renamed with a message, and a newer one is not
// modified.
func TestInvalidStateFileIsRenamed(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	c := tuitest.Connect(t, i)
	for text, want := range map[string]string{
		`{"Grids": {"SO_Tot`:              "renamed to",
		`{"Version": 1, "Grids": [1, 2]}`: "renamed to",
		`{"Version": 99}`:                 "written by a newer whctl",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "prod.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := tuitest.Drive(t, c, tui.Options{State: dir, Profile: "prod"})
		d.Press("ctrl+e")
		if shown := strings.Join(strings.FieldsFunc(d.Text(), func(r rune) bool { return strings.ContainsRune(" │\n", r) }), " "); !strings.Contains(shown, want) {
			t.Errorf("%s: the errors are\n%s", text, d.Text())
		}
		d.Press("esc", "esc", ":", "'DB_Class", "enter", "s")
		d.Advance(1000 * time.Millisecond)
		saved, readErr := state.Open(dir, "prod")
		renamed, renamedErr := os.ReadFile(path + ".unreadable")
		if newer := strings.Contains(text, "99"); newer && (readErr == nil || renamedErr == nil) || !newer && (string(renamed) != text || saved.Grids["DB_Class"].OrderBy == "") {
			t.Errorf("%s: state %+v (%v), renamed file %q", text, saved.Grids, readErr, renamed)
		}
	}
}

// Saved filters and views that are no longer valid are skipped.
func TestInvalidSavedFiltersAreSkipped(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	dir := t.TempDir()
	k, _ := state.Open(dir, "")
	k.SetGrid("SO_Totals", state.Arrangement{Fields: []string{"Gone", "InvoiceTotal"}, Widths: map[string]int{"InvoiceTotal": -5, "Gone": 10}, Frozen: 99, OrderBy: "Gone", Where: []string{"Gone=1", "InvoiceTotal>=1000"}})
	k.SetView(state.View{Name: "old", Record: "XX_Gone"})
	if err := k.Write(); err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, tuitest.Connect(t, i), tui.Options{State: dir})
	d.Press(":", "'SO_Totals", "enter")
	d.CheckScreen()
	d.WantText("[InvoiceTotal>=1000]", `saved filter "Gone=1" of SO_Totals is no longer valid`)
	d.Press(":", "'old", "enter")
	d.WantText("record kind XX_Gone no longer exists")
}

// Lists of records and messages are saved as views, counted on the home screen, opened
// from there and by name, and deleted.
func TestViewsAreSavedAndDeleted(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := tui.Options{State: t.TempDir()}
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, o)
	d.Press(":", "'SO_Totals InvoiceTotal>=1000", "enter", "s", ":", "'save big-invoices", "enter")
	d.WantText("big-invoices saved", "SO_Totals (big-invoices)")
	d.Press("F") // only :save changes a view
	d.Press("4", "/", "'Status=3  AddedDateTime>=today  LastSavedDateTime<-2h", "enter", ":", "'save failed-today", "enter")
	d.WantText("failed-today saved", "Messages (failed-today)")
	d.Press(":", "'save Home", "enter")
	d.WantText("Home is already in use")
	d.Press("esc", ":", "'save a b", "enter")
	d.WantText("one word")
	d.Press("esc")
	d.Advance(1000 * time.Millisecond)

	next := tuitest.Drive(t, c, o)
	next.AwaitLive()
	v, _ := next.App.Session.State.View("failed-today")
	if !slices.Equal(v.Where, []string{"Status=3", "AddedDateTime>=today", "LastSavedDateTime<-2h"}) {
		t.Errorf("the view of messages is %+v", v)
	}
	kind, _ := record.Builtin().Lookup("SO_Totals")
	filters, err := browse.ParseFilters(next.App.Session.Now, kind, "InvoiceTotal>=1000")
	if err != nil {
		t.Fatal(err)
	}
	total, err := c.Count(t.Context(), client.Query{Kind: kind, Where: filters})
	if err != nil {
		t.Fatal(err)
	}
	next.WantText("Saved views", "big-invoices  SO_Totals", "failed-today  Message")
	lines := strings.Split(next.Text(), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "big-invoices") })
	if !strings.Contains(lines[at], " "+display.Thousands(total)+"  big-invoices") {
		t.Errorf("%q does not count %d rows", lines[at], total)
	}
	next.Press("enter")
	next.WantText("SO_Totals (big-invoices)", "[InvoiceTotal>=1000]", "InvoiceTotal ▲")
	next.Press(":", "'failed", "enter")
	next.WantText("Messages (failed-today)", "[Status=3]", "[AddedDateTime>=2026-07-01]")
	next.Press(":", "'drop big", "tab", "enter")
	next.WantText("big-invoices deleted")
	next.Press("1")
	if strings.Contains(next.Text(), "big-invoices  SO_Totals") {
		t.Errorf("not deleted:\n%s", next.Text())
	}
}

// The up key recalls commands of previous sessions.
func TestCommandHistoryIsSaved(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := tui.Options{State: t.TempDir()}
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, o)
	d.Press(":", "'DB_Class", "enter", ":", "'IN_Colours", "enter", ":", "'DB_Class", "enter")
	d.Advance(1000 * time.Millisecond)
	next := tuitest.Drive(t, c, o)
	next.Press(":", "up")
	next.WantText(" : DB_Class")
	next.Press("up")
	next.WantText(" : IN_Colours")
	next.Press("up", "down")
	next.WantText(" : DB_Class")
}
