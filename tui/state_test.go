package tui_test

import (
	"os"
	"path/filepath"
	"reflect"
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
	d.Press(":", "'SO_Totals", "enter", "l", ">", ">", "z", "s", "s")
	d.Press("/", "'InvoiceTotal>=1000", "enter", "space", "space")
	d.Press("C", "j", "j", "space", "enter")
	before := d.App.Front().(*browse.Browser)
	marks, fields := before.Grid.Marks.Len(), len(before.Selection.Fields)
	frozen := before.Grid.Columns.Frozen()
	if marks != 2 || fields != 7 || frozen != 1 {
		t.Fatalf("%d marks, %d fields, %d frozen columns; want 2, 7, 1", marks, fields, frozen)
	}
	d.Press("0", "l", "z")
	saved := before.Arrangement()
	want := state.Arrangement{
		Fields:  saved.Fields,
		Widths:  saved.Widths,
		Frozen:  2,
		OrderBy: "-InvoiceTotal",
		Where:   []string{"InvoiceTotal>=1000"},
	}
	d.Advance(time.Second) // until it is saved

	next := tuitest.Drive(t, c, o)
	for name, driver := range map[string]*tuitest.Driver{"this session": d, "the next session": next} {
		driver.Press(":", "'SO_Totals", "enter")
		b := driver.App.Front().(*browse.Browser)
		if b == before {
			t.Fatalf("in %s, the rows were not opened again", name)
		}
		if got := b.Arrangement(); !reflect.DeepEqual(got, want) {
			t.Errorf("the arrangement in %s is %+v, want %+v", name, got, want)
		}
		driver.WantText("[InvoiceTotal>=1000]", "InvoiceTotal ▼")
		if n := b.Grid.Marks.Len(); n != 0 {
			t.Errorf("in %s, %d rows are marked, want none", name, n)
		}
	}

	otherProfile := tuitest.Drive(t, c, tui.Options{State: o.State, Profile: "test"})
	otherProfile.Press(":", "'SO_Totals", "enter")
	otherProfile.WantText("1 of 12,000")
}

// A file that cannot be parsed is renamed with a message, and a newer one is not
// modified.
func TestInvalidStateFileIsRenamed(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	c := tuitest.Connect(t, i)
	for name, test := range map[string]struct {
		text  string
		want  string // in the list of errors
		newer bool
	}{
		"cut":           {`{"Grids": {"SO_Tot`, "renamed to", false},
		"another type":  {`{"Version": 1, "Grids": [1, 2]}`, "renamed to", false},
		"newer version": {`{"Version": 99}`, "written by a newer whctl", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "prod.json")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := tuitest.Drive(t, c, tui.Options{State: dir, Profile: "prod"})
			d.Press("ctrl+e")
			if shown := unwrapped(d.Text()); !strings.Contains(shown, test.want) {
				t.Errorf("the errors are\n%s\nwant %q among them", d.Text(), test.want)
			}

			// Sort rows, which is saved unless the file is newer.
			d.Press("esc", "esc", ":", "'DB_Class", "enter", "s")
			d.Advance(time.Second)
			saved, readErr := state.Open(dir, "prod")
			renamed, renamedErr := os.ReadFile(path + ".unreadable")
			if test.newer {
				if readErr == nil || renamedErr == nil {
					t.Errorf("the state is %+v, the renamed file %q; want neither", saved.Grids, renamed)
				}
				return
			}
			if string(renamed) != test.text {
				t.Errorf("the renamed file is %q, error %v; want %q", renamed, renamedErr, test.text)
			}
			if saved.Grids["DB_Class"].OrderBy == "" {
				t.Errorf("the state is %+v, error %v; want the order of DB_Class", saved.Grids, readErr)
			}
		})
	}
}

// unwrapped returns the words of a screen without the line breaks, frames and selection bars between them.
func unwrapped(screen string) string {
	words := strings.FieldsFunc(screen, func(r rune) bool { return strings.ContainsRune(" │▌\n", r) })
	return strings.Join(words, " ")
}

// Saved filters and views that are no longer valid are skipped.
func TestInvalidSavedFiltersAreSkipped(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	dir := t.TempDir()
	store, err := state.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	store.SetGrid("SO_Totals", state.Arrangement{
		Fields:  []string{"Gone", "InvoiceTotal"},
		Widths:  map[string]int{"InvoiceTotal": -5, "Gone": 10},
		Frozen:  99,
		OrderBy: "Gone",
		Where:   []string{"Gone=1", "InvoiceTotal>=1000"},
	})
	store.SetView(state.View{Name: "old", Record: "XX_Gone"})
	if err := store.Write(); err != nil {
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
	d.Press("4", "/", "'Status=3  AddedDateTime>=today  LastSavedDateTime<-2h", "enter")
	d.Press(":", "'save failed-today", "enter")
	d.WantText("failed-today saved", "Messages (failed-today)")

	// Invalid names are rejected.
	d.Press(":", "'save Home", "enter")
	d.WantText("Home is already in use")
	d.Press("esc", ":", "'save a b", "enter")
	d.WantText("one word")
	d.Press("esc")
	d.Advance(time.Second) // until the views are saved

	next := tuitest.Drive(t, c, o)
	next.AwaitLive()
	v, _ := next.App.Session.State.View("failed-today")
	where := []string{"Status=3", "AddedDateTime>=today", "LastSavedDateTime<-2h"}
	if !slices.Equal(v.Where, where) {
		t.Errorf("the view of messages has the conditions %q, want %q", v.Where, where)
	}
	next.WantText("Saved views", "big-invoices   SO_Totals", "failed-today   Message")
	rows := display.Thousands(countRows(t, c, "SO_Totals", "InvoiceTotal>=1000"))
	next.WantText(" " + rows + "   big-invoices")

	// The views open from the home screen and by name.
	next.Press("enter")
	next.WantText("SO_Totals (big-invoices)", "[InvoiceTotal>=1000]", "InvoiceTotal ▲")
	next.Press(":", "'failed", "enter")
	next.WantText("Messages (failed-today)", "[Status=failed]", "[AddedDateTime>=2026-07-01]")

	next.Press(":", "'drop big", "tab", "enter")
	next.WantText("big-invoices deleted")
	next.Press("1")
	next.WantNoText("big-invoices   SO_Totals")
}

// countRows returns the number of rows of a kind that meet a condition.
func countRows(t *testing.T, c *client.Client, name, condition string) int64 {
	t.Helper()
	kind, _ := record.Builtin().Lookup(name)
	filters, err := browse.ParseFilters(time.Now(), kind, condition)
	if err != nil {
		t.Fatal(err)
	}
	total, err := c.Count(t.Context(), client.Query{Kind: kind, Where: filters})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// The up key recalls commands of previous sessions.
func TestCommandHistoryIsSaved(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	o := tui.Options{State: t.TempDir()}
	c := tuitest.Connect(t, i)
	d := tuitest.Drive(t, c, o)
	d.Press(":", "'DB_Class", "enter", ":", "'IN_Colours", "enter", ":", "'DB_Class", "enter")
	d.Advance(time.Second) // until the commands are saved

	next := tuitest.Drive(t, c, o)
	next.Press(":", "up")
	next.WantText(" : DB_Class")
	next.Press("up")
	next.WantText(" : IN_Colours")
	next.Press("up", "down")
	next.WantText(" : DB_Class")
}
