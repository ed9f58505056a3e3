package erp

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// totalsFile opens a file with rows of SO_Totals, which is filled like that of the demo.
func totalsFile(t *testing.T, sources map[string]string) *fileRecords {
	t.Helper()
	b, err := newFileRecords(Config{
		Path:        filepath.Join(t.TempDir(), "records.db"),
		Registry:    record.Builtin(),
		Sources:     sources,
		Connections: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// loadTotals fills SO_Totals with the rows of totalsRows, which makes its indexes.
func loadTotals(t *testing.T, b *fileRecords) {
	t.Helper()
	if _, err := b.Load(t.Context(), []*record.Kind{totalsKind()}, totalsRows); err != nil {
		t.Fatal(err)
	}
}

// parseTotals returns the request of a JSON body on SO_Totals.
func parseTotals(t *testing.T, body string) *query.Request {
	t.Helper()
	members, err := query.ReadJSON([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	request, err := query.Parse(totalsKind(), members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return request
}

// fileDialect is the dialect of a file that whd has created.
func fileDialect() *dialect.Dialect {
	d := dialect.SQLite()
	d.File.HideFields = true
	return d
}

func totalsKind() *record.Kind {
	kind, _ := record.Builtin().Lookup("SO_Totals") // built in
	return kind
}

func totalsRows(*record.Kind) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for n := range 500 {
			id := fmt.Sprintf("D%03d", n)
			total := fmt.Sprintf("%d.50", n)
			cartage := fmt.Sprint(n % 2)
			if !yield([]any{id, total, cartage, "0", nil, "0", "0", "0"}) {
				return
			}
		}
	}
}

// explain returns SQLite's plan for a statement, without the names of tables.
func explain(t *testing.T, b *fileRecords, st query.Statement) string {
	t.Helper()
	conn, err := b.Pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Pool.Put(conn)
	var steps []string
	err = conn.Query("EXPLAIN QUERY PLAN "+st.SQL, func(s *sqlite.Stmt) error {
		steps = append(steps, s.Text(3))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", st.SQL, err)
	}
	return strings.ReplaceAll(strings.Join(steps, ", "), "SO_Totals", "T")
}

// TestPlans: an index is used where it is as fast as none for all values, and
// only there.
func TestPlans(t *testing.T) {
	const (
		scan  = "SCAN T"
		sort  = ", USE TEMP B-TREE FOR ORDER BY"
		byKey = "SCAN T USING INDEX T_InvoiceID"
		key   = "SEARCH T USING INDEX T_InvoiceID (InvoiceID>? AND InvoiceID<?)"
	)
	b := totalsFile(t, nil)
	loadTotals(t, b)
	d := fileDialect()
	rows := query.Compile
	count := query.CompileCount
	aggregates := query.CompileAggregates
	for _, c := range []struct {
		compile func(*query.Plan, *dialect.Dialect, string) (query.Statement, error)
		body    string
		want    string
	}{
		// Pages in the order of a field.
		{rows, `{"InvoiceTotalGreaterThan":5,"OrderBy":"InvoiceTotal","Take":100}`, "SEARCH T USING INDEX T_InvoiceTotal (InvoiceTotal>?)"},
		{rows, `{"InvoiceTotalGreaterThan":5,"OrderByDesc":"InvoiceTotal","Take":100}`, "SEARCH T USING INDEX T_InvoiceTotal (InvoiceTotal>?), USE TEMP B-TREE FOR LAST TERM OF ORDER BY"},
		{rows, `{"InvoiceTotalGreaterThan":5,"OrderByDesc":"InvoiceTotal","Take":100,"Skip":7}`, scan + sort},
		{rows, `{"InvoiceTotalNotEqualTo":5,"OrderByDesc":"InvoiceTotal","Take":100}`, scan + sort},
		{rows, `{"OrderByDesc":"InvoiceTotal","Take":2000}`, scan + sort},
		{rows, `{"OrderBy":"InvoiceTotal","Take":100}`, "SCAN T USING INDEX T_InvoiceTotal"},
		{rows, `{"InvoiceTotalIn":[5,6],"OrderBy":"InvoiceTotal","Take":100}`, "SEARCH T USING INDEX T_InvoiceTotal (InvoiceTotal=?)"},
		{rows, `{"InvoiceIDContains":"7","OrderBy":"InvoiceTotal","Take":100}`, scan + sort}, // 20 % slower by the index if no row matches
		{rows, `{"InvoiceTotalLessThan":5,"OrderByDesc":"InvoiceTotal","Take":100}`, scan + sort},
		{rows, `{"InvoiceTotalGreaterThan":5,"Cartage1Total":0,"OrderBy":"InvoiceTotal","Take":100}`, scan + sort},
		{rows, `{"OrderBy":"InvoiceTotal,Cartage1Total","Take":100}`, scan + sort},
		{rows, `{"OrderBy":"InvoiceTotal"}`, scan + sort},
		{rows, `{"InvoiceIDBetween":["D1","D2"],"OrderBy":"InvoiceTotal","Take":100}`, key + sort},
		{rows, `{"InvoiceIDBetween":["D1","D2"],"OrderBy":"InvoiceTotal","Take":100,"Fields":"InvoiceTotal"}`, key + sort},
		// Pages in the order of the first field.
		{rows, `{"Cartage1Total":0,"Cartage2Total":0,"OrderByDesc":"Cartage1Total","Take":100}`, "SEARCH T USING INDEX T_Cartage2Total (Cartage2Total=?)"},
		{rows, `{"InvoiceTotalGreaterThan":5,"Take":100}`, byKey},
		{rows, `{"InvoiceTotalBetween":[5,6],"Take":100,"Fields":"InvoiceTotal"}`, byKey},
		{rows, `{"InvoiceTotalIn":[5,6],"Take":100}`, byKey},
		{rows, `{"InvoiceTotalIn":[5],"Take":100}`, "SEARCH T USING INDEX T_InvoiceTotal (InvoiceTotal=?)"},
		{rows, `{"InvoiceTotal":5,"Cartage1TotalGreaterThan":6,"Take":100}`, "SEARCH T USING INDEX T_InvoiceTotal (InvoiceTotal=?)"},
		{rows, `{"InvoiceIDBetween":["D1","D2"],"InvoiceTotalGreaterThan":5,"Take":100}`, key},
		// All rows.
		{rows, `{"InvoiceTotal":5}`, scan},
		{rows, `{"InvoiceTotalBetween":[5,6]}`, scan},
		{rows, `{"InvoiceTotalBetween":[5,6],"Fields":"InvoiceID,InvoiceTotal"}`, "SEARCH T USING COVERING INDEX T_InvoiceTotal (InvoiceTotal>? AND InvoiceTotal<?)"},
		{rows, `{"Fields":"DISTINCT InvoiceTotal,Cartage1Total","Take":100}`, "SCAN T, USE TEMP B-TREE FOR DISTINCT"},
		{rows, `{"Fields":"DISTINCT InvoiceTotal","Take":100}`, "SCAN T USING COVERING INDEX T_InvoiceTotal"},
		// Totals and aggregates.
		{count, `{"InvoiceTotalGreaterThan":5}`, "SEARCH T USING COVERING INDEX T_InvoiceTotal (InvoiceTotal>?)"},
		{count, `{"InvoiceTotalGreaterThan":5,"Cartage1TotalGreaterThan":5}`, scan},
		{count, `{"InvoiceIDBetween":["D1","D2"],"InvoiceTotalGreaterThan":5}`, key},
		{aggregates, `{"InvoiceTotalGreaterThan":5,"Include":"SUM(InvoiceTotal)"}`, "SEARCH T USING COVERING INDEX T_InvoiceTotal (InvoiceTotal>?)"},
		{aggregates, `{"InvoiceTotalGreaterThan":5,"Include":"SUM(Cartage1Total)"}`, scan},
		{aggregates, `{"Cartage1Total":5,"Include":"MAX(InvoiceTotal)"}`, "SEARCH T"},
		{aggregates, `{"Include":"MAX(InvoiceTotal)"}`, "SEARCH T USING COVERING INDEX T_InvoiceTotal"},
	} {
		plan, err := query.NewPlan(parseTotals(t, c.body), true)
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		st, err := c.compile(plan, d, b.Table(totalsKind()))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		if got := explain(t, b, st); got != c.want {
			t.Errorf("%s: %s\n got  %s\n want %s", c.body, st.SQL, got, c.want)
		}
	}
}

// TestPlansOfCursors: every part of a page by cursor is searched in an index, and none is
// sorted.
func TestPlansOfCursors(t *testing.T) {
	b := totalsFile(t, nil)
	loadTotals(t, b)
	d := fileDialect()
	const (
		byID    = "SEARCH T USING INDEX T_InvoiceID "
		byTotal = "SEARCH T USING INDEX T_InvoiceTotal "

		sameTotalAfterID  = byTotal + "(InvoiceTotal=? AND InvoiceID>?)"
		sameTotalBeforeID = byTotal + "(InvoiceTotal=? AND InvoiceID<?)"
		largerTotals      = byTotal + "(InvoiceTotal>?)"
		smallerTotals     = byTotal + "(InvoiceTotal<?)"
		totalsBetween     = byTotal + "(InvoiceTotal>? AND InvoiceTotal<?)"
		nullTotals        = byTotal + "(InvoiceTotal=?)"
	)
	id := query.Position{Data: []byte("D005")}
	total := query.Position{Data: []byte("5")}
	afterID := []query.Position{id}
	afterTotal := []query.Position{total, id}
	afterNull := []query.Position{{Null: true}, id}
	for _, c := range []struct {
		body  string
		after []query.Position
		want  []string // plans of the parts
	}{
		{`{"Cursor":""}`, afterID, []string{byID + "(InvoiceID>?)"}},
		{`{"Cursor":"","OrderByDesc":"InvoiceID"}`, afterID, []string{byID + "(InvoiceID<?)"}},
		{
			`{"Cursor":"","OrderBy":"InvoiceTotal"}`, afterTotal,
			[]string{sameTotalAfterID, largerTotals},
		},
		{
			`{"Cursor":"","OrderByDesc":"InvoiceTotal"}`, afterTotal,
			[]string{sameTotalBeforeID, smallerTotals, nullTotals},
		},
		{
			`{"Cursor":"","OrderByDesc":"InvoiceTotal","InvoiceTotalBetween":[1,9]}`, afterTotal,
			[]string{sameTotalBeforeID, totalsBetween},
		},
		{
			`{"Cursor":"","OrderBy":"InvoiceTotal","InvoiceTotalGreaterThan":1}`, afterTotal,
			[]string{sameTotalAfterID, largerTotals},
		},
		{
			`{"Cursor":"","OrderBy":"InvoiceTotal"}`, afterNull,
			[]string{sameTotalAfterID, largerTotals},
		},
		{
			`{"Cursor":"","OrderByDesc":"InvoiceTotal"}`, afterNull,
			[]string{sameTotalBeforeID},
		},
	} {
		r := parseTotals(t, c.body)
		if err := query.NewCursors([32]byte{}).Start(r, nil, []int{0}); err != nil {
			t.Fatal(err)
		}
		r.Take = 100
		r.Place.After = c.after
		plan, err := query.NewPlan(r, true)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		parts, _ := plan.Place.Parts(*plan)
		for _, part := range parts {
			st, err := query.Compile(&part, d, b.Table(totalsKind()))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, explain(t, b, st))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s after %v:\n got  %q\n want %q", c.body, c.after, got, c.want)
		}
	}
}

// TestIndexesOfDemo: filling a file makes indexes on its ordered fields; opening makes
// none beyond the first field's, and tables of other names are left alone.
func TestIndexesOfDemo(t *testing.T) {
	ofFirstField := []string{"SO_Totals_InvoiceID(InvoiceID)"}
	ofAllFields := slices.Clone(ofFirstField)
	for _, name := range orderedColumns(totalsKind()) {
		ofAllFields = append(ofAllFields, "SO_Totals_"+name+"("+name+",InvoiceID)")
	}
	slices.Sort(ofAllFields)
	if len(ofAllFields) != 8 {
		t.Errorf("SO_Totals has indexes %q, want 8", ofAllFields)
	}
	b := totalsFile(t, nil)
	checkIndexes(t, b, ofFirstField)
	loadTotals(t, b)
	checkIndexes(t, b, ofAllFields)

	mapped := totalsFile(t, map[string]string{"SO_Totals": "Theirs"})
	conn, err := mapped.Pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec("CREATE TABLE Theirs (InvoiceID, InvoiceTotal, a, b, c, d, e, f)")
	mapped.Pool.Put(conn)
	if err != nil {
		t.Fatal(err)
	}
	loadTotals(t, mapped)
	checkIndexes(t, mapped, nil)
}

// checkIndexes compares the indexes of SO_Totals and Theirs.
func checkIndexes(t *testing.T, b *fileRecords, want []string) {
	t.Helper()
	conn, err := b.Pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Pool.Put(conn)
	var got []string
	err = conn.Query(`
		SELECT l.name || '(' || group_concat(i.name) || ')'
		FROM sqlite_schema AS t, pragma_index_list(t.name) AS l, pragma_index_info(l.name) AS i
		WHERE t.name COLLATE NOCASE IN ('SO_Totals', 'Theirs')
		GROUP BY l.name ORDER BY 1`,
		func(s *sqlite.Stmt) error {
			got = append(got, s.Text(0))
			return nil
		})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got indexes %q (%v), want %q", got, err, want)
	}
}

// TestTableOfAnotherProgram: conditions on several fields convert their operands to the
// types of the columns, which a unary plus would prevent.
func TestTableOfAnotherProgram(t *testing.T) {
	for _, c := range []struct {
		name    string
		table   string
		sources map[string]string
	}{
		{"mapped", "Theirs", map[string]string{"SO_Totals": "Theirs"}},
		{"mapped to the kind's name", "SO_Totals", map[string]string{"SO_Totals": "SO_Totals"}},
		{"not mapped", "SO_Totals", nil},
	} {
		t.Run(c.name, func(t *testing.T) { readTheirs(t, c.table, c.sources) })
	}
}

// execFile executes statements of another program in a file.
func execFile(t *testing.T, path, statements string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

func readTheirs(t *testing.T, table string, sources map[string]string) {
	c := Config{
		Path:        filepath.Join(t.TempDir(), "records.db"),
		Registry:    record.Builtin(),
		Sources:     sources,
		Connections: 1,
	}
	execFile(t, c.Path, `
		CREATE TABLE `+table+` (
			InvoiceID TEXT, InvoiceTotal INTEGER, Cartage1Total INTEGER, Cartage1TaxTotal,
			Cartage2Total, Cartage2TaxTotal, Cartage3Total, Cartage3TaxTotal
		);
		INSERT INTO `+table+` (InvoiceID, InvoiceTotal, Cartage1Total)
		VALUES ('a', 5, 50), ('b', 40, 50), ('c', 300, 6)`)
	b, err := newFileRecords(c)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	plan := &query.Plan{Kind: totalsKind(), Take: query.NoTake, Columns: []int{0}, Where: []query.Condition{
		{Field: 1, Operator: record.GreaterThan, Operands: []wire.Value{{Text: "39"}}},
		{Field: 2, Operator: record.LessThan, Operands: []wire.Value{{Text: "100"}}},
	}}
	noLimits := func() executor.Limits { return executor.Limits{} }
	result, err := executor.Select(t.Context(), b, noLimits, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var got []string
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			break
		}
		got = append(got, string(cells[0].Data))
	}
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got rows %q, want %q", got, want)
	}
}

// TestLogOfUnchangedFile: totals are remembered from the start, which requires a log.
func TestLogOfUnchangedFile(t *testing.T) {
	c := Config{Path: filepath.Join(t.TempDir(), "records.db"), Registry: record.Builtin(), Connections: 1}
	for range 2 {
		b, err := newFileRecords(c)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := b.Pool.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("BEGIN; SELECT count(*) FROM sqlite_schema"); err != nil {
			t.Fatal(err)
		}
		if conn.LogState() == "" {
			t.Error("the file has no log")
		}
		b.Pool.Put(conn)
		b.Close()
	}
}

// TestKeysOfBuiltinKinds: in tables that the service creates, unique indexes prove the keys of
// the built-in kinds except two.
func TestKeysOfBuiltinKinds(t *testing.T) {
	b := totalsFile(t, nil)
	for _, kind := range record.Builtin().Kinds() {
		var want []int
		if kind.Name != "INMGT020POQty" && kind.Name != "DB_Class" {
			want = []int{0}
		}
		if key, err := executor.Key(t.Context(), b, kind); err != nil || !slices.Equal(key, want) {
			t.Errorf("%s: got key %v (%v), want %v", kind.Name, key, err, want)
		}
	}
}

// TestOtherTables: tables and views of other programs with the name of a built-in kind do not
// prevent a start, and an index on a declared key has all of its columns.
func TestOtherTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	execFile(t, path, `
		CREATE TABLE so_totals (Other);
		INSERT INTO so_totals VALUES (1), (2);
		CREATE VIEW IN_Colours AS SELECT 1 AS Other`)
	pair := record.Kind{Name: "Theirs", Key: []string{"B", "A"}, Fields: []record.Field{
		{Name: "A", Type: record.Int},
		{Name: "B", Column: "b c", Type: record.Int},
	}}
	withPair, err := record.NewRegistry(append(record.Kinds(), pair)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, registry := range []*record.Registry{record.Builtin(), withPair} {
		b, err := newFileRecords(Config{Path: path, Registry: registry, Connections: 1})
		if err != nil {
			t.Fatal(err)
		}
		if key, err := executor.Key(t.Context(), b, totalsKind()); err != nil || key != nil {
			t.Errorf("SO_Totals has key %v (%v), want none", key, err)
		}
		if registry == withPair {
			checkIndexes(t, b, []string{"SO_Totals_InvoiceID(InvoiceID)", "Theirs_b c_A(b c,A)"})
		}
		b.Close()
	}
}
