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

// ordersKind is the file of the kind Orders.
const ordersKind = `[Orders]
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

// ordersTable creates the table of the orders.
const ordersTable = `CREATE TABLE Orders (
	"No" INTEGER PRIMARY KEY,
	Class TEXT COLLATE TSQL,
	Ordered TEXT,
	Amount TEXT_DECIMAL COLLATE DEC,
	Weight REAL,
	Active INTEGER,
	Photo BLOB,
	"Count" INTEGER,
	Note TEXT COLLATE TSQL
)`

// orders inserts seven orders. Their values include nulls, empty texts, quotes, a long text, and
// a date without a following day.
const orders = `INSERT INTO Orders VALUES
	(1, 'A', '2026-07-01T00:00:00.0000000', '0.10', 1.5, 1, x'00', 5, NULL),
	(2, 'a', '2026-07-31T23:59:59.9999999', '0.20', 0.1, 0, NULL, 6, ''),
	(3, '', '2026-08-01T00:00:00.0000000', '12345678901234567890.12', NULL, NULL, NULL, NULL, printf('%2000s', 'x')),
	(4, NULL, NULL, NULL, 1e20, 1, NULL, 5, 'y'),
	(5, 'say "a, b"', '9999-12-31T00:00:00.0000000', '-4', 0.1, 1, NULL, 5, 'y'),
	(6, NULL, '2026-07-15T12:00:00.0000000', '0.10', 2.5, 0, NULL, 7, 'z'),
	(7, 'B..C', '0001-01-01T00:00:00.0000000', NULL, 2.5, 0, NULL, 7, 'z')`

// openOrders starts a daemon with the kind Orders, and opens its rows.
func openOrders(t *testing.T) (*tuitest.Driver, *record.Kind) {
	t.Helper()
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{ordersTable, orders} {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "orders.toml")
	if err := os.WriteFile(file, []byte(ordersKind), 0o600); err != nil {
		t.Fatal(err)
	}
	c := tuitest.Connect(t, daemontest.StartIn(t, dir, "--erp-kinds", file))
	registry := kinds.Load(file).Registry()
	kind, _ := registry.Lookup("Orders")
	d := tuitest.Drive(t, c, tui.Options{Kinds: tui.Kinds{Known: registry}, State: t.TempDir()})
	d.Press(":", "'Orders", "enter")
	d.WantText("1 of 7")
	return d, kind
}

// browser returns the browser in front.
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
	text := row.Text(name)
	if text == "" {
		return new(big.Rat)
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is %q, want a number", name, text)
	}
	return n
}

// checkGroups opens each group. Its rows are as many as it counts, have its sum and, all
// together, are those of the kind.
func checkGroups(t *testing.T, d *tuitest.Driver, want int) {
	t.Helper()
	groups := browser(t, d)
	total := 0
	for i := range groups.Grid.Len() {
		groups.Grid.GoTo(i)
		group := groups.Rows.Records[groups.Grid.Row()].Row
		d.Press("enter")
		rows := browser(t, d)
		if rows == groups {
			t.Fatalf("enter does not open the group %s:\n%s", group.JSON(), d.Text())
		}
		if n := fmt.Sprint(rows.Grid.Len()); n != group.Text("Count") {
			t.Errorf("the group %s has %s rows, want its count:\n%s", group.JSON(), n, d.Text())
		}
		if _, hasSum := groups.Selection.Kind.Column("SumAmount"); hasSum {
			sum, wantSum := sumOfAmounts(t, rows), number(t, group, "SumAmount")
			if sum.Cmp(wantSum) != 0 {
				t.Errorf("the amounts of the group %s add up to %s, want %s", group.JSON(), sum, wantSum)
			}
		}
		total += rows.Grid.Len()

		d.Press("esc")
		if browser(t, d) != groups || groups.Grid.Index() != i {
			t.Fatalf("esc does not show group %d again:\n%s", i, d.Text())
		}
	}
	if total != want {
		t.Errorf("the groups have %d rows, want %d", total, want)
	}
}

// sumOfAmounts returns the sum of the amounts of all rows.
func sumOfAmounts(t *testing.T, b *browse.Browser) *big.Rat {
	t.Helper()
	sum := new(big.Rat)
	for _, row := range b.Rows.Pages.Loaded() {
		sum.Add(sum, number(t, b.Rows.Records[row].Row, "Amount"))
	}
	return sum
}

// Every column of an own kind can be grouped, and each group opens its rows, also within
// filters that limit the same date.
func TestGroupsOpenTheirRows(t *testing.T) {
	d, _ := openOrders(t)
	for filter, want := range map[string]int{
		"": 7,
		"Ordered>=2026-07-02  Ordered<2026-07-31T23:59:59.9999999": 1,
		"Ordered>=2026-07-15":   4,
		"No>2  Class in A,B..C": 1,
	} {
		d.Press("F", "0")
		if filter != "" {
			d.Press("/", "'"+filter, "enter")
		}
		for i, group := range []struct {
			column string
			by     []string // names of the groups after each press of the key
		}{
			{"No", []string{"by No"}},
			{"Class", []string{"by Class"}},
			{"Ordered", []string{"by Ordered:month", "by Ordered:day", "by Ordered:year"}},
			{"Amount", []string{"by Amount"}},
			{"Weight", []string{"by Weight"}},
			{"Active", []string{"by Active"}},
		} {
			for presses := 1; presses <= len(group.by); presses++ {
				browser(t, d).Grid.Columns.GoTo(i)
				checkGrouping(t, d, presses, group.by[presses-1], want)
			}
		}
	}
}

// checkGrouping groups the rows by the selected column with presses of the key, checks the groups,
// and returns to the rows.
func checkGrouping(t *testing.T, d *tuitest.Driver, presses int, name string, want int) {
	t.Helper()
	rows := browser(t, d)
	index, column := rows.Grid.Index(), rows.Grid.Columns.Index()
	d.Press(slices.Repeat([]string{"t"}, presses)...)
	d.WantText(name)
	if browser(t, d) == rows {
		t.Fatalf("%s: the rows are not grouped:\n%s", name, d.Text())
	}
	checkGroups(t, d, want)
	d.CheckScreen()
	d.Press("esc")
	if browser(t, d) != rows || rows.Grid.Index() != index || rows.Grid.Columns.Index() != column {
		t.Fatalf("%s: esc does not show the rows again:\n%s", name, d.Text())
	}
}

// Groups have the filters of the rows and can be sorted by each column; a date changes its
// period. None of this changes the rows, or the arrangement that is stored for the kind.
func TestGroupsKeepFiltersAndOrder(t *testing.T) {
	d, kind := openOrders(t)
	stored := func() string { return fmt.Sprint(d.App.CurrentSession().State.Grids["Orders"]) }
	firstGroup := func() string { return strings.TrimSpace(browser(t, d).Grid.Row().Cells[0].Text) }
	d.Resize(100, 24)
	d.Press("/", "'No<7", "enter", "$", "s", "s", "0", "l", "l")
	storedBefore := stored()
	d.Press("t")
	d.WantText("Records › Orders › by Ordered:month", "[No<7]", "SumAmount", "18")
	d.WantNoText("SumNo") // the key
	const command = `whctl query Orders --where "No<7" --by Ordered:month --sum Amount,Weight,Count`
	if got := d.App.Front().Equivalent(); got != command {
		t.Errorf("the command is %s, want %s", got, command)
	}

	// Groups can be sorted, and grouped by other periods.
	d.Press("l", "s", "s")
	if first := firstGroup(); first != "2026-07" {
		t.Errorf("sorted by Count, %s is first, want 2026-07", first)
	}
	const order = " --order-by -Count --by Ordered:month"
	if got := d.App.Front().Equivalent(); !strings.Contains(got, order) {
		t.Errorf("sorted by Count, the command is %s, want %q in it", got, order)
	}
	d.Press("t")
	d.WantText("by Ordered:day", "Count ▼")
	d.Press("t", "0", "s", "s")
	d.WantText("by Ordered:year", "[No<7]")
	if first := firstGroup(); first != "9999" {
		t.Errorf("sorted by year, %s is first, want 9999", first)
	}

	// Groups can be filtered by their field only.
	d.Press("=")
	d.WantText("[Ordered>=9999-01-01]", "1 of 1")
	d.WantNoText("Ordered<")
	d.Press("l", "=")
	d.WantText("Count cannot be filtered")
	d.Press("/", "backspace", "'5  Class=x", "enter")
	d.Wait(10 * time.Second)
	d.WantText("No row matches ", "F clears the filters (7 without them).")
	d.Press("enter", "=", "space")
	d.WantText("by Ordered:year", "No row matches")

	// Groups change neither views nor the rows.
	d.Press(":", "'save sales", "enter")
	d.WantText("can be saved as a view")
	d.Press("esc")
	d.WantText("Records › Orders [No<7]")
	d.Press("t", "enter")
	rows := browser(t, d)
	if rows.Selection.Kind != kind || rows.Arrangement().OrderBy != "-Note" {
		t.Errorf("the rows of a group are those of %s in the arrangement %+v, want those of Orders by -Note",
			rows.Selection.Kind.Name, rows.Arrangement())
	}
	d.Press("s")
	if got := stored(); got != storedBefore {
		t.Errorf("groups change the stored arrangement to %s, want %s", got, storedBefore)
	}
}

// Fields that cannot be grouped, and values that cannot be filtered, are refused with the reason.
func TestGroupRefusals(t *testing.T) {
	d, _ := openOrders(t)
	d.Press("C", "*", "enter") // all columns
	rows := browser(t, d)
	for name, want := range map[string]string{
		"Photo": "cannot group by Photo: it is byte[]",
		"Count": "cannot group by Count: record kind Orders: duplicate field Count",
	} {
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
	d.Press("w")
	d.WantText("groups have no history; open the rows of a group", "by Note")
	opened, tooLong := 0, 0
	groups := browser(t, d)
	for i := range groups.Grid.Len() {
		groups.Grid.GoTo(i)
		d.Press("enter")
		if browser(t, d) != groups {
			opened++
			d.Press("esc")
		} else if strings.Contains(d.Text(), "too long for a filter") {
			tooLong++
		}
	}
	if opened != 4 || tooLong != 1 {
		t.Errorf("%d groups were opened, %d had too long values; want 4, 1", opened, tooLong)
	}

	d.Press("g", "space")
	if marked := groups.Grid.MarkedRows(); len(marked) != 1 || !marked[0].Cells[0].Null {
		t.Errorf("the marked groups are %v, want the group of null", marked)
	}
}

// An error of the service is shown with its reason.
func TestGroupErrorIsShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "GroupBy") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"Invalid",
				"Message":"the result has 100001 groups, at most 100000 are possible"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"Offset":0,"Total":0,"Results":[],"Meta":{},"ResponseStatus":{}}`)
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

// Responses to requests of another period, or of groups that are closed, are dropped.
func TestLateGroupsAreDropped(t *testing.T) {
	d, _ := openOrders(t)
	d.Press("l", "l")
	rows := browser(t, d)
	d.Clock = d.Clock.Add(time.Second) // five keys at once would be a paste
	d.Deliver(tuitest.Letter("t"))
	for range 2 { // before the response to the first one is processed
		d.Deliver(tuitest.Letter("t"))
	}
	d.Deliver(tuitest.Keys["enter"]) // there is no group yet
	d.Settle()
	d.WantText("by Ordered:year", "1 of 4", "0001  ")
	d.WantNoText("2026-07")

	d.Press("esc")
	d.Deliver(tuitest.Letter("t"))
	d.Deliver(tuitest.Keys["esc"])
	d.Settle()
	if browser(t, d) != rows || strings.Contains(d.Text(), "fetching") {
		t.Errorf("closed before the response, the screen is\n%s\nwant the rows without an error", d.Text())
	}

	d.Press("t")
	for _, size := range [][2]int{{60, 15}, {200, 60}, {80, 24}} {
		d.Resize(size[0], size[1])
		d.CheckScreen()
		d.WantText("by Ordered:month")
	}
}
