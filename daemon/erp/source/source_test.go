package source_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
)

// sourceEngine opens records in the tables that statements create.
type sourceEngine struct {
	server bool
	open   func(t *testing.T, kinds []record.Kind, statements ...string) (*source.Source, *record.Registry)
	exec   func(t *testing.T, statement string) // executes a statement of another program
}

// keyColumn is a column of a key with its values as SQL literals, in no order.
type keyColumn struct {
	of     record.Type // type of the field
	file   string      // type of the column in a file
	server string      // type of the column on a server
	values []string
}

var (
	texts     = keyColumn{record.Text, "TEXT COLLATE TSQL", "nvarchar(20)", []string{"'b'", "'co-op'", "'coop'", "'a '", "'AB'", "'é'", "'O''Brien'", "'100%'", "''", "'[x]_'", "'q\"q'", "'ZZ'"}}
	padded    = keyColumn{record.Text, "TEXT COLLATE TSQL", "char(6)", []string{"'b     '", "'a-b   '", "'ab    '", "'C     '", "'d     '", "'e     '", "'F     '"}}
	ints      = keyColumn{record.Int, "INTEGER", "int", []string{"7", "-1", "0", "2147483647", "-2147483648", "5", "6", "8"}}
	longs     = keyColumn{record.Long, "INTEGER", "bigint", []string{"9007199254740993", "9007199254740992", "-9223372036854775808", "1", "2", "3", "4"}}
	decimals  = keyColumn{record.Decimal, "TEXT_DECIMAL COLLATE DEC", "decimal(18,4)", []string{"'10.5000'", "'9.0000'", "'-2.5000'", "'0.0000'", "'12345678901234.1234'", "'0.0001'", "'100.0000'"}}
	moneys    = keyColumn{record.Decimal, "TEXT_DECIMAL COLLATE DEC", "money", []string{"'10.5000'", "'9.0000'", "'-2.5000'", "'0.0000'", "'0.0001'", "'100.0000'"}}
	doubles   = keyColumn{record.Double, "REAL", "float", []string{"0.1", "1e300", "-3.0", "0.30000000000000004", "0.3", "2.5"}}
	datetimes = keyColumn{record.DateTime, "TEXT", "datetime", []string{"'2019-05-01T10:11:12.1230000'", "'2019-05-01T10:11:12.1270000'", "'2019-05-01T10:11:12.0000000'", "'1999-12-31T23:59:59.9970000'", "'2019-05-02T00:00:00.0000000'", "'2020-02-29T00:00:00.0000000'"}}
	precise   = keyColumn{record.DateTime, "TEXT", "datetime2(6)", []string{"'2019-05-01T10:11:12.1234560'", "'2019-05-01T10:11:12.1234570'", "'0001-01-01T00:00:00.0000000'", "'9999-12-31T23:59:59.9999990'", "'2019-05-02T00:00:00.0000000'"}}
	guids     = keyColumn{record.Guid, "TEXT", "uniqueidentifier", []string{"'0f8fad5b-d9cb-469f-a165-70867728950e'", "'0f8fad5b-d9cb-469f-a165-70867728950f'", "'ffffffff-d9cb-469f-a165-708677289500'", "'00000000-0000-0000-0000-000000000001'", "'01000000-0000-0000-0000-000000000000'", "'0f8fad5b-d9cb-469f-0165-70867728950e'"}}
	guidBlobs = keyColumn{record.Guid, "BLOB", "uniqueidentifier", []string{"0x5bad8f0fcbd99f46a16570867728950e", "0x0f8fad5bcbd99f46a16570867728950e", "0x00000001000000000000000000000000", "0x01000000000000000000000000000000", "0xffffffffcbd99f46a16570867728950e", "0x0000000000000000000000000000000a"}}
	binaries  = keyColumn{record.Bytes, "BLOB", "varbinary(8)", []string{"0x61", "0x6201", "0x62", "0xff", "0x0001", "0x7a7a"}}
	bools     = keyColumn{record.Bool, "INTEGER", "bit", []string{"1", "0"}}
	fewInts   = keyColumn{record.Int, "INTEGER", "int", []string{"1", "2", "3"}}
	fewTexts  = keyColumn{record.Text, "TEXT COLLATE TSQL", "nvarchar(20)", []string{"'co-op'", "'coop'", "'a '"}}
)

// sourceKeys are the keys of the tables.
var sourceKeys = map[string][]keyColumn{
	"KText":     {texts},
	"KPadded":   {padded},
	"KInt":      {ints},
	"KLong":     {longs},
	"KDecimal":  {decimals},
	"KMoney":    {moneys},
	"KDouble":   {doubles},
	"KDateTime": {datetimes},
	"KPrecise":  {precise},
	"KGuid":     {guids},
	"KGuidBlob": {guidBlobs},
	"KBytes":    {binaries},
	"KBool":     {bools},

	"PIntGuidBlob": {fewInts, guidBlobs},
	"PTextInt":     {fewTexts, fewInts},
	"PIntText":     {fewInts, fewTexts},
	"PDateGuid":    {datetimes, guids},
	"PDecimalBool": {decimals, bools},
	"PThree":       {fewInts, bools, fewTexts},
}

// table returns the statements that create and fill a table with a key, and its kind.
func (e sourceEngine) table(name string, key []keyColumn) (statements []string, kind record.Kind) {
	kind = record.Kind{Name: name}
	var columns []string // definitions
	var names []string
	rows := [][]string{nil} // all combinations of the values of the columns so far
	for i, k := range key {
		column := fmt.Sprintf("K%d", i+1)
		declared := k.file
		if e.server {
			declared = k.server
		}
		field := record.Field{Name: column, Type: k.of, Filter: k.of.Filter()}
		if k.of == record.Guid && k.file == "BLOB" {
			field.Blob = record.BlobNet
		}
		kind.Fields = append(kind.Fields, field)
		columns = append(columns, column+" "+declared+" NOT NULL")
		names = append(names, column)
		var longer [][]string
		for _, r := range rows {
			for _, value := range k.values {
				longer = append(longer, append(slices.Clip(r), e.literal(k, value)))
			}
		}
		rows = longer
	}
	kind.Fields = append(kind.Fields, record.Field{Name: "Val", Type: record.Int, Filter: record.OrderedFilter})
	values := make([]string, len(rows))
	for i, r := range rows {
		values[i] = fmt.Sprintf("(%s, %d)", strings.Join(r, ", "), i)
	}
	statements = []string{
		fmt.Sprintf("CREATE TABLE %s (%s, Val int, PRIMARY KEY (%s))",
			name, strings.Join(columns, ", "), strings.Join(names, ", ")),
		"INSERT INTO " + name + " VALUES " + strings.Join(values, ", "),
	}
	return statements, kind
}

// literal returns a value as the engine reads it: datetime has three digits.
func (e sourceEngine) literal(k keyColumn, value string) string {
	binary, isBinary := strings.CutPrefix(value, "0x")
	if isBinary && !e.server {
		return "x'" + binary + "'"
	}
	if e.server && k.server == "datetime" {
		return strings.TrimSuffix(value, "0000'") + "'"
	}
	return value
}

// sweep reads all rows in pages of up to limit rows, and calls between after each. It returns the
// texts of the rows.
func sweep(t *testing.T, s *source.Source, r changes.Read, between func(page [][]row.Cell)) (texts []string) {
	t.Helper()
	for range 1000 {
		page, err := s.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		isTooSmall := page.More && len(page.Rows) < r.Limit-1
		if len(page.Rows) > r.Limit || isTooSmall {
			t.Fatalf("%s: a page has %d rows, want %d", r.Kind.Name, len(page.Rows), r.Limit)
		}
		for _, cells := range page.Rows {
			texts = append(texts, cellsText(r.Kind, r.Fields, cells))
		}
		between(page.Rows)
		if !page.More {
			return texts
		}
		r.After = keyOf(r, page.Rows[len(page.Rows)-1])
	}
	t.Fatalf("%s: the pages do not end", r.Kind.Name)
	return nil
}

func keyOf(r changes.Read, cells []row.Cell) (key []row.Cell) {
	for _, field := range r.Key {
		key = append(key, cells[slices.Index(r.Fields, field)])
	}
	return key
}

func cellsText(kind *record.Kind, fields []int, cells []row.Cell) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprintf("%q", c.Text(kind.Fields[fields[i]].Type))
		if c.Null {
			texts[i] = "null"
		}
	}
	return strings.Join(texts, " ")
}

// readOf returns a read of all fields of a kind by its proven key.
func readOf(t *testing.T, s *source.Source, kind *record.Kind, limit int) (changes.Read, changes.Table) {
	t.Helper()
	table, err := s.Table(t.Context(), kind)
	if err != nil {
		t.Fatalf("%s: %v", kind.Name, err)
	}
	r := changes.Read{Kind: kind, Key: table.Key, Limit: limit}
	for field := range kind.Fields {
		r.Fields = append(r.Fields, field)
	}
	return r, table
}

// keys sweeps tables with every kind of key while rows come and go, and looks rows up.
func (e sourceEngine) keys(t *testing.T) {
	var kinds []record.Kind
	var statements []string
	for name, key := range sourceKeys {
		created, kind := e.table(name, key)
		statements = append(statements, created...)
		kinds = append(kinds, kind)
	}
	s, registry := e.open(t, kinds, statements...)
	for name, columns := range sourceKeys {
		kind, _ := registry.Lookup(name)
		e.sweepKey(t, s, kind, columns)
	}
}

// sweepKey sweeps the table of a kind in one page, in small pages, and while rows are deleted.
func (e sourceEngine) sweepKey(t *testing.T, s *source.Source, kind *record.Kind, columns []keyColumn) {
	t.Helper()
	r, table := readOf(t, s, kind, 1000)
	if len(table.Key) != len(columns) {
		t.Errorf("%s: got key %v, want %d fields", kind.Name, table.Key, len(columns))
		return
	}
	var rows [][]row.Cell
	want := sweep(t, s, r, func(page [][]row.Cell) { rows = append(rows, page...) })
	wantCount := 1
	for _, c := range columns {
		wantCount *= len(c.values)
	}
	if len(want) != wantCount {
		t.Fatalf("%s: got %d rows, want %d", kind.Name, len(want), wantCount)
	}

	r.Limit = 4
	if got := sweep(t, s, r, func([][]row.Cell) {}); !slices.Equal(got, want) {
		t.Errorf("%s in pages: got\n%s, want\n%s", kind.Name, got, want)
	}
	e.lookUps(t, s, r, rows)

	// The last rows of the first two pages are deleted after they were read.
	isDeleted := make(map[string]bool)
	got := sweep(t, s, r, func(page [][]row.Cell) {
		if len(isDeleted) < 2 && len(page) > 0 {
			last := page[len(page)-1]
			isDeleted[cellsText(kind, r.Fields, last)] = true
			e.exec(t, fmt.Sprintf("DELETE FROM %s WHERE Val = %d", kind.Name, last[len(last)-1].Int))
		}
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s while rows are deleted: got\n%s, want\n%s", kind.Name, got, want)
	}
	remaining := sweep(t, s, r, func([][]row.Cell) {})
	wantRemaining := slices.DeleteFunc(want, func(text string) bool { return isDeleted[text] })
	if !slices.Equal(remaining, wantRemaining) {
		t.Errorf("%s afterwards: got\n%s, want\n%s", kind.Name, remaining, wantRemaining)
	}
}

// lookUps looks rows up by their keys, one and all of them.
func (e sourceEngine) lookUps(t *testing.T, s *source.Source, r changes.Read, rows [][]row.Cell) {
	t.Helper()
	var keys [][]row.Cell
	for _, cells := range rows {
		keys = append(keys, keyOf(r, cells))
	}
	isSameCell := func(a, b row.Cell) bool {
		return a.Int == b.Int && bytes.Equal(a.Data, b.Data) && a.Null == b.Null
	}
	for _, lookedUp := range [][][]row.Cell{keys, keys[len(keys)-1:], keys[:min(60, len(keys))]} {
		r.Keys = lookedUp
		page, err := s.Read(t.Context(), r)
		if err != nil || page.More {
			t.Errorf("%s, look-up of %d keys: got %+v (%v), want all rows", r.Kind.Name, len(lookedUp), page, err)
			continue
		}
		for _, key := range lookedUp {
			found := 0
			for _, cells := range page.Rows {
				if slices.EqualFunc(keyOf(r, cells), key, isSameCell) {
					found++
				}
			}
			if found != 1 {
				t.Errorf("%s, look-up of %d keys: %d rows have the key %s, want one",
					r.Kind.Name, len(lookedUp), found, cellsText(r.Kind, r.Key, key))
			}
		}
	}
}

// declared reads tables with keys that are declared only: equal keys, nulls, and keys that
// are equal under the collation.
func (e sourceEngine) declared(t *testing.T) {
	columns := "(K1 TEXT COLLATE TSQL, Val INTEGER)"
	if e.server {
		columns = "(K1 nvarchar(20), Val int)"
	}
	fields := []record.Field{
		{Name: "K1", Type: record.Text, Filter: record.TextFilter, Null: true},
		{Name: "Val", Type: record.Int, Filter: record.OrderedFilter, Null: true},
	}
	kinds := []record.Kind{
		{Name: "Twice", Key: []string{"K1"}, Fields: fields},
		{Name: "Undeclared", Fields: fields},
		{Name: "Cases", Key: []string{"K1"}, Fields: fields},
	}
	s, registry := e.open(t, kinds,
		"CREATE TABLE Twice "+columns,
		"CREATE TABLE Cases "+columns,
		"INSERT INTO Twice VALUES ('a', 1), ('b', 2), ('c', 3), ('c', 4), ('d', 5), ('e', 6)",
		"INSERT INTO Cases VALUES (NULL, 1), ('a', 2), ('A', 3), ('a  ', 4), ('co-op', 5), ('coop', 6)",
		"CREATE VIEW Undeclared AS SELECT K1, Val FROM Twice",
	)
	undeclared, _ := registry.Lookup("Undeclared")
	_, table := readOf(t, s, undeclared, 4)
	if table.Key != nil || len(table.Fields) != 2 || table.Pollable || table.Stamp != -1 {
		t.Errorf("a view: got table %+v, want two fields, no key, no stamp, and that it is not pollable", table)
	}

	twice, _ := registry.Lookup("Twice")
	for limit := 2; limit <= 6; limit++ {
		r, _ := readOf(t, s, twice, limit)
		if !hasTogether(t, s, r, "c", 2) {
			t.Errorf("with pages of %d rows, no page has both rows of the same key", limit)
		}
	}

	cases, _ := registry.Lookup("Cases")
	r, _ := readOf(t, s, cases, 1000)
	var rows [][]row.Cell
	texts := sweep(t, s, r, func(page [][]row.Cell) { rows = append(rows, page...) })
	if len(texts) != 6 {
		t.Errorf("got rows %s, want 6", texts)
	}
	e.lookUps(t, s, r, rows)
}

// hasTogether reports whether a page has count rows of a key.
func hasTogether(t *testing.T, s *source.Source, r changes.Read, key string, count int) bool {
	t.Helper()
	for {
		page, err := s.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, cells := range page.Rows {
			if string(cells[0].Data) == key {
				found++
			}
		}
		if found == count || !page.More {
			return found == count
		}
		r.After = keyOf(r, page.Rows[len(page.Rows)-1])
	}
}

// stamps polls a table by the time of the last change.
func (e sourceEngine) stamps(t *testing.T) {
	types := struct{ at, text, blob string }{"TEXT", "TEXT COLLATE TSQL", "BLOB"}
	if e.server {
		types.at = "datetime"
		types.text = "nvarchar(20)"
		types.blob = "varbinary(20)"
	}
	fields := []record.Field{
		{Name: "K1", Type: record.Text, Filter: record.TextFilter},
		{Name: "At", Type: record.DateTime, Filter: record.OrderedFilter, Null: true},
		{Name: "Image", Type: record.Bytes},
	}
	columns := "(K1 " + types.text + " NOT NULL PRIMARY KEY, [At] " + types.at + ", [Image] " + types.blob + ")"
	day := func(n int) string { return fmt.Sprintf("2026-01-0%dT10:00:00.0070000", n) }
	insert := func(table string) string {
		values := "('never', NULL, NULL)"
		for i, key := range []string{"d", "c", "b", "a", "e", "f", "g"} {
			values += fmt.Sprintf(", ('%s', %s, NULL)", key, e.literal(datetimes, "'"+day(1+i/2)+"'"))
		}
		return "INSERT INTO " + table + " VALUES " + values
	}
	kinds := []record.Kind{
		{Name: "Indexed", Stamp: "At", Fields: fields},
		{Name: "Slow", Stamp: "At", Fields: fields},
		{Name: "Named", Table: "Slow", Fields: fields, CaptureFields: []string{"Image"}},
		{Name: "Ignoring", Table: "Slow", Fields: fields, Ignore: []string{"at"}},
	}
	s, registry := e.open(t, kinds,
		"CREATE TABLE Indexed "+columns,
		"CREATE TABLE Slow "+columns,
		"CREATE INDEX I ON Indexed ([At])",
		insert("Indexed"),
		insert("Slow"),
	)
	for name, isPollable := range map[string]bool{"Indexed": true, "Slow": false} {
		kind, _ := registry.Lookup(name)
		r, table := readOf(t, s, kind, 4)
		if table.Stamp != 1 || table.Version || table.Pollable != isPollable {
			t.Errorf("%s: got table %+v, want a time in field 1, pollable: %v", name, table, isPollable)
		}
		if table.Rows == 0 || table.Rows > 1000 {
			t.Errorf("%s: got about %d rows, want 1 to 1000", name, table.Rows)
		}
		expectFields(t, name, table, "[0 1] [Image: it is byte[]]")
		got := firstsSince(t, s, r, day(2))
		if want := []string{"a", "b", "e", "f", "g"}; !slices.Equal(got, want) {
			t.Errorf("%s since %s: got %q, want %q", name, day(2), got, want)
		}
	}
	for name, want := range map[string]string{
		"Named":    "[0 2] [At: it is not in capture_fields]",
		"Ignoring": "[0] [At: it is in ignore Image: it is byte[]]",
	} {
		kind, _ := registry.Lookup(name)
		_, table := readOf(t, s, kind, 4)
		expectFields(t, name, table, want)
	}
}

// expectFields compares the captured and the omitted fields of a table.
func expectFields(t *testing.T, name string, table changes.Table, want string) {
	t.Helper()
	if got := fmt.Sprint(table.Fields, table.Omitted); got != want {
		t.Errorf("%s: got fields and omitted ones %s, want %s", name, got, want)
	}
}

// firstsSince reads the rows since a time in pages, and returns their first fields.
func firstsSince(t *testing.T, s *source.Source, r changes.Read, since string) (firsts []string) {
	t.Helper()
	r.Since = &changes.Since{From: row.Cell{Data: []byte(since)}}
	for {
		page, err := s.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, cells := range page.Rows {
			firsts = append(firsts, string(cells[0].Data))
		}
		if !page.More {
			return firsts
		}
		last := page.Rows[len(page.Rows)-1]
		r.Since = &changes.Since{From: last[1], Key: last[:1]}
	}
}

// pages: a page ends after MaxBytes.
func (e sourceEngine) pages(t *testing.T) {
	text := "TEXT"
	wantOmitted := "[]"
	if e.server {
		text = "nvarchar(max)"
		wantOmitted = "[Long: its column can hold more than 8,000 bytes]"
	}
	fields := []record.Field{
		{Name: "K1", Type: record.Int, Filter: record.OrderedFilter},
		{Name: "Long", Type: record.Text, Filter: record.TextFilter},
	}
	statements := []string{"CREATE TABLE Wide (K1 int NOT NULL PRIMARY KEY, Long " + text + ")"}
	thirdOfPage := strings.Repeat("x", changes.MaxBytes/3)
	for n := range 8 {
		statements = append(statements, fmt.Sprintf("INSERT INTO Wide VALUES (%d, '%s')", n, thirdOfPage))
	}
	s, registry := e.open(t, []record.Kind{{Name: "Wide", Fields: fields}, {Name: "Gone", Fields: fields}}, statements...)
	kind, _ := registry.Lookup("Wide")
	r, table := readOf(t, s, kind, 1000)
	if omitted := fmt.Sprint(table.Omitted); omitted != wantOmitted {
		t.Errorf("a long column: omitted %s, want %s", omitted, wantOmitted)
	}
	var sizes []int
	r.Limit = changes.MaxRows
	for hasMore := true; hasMore; {
		page, err := s.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Rows))
		hasMore = page.More
		r.After = keyOf(r, page.Rows[len(page.Rows)-1])
	}
	if want := []int{3, 3, 2}; !slices.Equal(sizes, want) {
		t.Errorf("got pages of %v rows, want %v", sizes, want)
	}
	if e.server {
		gone, _ := registry.Lookup("Gone")
		if _, err := s.Table(t.Context(), gone); err == nil || !strings.Contains(err.Error(), "Gone does not exist") {
			t.Errorf("a missing table: got error %v, want that Gone does not exist", err)
		}
	}
}

// collations describes how the columns of texts are compared.
func (e sourceEngine) collations(t *testing.T) {
	fields := []record.Field{
		{Name: "K1", Type: record.Int, Filter: record.OrderedFilter},
		{Name: "Exact", Type: record.Text, Filter: record.TextFilter},
		{Name: "Usual", Type: record.Text, Filter: record.TextFilter},
		{Name: "Number", Type: record.Text, Filter: record.TextFilter},
	}
	columns := "(K1 int NOT NULL PRIMARY KEY, Exact TEXT, Usual TEXT COLLATE TSQL, Number NUMERIC COLLATE NOCASE)"
	want := map[string]string{"Exact": "BINARY", "Usual": "TSQL", "Number": "BINARY"}
	if e.server {
		columns = "(K1 int NOT NULL PRIMARY KEY, Exact nvarchar(20) COLLATE Latin1_General_CS_AS, Usual nvarchar(20), Number int)"
		want = map[string]string{"Exact": "case-sensitive", "Usual": "usual"}
	}
	s, registry := e.open(t, []record.Kind{{Name: "Texts", Fields: fields}}, "CREATE TABLE Texts "+columns)
	kind, _ := registry.Lookup("Texts")
	table, err := s.Table(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for field, name := range table.Collations {
		switch {
		case !e.server:
			got[field] = name
		case dialect.CaseSensitive(name):
			got[field] = "case-sensitive"
		default:
			got[field] = "usual"
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the collations of the table: got %q, want %q", table.Collations, want)
	}
}

func (e sourceEngine) run(t *testing.T) {
	t.Run("Keys", e.keys)
	t.Run("Declared", e.declared)
	t.Run("Stamps", e.stamps)
	t.Run("Pages", e.pages)
	t.Run("Collations", e.collations)
	t.Run("Stored", e.stored)
}

// stored checks which tables store all their values: no view does, nor a table of a server with a
// computed column. Those of a file cannot depend on the time.
func (e sourceEngine) stored(t *testing.T) {
	fields := []record.Field{
		{Name: "K1", Type: record.Int, Filter: record.OrderedFilter},
		{Name: "Val", Type: record.Int, Filter: record.OrderedFilter, Null: true},
	}
	want := map[string]bool{"Plain": true, "View": false}
	statements := []string{
		"CREATE TABLE Plain (K1 int NOT NULL PRIMARY KEY, Val int)",
		"CREATE VIEW [View] AS SELECT K1, Val FROM Plain",
	}
	if e.server {
		want["Computed"] = false
		statements = append(statements, "CREATE TABLE Computed (K1 int NOT NULL PRIMARY KEY, Val AS K1 + 1)")
	}
	var kinds []record.Kind
	for name := range want {
		kinds = append(kinds, record.Kind{Name: name, Key: []string{"K1"}, Fields: fields})
	}
	s, registry := e.open(t, kinds, statements...)
	for name, isStored := range want {
		kind, _ := registry.Lookup(name)
		table, err := s.Table(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if table.Stored != isStored {
			t.Errorf("%s: got stored %v, want %v", name, table.Stored, isStored)
		}
	}
}

func openStore(t *testing.T, c storage.Config) *storage.Store {
	t.Helper()
	c.Connections = 2
	c.Limits = func() executor.Limits { return executor.Limits{} }
	s, err := storage.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// openSource opens the source of a store, and closes it with the test.
func openSource(t *testing.T, s *storage.Store) *source.Source {
	t.Helper()
	opened, err := source.New(s.Records, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func TestSourceSQLite(t *testing.T) {
	var conn *sqlite.Conn
	e := sourceEngine{}
	e.exec = func(t *testing.T, statement string) {
		t.Helper()
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	e.open = func(t *testing.T, kinds []record.Kind, statements ...string) (*source.Source, *record.Registry) {
		registry, err := record.NewRegistry(kinds...)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		other, err := sqlite.Open(filepath.Join(dir, storage.RecordsFile), sqlite.Options{BusyTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		conn = other
		e.exec(t, "BEGIN")
		for _, statement := range statements {
			e.exec(t, statement)
		}
		e.exec(t, "COMMIT")
		return openSource(t, openStore(t, storage.Config{Dir: dir, Registry: registry})), registry
	}
	e.run(t)
}

func TestSourceSQLServer(t *testing.T) {
	var db string
	e := sourceEngine{server: true}
	e.exec = func(t *testing.T, statement string) { mssqltest.Exec(t, db, statement) }
	e.open = func(t *testing.T, kinds []record.Kind, statements ...string) (*source.Source, *record.Registry) {
		registry, err := record.NewRegistry(kinds...)
		if err != nil {
			t.Fatal(err)
		}
		db = mssqltest.Database(t)
		mssqltest.Exec(t, db, statements...)
		store := openStore(t, storage.Config{Dir: t.TempDir(), ERP: erp.Config{DSN: db}, Registry: registry})
		return openSource(t, store), registry
	}
	e.run(t)
}
