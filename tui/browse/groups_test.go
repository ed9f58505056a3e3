package browse_test

import (
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/kinds"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/tuitest"
)

const ownKinds = `[Orders]
key = ["No"]
[Orders.fields]
No = "int"
Class = "string"
Ordered = "DateTime?"
Amount = "decimal?"
Weight = "double?"
Active = "bool?"
Photo = "byte[]"
Count = "int?"
Note = "string"
`

// ownRecords starts a daemon with a kind of a file and opens its rows. Its values include
// nulls, empty texts, quotes, and a date without a following day.
func ownRecords(t *testing.T) (*tuitest.Driver, *client.Client, *record.Kind) {
	t.Helper()
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE Orders ("No" INTEGER PRIMARY KEY, Class TEXT COLLATE TSQL, Ordered TEXT, Amount TEXT_DECIMAL COLLATE DEC, Weight REAL, Active INTEGER, Photo BLOB, "Count" INTEGER, Note TEXT COLLATE TSQL)`,
		`INSERT INTO Orders VALUES (1, 'A', '2026-07-01T00:00:00.0000000', '0.10', 1.5, 1, x'00', 5, NULL), (2, 'a', '2026-07-31T23:59:59.9999999', '0.20', 0.1, 0, NULL, 6, ''),
		 (3, '', '2026-08-01T00:00:00.0000000', '12345678901234567890.12', NULL, NULL, NULL, NULL, printf('%2000s', 'x')), (4, NULL, NULL, NULL, 1e20, 1, NULL, 5, 'y'),
		 (5, 'say "a, b"', '9999-12-31T00:00:00.0000000', '-4', 0.1, 1, NULL, 5, 'y'), (6, NULL, '2026-07-15T12:00:00.0000000', '0.10', 2.5, 0, NULL, 7, 'z'), (7, 'B..C', '0001-01-01T00:00:00.0000000', NULL, 2.5, 0, NULL, 7, 'z')`,
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "own.toml")
	if err := os.WriteFile(file, []byte(ownKinds), 0o600); err != nil {
		t.Fatal(err)
	}
	c := tuitest.Connect(t, daemontest.StartIn(t, dir, "--erp-kinds", file))
	registry := kinds.Load(file).Registry()
	kind, _ := registry.Lookup("Orders")
	d := tuitest.Drive(t, c, tui.Options{Kinds: tui.Kinds{Known: registry}, State: t.TempDir()})
	d.Press(":", "'Orders", "enter")
	d.WantText("row 1 of 7")
	return d, c, kind
}

func browser(t *testing.T, d *tuitest.Driver) *browse.Browser {
	t.Helper()
	b, ok := d.App.Front().(*browse.Browser)
	if !ok {
		t.Fatalf("no rows are shown:\n%s", d.Text())
	}
	return b
}

// number returns a number of a row; 0 for null.
func number(t *testing.T, row client.Row, name string) *big.Rat {
	t.Helper()
	n := new(big.Rat)
	if text := row.Text(name); text != "" {
		if _, ok := n.SetString(text); !ok {
			t.Fatalf("%s is %q", name, text)
		}
	}
	return n
}

// checkGroups opens each group. Its rows are as many as it counts, have its sum and, all
// together, are those of the kind.
func checkGroups(t *testing.T, d *tuitest.Driver, want int) {
	t.Helper()
	groups := browser(t, d)
	total := 0
	for at := range groups.Grid.Len() {
		groups.Grid.GoTo(at)
		group := groups.Rows.Records[groups.Grid.Row()].Row
		d.Press("enter")
		rows := browser(t, d)
		if rows == groups {
			t.Fatalf("group %s is not opened:\n%s", group.JSON(), d.Text())
		}
		if n := fmt.Sprint(rows.Grid.Len()); n != group.Text("Count") {
			t.Errorf("%s has %s rows:\n%s", group.JSON(), n, d.Text())
		}
		sum := new(big.Rat)
		for _, row := range rows.Rows.Pages.Loaded() {
			sum.Add(sum, number(t, rows.Rows.Records[row].Row, "Amount"))
		}
		if _, summed := groups.Selection.Kind.Column("SumAmount"); summed && sum.Cmp(number(t, group, "SumAmount")) != 0 {
			t.Errorf("%s has a sum of %s", group.JSON(), sum)
		}
		total += rows.Grid.Len()
		d.Press("esc")
		if browser(t, d) != groups || groups.Grid.Index() != at {
			t.Fatalf("back from a group:\n%s", d.Text())
		}
	}
	if total != want {
		t.Errorf("the groups have %d rows, want %d", total, want)
	}
}

// Every column of an own kind can be grouped, and each group opens its rows, also within
// filters that limit the same date.
func TestGroupsOpenTheirRows(t *testing.T) {
	d, _, _ := ownRecords(t)
	for filter, want := range map[string]int{"": 7, "Ordered>=2026-07-02  Ordered<2026-07-31T23:59:59.9999999": 1, "Ordered>=2026-07-15": 4, "No>2  Class in A,B..C": 1} {
		d.Press("F", "0")
		if filter != "" {
			d.Press("/", "'"+filter, "enter")
		}
		rows := browser(t, d)
		at := rows.Grid.Index()
		for i, name := range []string{"No", "Class", "Ordered", "Amount", "Weight", "Active"} {
			rows.Grid.Columns.GoTo(i)
			for presses, period := range map[string][]string{name: {"t"}, name + ":day": {"t", "t"}, name + ":year": {"t", "t", "t"}} {
				if name != "Ordered" && len(period) > 1 {
					continue
				}
				d.Press(period...)
				d.WantText("by " + presses[:len(name)])
				if browser(t, d) == rows {
					t.Fatalf("%s is not grouped:\n%s", name, d.Text())
				}
				checkGroups(t, d, want)
				d.CheckScreen()
				d.Press("esc")
				if browser(t, d) != rows || rows.Grid.Index() != at || rows.Grid.Columns.Index() != i {
					t.Fatalf("esc does not show the rows again:\n%s", d.Text())
				}
			}
		}
	}
}

// Groups have the filters of the rows and can be sorted by each column; a date changes its
// period. None of this changes the rows, or the arrangement that is stored for the kind.
func TestGroupsKeepFiltersAndOrder(t *testing.T) {
	d, _, kind := ownRecords(t)
	d.Press("/", "'No<7", "enter", "$", "s", "s", "0", "l", "l")
	remembered := d.App.CurrentSession().State.Grids["Orders"]
	want := fmt.Sprint(remembered)
	d.Press("t")
	d.WantText("Records › Orders › by Ordered:month", "[No<7]", "SumAmount", "18")
	d.WantNoText("SumNo") // the key
	if got, want := d.App.Front().Equivalent(), `whctl query Orders --where "No<7" --by Ordered:month --sum Amount,Weight,Count`; got != want {
		t.Errorf("the command is %s, want %s", got, want)
	}
	first := func() string { return strings.TrimSpace(browser(t, d).Grid.Row().Cells[0].Text) }
	d.Press("l", "s", "s")
	if first() != "2026-07" || !strings.Contains(d.App.Front().Equivalent(), " --order-by -Count --by Ordered:month") {
		t.Errorf("sorted by Count, %s is first: %s", first(), d.App.Front().Equivalent())
	}
	d.Press("t")
	d.WantText("by Ordered:day", "Count ▼")
	d.Press("t", "0", "s", "s")
	d.WantText("by Ordered:year", "[No<7]")
	if first() != "9999" {
		t.Errorf("the first of the years is %s", first())
	}
	d.Press("=")
	d.WantText("[Ordered>=9999-01-01]", "row 1 of 1")
	d.WantNoText("Ordered<")
	d.Press("l", "=")
	d.WantText("Count cannot be filtered")
	d.Press("/", "backspace", "'5  Class=x", "enter")
	d.Wait(10 * time.Second)
	d.WantText("no rows match: F clears filters")
	d.Press("enter", "=", "space")
	d.WantText("by Ordered:year", "no rows match")
	d.Press(":", "'save sales", "enter")
	d.WantText("can be saved as a view")
	d.Press("esc")
	d.WantText("Records › Orders  [No<7]")
	d.Press("t", "enter")
	if rows := browser(t, d); rows.Selection.Kind != kind || rows.Arrangement().OrderBy != "-Note" {
		t.Errorf("the rows of a group: %+v", rows.Arrangement())
	}
	d.Press("s")
	if got := fmt.Sprint(d.App.CurrentSession().State.Grids["Orders"]); got != want {
		t.Errorf("groups change the stored arrangement to %s, was %s", got, want)
	}
}

// Fields that cannot be grouped, and values that cannot be filtered, are refused with the reason.
func TestGroupRefusals(t *testing.T) {
	d, _, _ := ownRecords(t)
	d.Press("C", "*", "enter") // all columns
	rows := browser(t, d)
	for name, want := range map[string]string{"Photo": "cannot group by Photo: it is byte[]", "Count": "cannot group by Count: record kind Orders: duplicate field Count"} {
		rows.Grid.Columns.GoTo(slices.Index(rows.Selection.Fields, name))
		d.Press("t")
		d.WantText(want)
		if browser(t, d) != rows {
			t.Errorf("%s is grouped", name)
		}
	}
	rows.Grid.Columns.GoTo(slices.Index(rows.Selection.Fields, "Note"))
	d.Press("t", "t")
	d.WantText("already grouped by Note", "by Note")
	opened, long := 0, 0
	groups := browser(t, d)
	for i := range groups.Grid.Len() {
		groups.Grid.GoTo(i)
		d.Press("enter")
		if browser(t, d) != groups {
			opened++
			d.Press("esc")
		} else if strings.Contains(d.Text(), "too long for a filter") {
			long++
		}
	}
	if opened != 4 || long != 1 {
		t.Errorf("%d groups are opened, %d have too long values", opened, long)
	}
	d.Press("g", "space")
	if marked := groups.Grid.MarkedRows(); len(marked) != 1 || !marked[0].Cells[0].Null {
		t.Errorf("the marked groups are %v, want that of null", marked)
	}
}

// An error of the service is shown with its reason.
func TestGroupErrorIsShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "GroupBy") {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"Invalid","Message":"the result has 100001 groups, at most 100000 are possible"}}`)
			return
		}
		io.WriteString(w, `{"Offset":0,"Total":0,"Results":[],"Meta":{},"ResponseStatus":{}}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, c, tui.Options{})
	d.Press(":", "'SO_Totals", "enter")
	rows := browser(t, d)
	d.Press("esc", "t")
	d.Resize(160, 24)
	d.WantText("SO_Totals by InvoiceID: Invalid: the result has 100001 groups")
	d.Press("esc", "esc")
	if browser(t, d) != rows {
		t.Errorf("esc does not close the error and the groups:\n%s", d.Text())
	}
}

// Replies to requests of another period, or of groups that are closed, are dropped.
func TestLateGroupsAreDropped(t *testing.T) {
	d, _, _ := ownRecords(t)
	d.Press("l", "l")
	rows := browser(t, d)
	d.Clock = d.Clock.Add(time.Second) // five keys at once would be a paste
	d.Deliver(tuitest.Letter("t"))
	for range 2 { // before the reply to the first one is processed
		d.Deliver(tuitest.Letter("t"))
	}
	d.Deliver(tuitest.Keys["enter"]) // there is no group yet
	d.Settle()
	d.WantText("by Ordered:year", "row 1 of 4", "0001  ")
	d.WantNoText("2026-07")
	d.Press("esc")
	d.Deliver(tuitest.Letter("t"))
	d.Deliver(tuitest.Keys["esc"])
	d.Settle()
	if browser(t, d) != rows || strings.Contains(d.Text(), "fetching") {
		t.Errorf("closed before the reply:\n%s", d.Text())
	}
	d.Press("t")
	for _, size := range [][2]int{{60, 15}, {200, 60}, {80, 24}} {
		d.Resize(size[0], size[1])
		d.CheckScreen()
		d.WantText("by Ordered:month")
	}
}
