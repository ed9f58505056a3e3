package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// A kind looks as it was left, in another session too; marks do not come back.
func TestKindsLookAsTheyWereLeft(t *testing.T) {
	i := demoDaemon(t)
	c := connected(t, i)
	o := Options{State: t.TempDir(), Profile: "prod"}
	d := drive(t, c, o)
	d.press(":", "'SO_Totals", "enter", "l", ">", ">", "z", "s", "s", "/", "'InvoiceTotal>=1000", "enter", "space", "space")
	d.press("C", "j", "j", "space", "enter")
	before := d.app.Front().(*browse.Browser)
	if before.Grid.Marks() != 2 || len(before.Fields) != 7 || before.Grid.Frozen() != 1 {
		t.Fatalf("%d marks, %d fields, %d frozen", before.Grid.Marks(), len(before.Fields), before.Grid.Frozen())
	}
	d.press("0", "l", "z")
	kept := before.Arrangement()
	d.later(ms(1000)) // when it is written

	for name, again := range map[string]*driver{"this session": d, "the next": drive(t, c, o)} {
		again.press(":", "'SO_Totals", "enter")
		b := again.app.Front().(*browse.Browser)
		now := b.Arrangement()
		if b == before || !slices.Equal(now.Fields, kept.Fields) || now.Widths["InvoiceTotal"] != kept.Widths["InvoiceTotal"] || now.Frozen != 2 ||
			now.OrderBy != "-InvoiceTotal" || !slices.Equal(now.Where, []string{"InvoiceTotal>=1000"}) {
			t.Errorf("in %s the rows look as %+v, want %+v", name, now, kept)
		}
		again.sees("[InvoiceTotal>=1000]", "InvoiceTotal ▼")
		if b.Grid.Marks() != 0 {
			t.Errorf("in %s %d rows are marked", name, b.Grid.Marks())
		}
	}
	other := drive(t, c, Options{State: o.State, Profile: "test"})
	other.press(":", "'SO_Totals", "enter")
	other.sees("row 1 of 12,000")
}

// A file that makes no sense is set aside with a word, and a newer one is left
// as it is.
func TestKeptFileThatMakesNoSense(t *testing.T) {
	i := demoDaemon(t)
	c := connected(t, i)
	for text, says := range map[string]string{
		`{"Grids": {"SO_Tot`:              "is set aside as",
		`{"Version": 1, "Grids": [1, 2]}`: "is set aside as",
		`{"Version": 99}`:                 "a newer whctl has written it",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "prod.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := drive(t, c, Options{State: dir, Profile: "prod"})
		d.press("ctrl+e")
		if shown := strings.Join(strings.FieldsFunc(d.text(), func(r rune) bool { return strings.ContainsRune(" │\n", r) }), " "); !strings.Contains(shown, says) {
			t.Errorf("%s: the errors are\n%s", text, d.text())
		}
		d.press("esc", "esc", ":", "'DB_Class", "enter", "s")
		d.later(ms(1000))
		kept, readErr := state.Open(dir, "prod")
		aside, asideErr := os.ReadFile(path + ".unreadable")
		if newer := strings.Contains(text, "99"); newer && (readErr == nil || asideErr == nil) || !newer && (string(aside) != text || kept.Grids["DB_Class"].OrderBy == "") {
			t.Errorf("%s: kept %+v (%v), aside %q", text, kept.Grids, readErr, aside)
		}
	}
}

// What was kept and does not hold any more is left out.
func TestKeptOfAnotherTime(t *testing.T) {
	i := demoDaemon(t)
	dir := t.TempDir()
	k, _ := state.Open(dir, "")
	k.SetGrid("SO_Totals", state.Arrangement{Fields: []string{"Gone", "InvoiceTotal"}, Widths: map[string]int{"InvoiceTotal": -5, "Gone": 10}, Frozen: 99, OrderBy: "Gone", Where: []string{"Gone=1", "InvoiceTotal>=1000"}})
	k.SetView(state.View{Name: "old", Record: "XX_Gone"})
	if err := k.Write(); err != nil {
		t.Fatal(err)
	}
	d := drive(t, connected(t, i), Options{State: dir})
	d.press(":", "'SO_Totals", "enter")
	d.checkScreen()
	d.sees("[InvoiceTotal>=1000]", `the saved filter "Gone=1" of SO_Totals does not hold any more`)
	d.press(":", "'old", "enter")
	d.sees("there is no record XX_Gone any more")
}

// Rows and messages are saved under a name, counted on the first screen, opened
// from there and by the name, and forgotten.
func TestSavedViews(t *testing.T) {
	i := demoDaemon(t)
	o := Options{State: t.TempDir()}
	c := connected(t, i)
	d := drive(t, c, o)
	d.press(":", "'SO_Totals InvoiceTotal>=1000", "enter", "l", "s", ":", "'save big-invoices", "enter")
	d.sees("big-invoices is saved", "SO_Totals (big-invoices)")
	d.press("F") // a view is changed by save alone
	d.press("4", "/", "'Status=3  AddedDateTime>=today", "enter", ":", "'save failed-today", "enter")
	d.sees("failed-today is saved", "Messages (failed-today)")
	d.press(":", "'save Home", "enter")
	d.sees("Home is something else already")
	d.press("esc", ":", "'save a b", "enter")
	d.sees("one word")
	d.press("esc")
	d.later(ms(1000))

	next := drive(t, c, o)
	next.awaitLive()
	v, _ := next.app.State.View("failed-today")
	if !slices.Equal(v.Where, []string{"Status=3", "AddedDateTime>=today"}) {
		t.Errorf("the view of messages is %+v", v)
	}
	total, err := c.Count(t.Context(), client.Query{Kind: kindOf(t, "SO_Totals"), Where: filtersOf(t, next.app, "SO_Totals", "InvoiceTotal>=1000")})
	if err != nil {
		t.Fatal(err)
	}
	next.sees("Saved views", "big-invoices  SO_Totals", "failed-today  Message")
	lines := strings.Split(next.text(), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "big-invoices") })
	if !strings.HasSuffix(strings.TrimSpace(lines[at]), " "+theme.Thousands(int(total))) {
		t.Errorf("%q does not count %d rows", lines[at], total)
	}
	next.press("enter")
	next.sees("SO_Totals (big-invoices)", "[InvoiceTotal>=1000]", "InvoiceTotal ▲")
	next.press(":", "'failed", "enter")
	next.sees("Messages (failed-today)", "[Status=3]", "[AddedDateTime>=2026-07-01]")
	next.press(":", "'drop big", "tab", "enter")
	next.sees("big-invoices is not a view any more")
	next.press("1")
	if strings.Contains(next.text(), "big-invoices  SO_Totals") {
		t.Errorf("it is still there:\n%s", next.text())
	}
}

// Commands of former sessions are found with the up key.
func TestCommandsAreKept(t *testing.T) {
	i := demoDaemon(t)
	o := Options{State: t.TempDir()}
	c := connected(t, i)
	d := drive(t, c, o)
	d.press(":", "'DB_Class", "enter", ":", "'IN_Colours", "enter", ":", "'DB_Class", "enter")
	d.later(ms(1000))
	next := drive(t, c, o)
	next.press(":", "up")
	next.sees(" : DB_Class")
	next.press("up")
	next.sees(" : IN_Colours")
	next.press("up", "down")
	next.sees(" : DB_Class")
}

// What cannot be written is told once, and is in the file when that can be
// written again.
func TestKeepingThatFails(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "state")
	k, err := state.Open(blocked, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{Session: &ui.Session{State: k}}
	for i, want := range []bool{true, false} {
		k.AddCommand(fmt.Sprint("command ", i))
		if told := a.writeState()() != nil; told != want {
			t.Errorf("write %d: told %v", i, told)
		}
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if m := a.writeState()(); m != nil || k.Due() {
		t.Errorf("%v, due %v", m, k.Due())
	}
	if had, err := state.Open(blocked, ""); err != nil || len(had.Commands) != 2 {
		t.Errorf("%v holds %q", err, had.Commands)
	}
}
