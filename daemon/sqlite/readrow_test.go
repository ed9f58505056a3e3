package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// cellText formats a cell according to its type.
func cellText(c row.Cell, t record.Type) string {
	switch {
	case c.Null:
		return "NULL"
	case c.Misfit:
		return "misfit " + string(c.Data)
	case t.Stored().Integer() || t == record.Bool:
		return fmt.Sprint(c.Int)
	}
	return string(c.Data)
}

// readCells executes a statement and formats its rows, read with the given types.
func readCells(tb testing.TB, c *Conn, sql string, types ...record.Type) string {
	tb.Helper()
	s := prepare(tb, c, sql)
	defer s.Reset()
	cells := make([]row.Cell, len(types))
	var rows []string
	for {
		hasRow, err := s.Step()
		if err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
		if !hasRow {
			return strings.Join(rows, ",")
		}
		s.ReadRow(cells, types)
		var shown []string
		for i, cell := range cells {
			shown = append(shown, cellText(cell, types[i]))
		}
		rows = append(rows, strings.Join(shown, "|"))
	}
}

// TestCellsOfEveryType stores a value of each type like the store does, and NULL.
func TestCellsOfEveryType(t *testing.T) {
	stored := map[record.Type]struct{ declared, sql, want string }{
		record.Text:       {"TEXT COLLATE TSQL", "'Größe' || char(0) || 'x'", "Größe\x00x"},
		record.Int:        {"INTEGER", "-2147483648", "-2147483648"},
		record.Short:      {"INTEGER", "32767", "32767"},
		record.Byte:       {"INTEGER", "255", "255"},
		record.Long:       {"INTEGER", "9223372036854775807", "9223372036854775807"},
		record.Decimal:    {"TEXT_DECIMAL COLLATE DEC", "'12345678901234567890123456789012345.678'", "12345678901234567890123456789012345.678"},
		record.Bool:       {"INTEGER", "1", "1"},
		record.DateTime:   {"TEXT", "'2019-05-01T10:11:12.1230000'", "2019-05-01T10:11:12.1230000"},
		record.Bytes:      {"BLOB", "x'00ff00'", "\x00\xff\x00"},
		record.Guid:       {"TEXT", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "6f9619ff-8b86-d011-b42d-00c04fc964ff"},
		record.TimeSpan:   {"INTEGER", "123000", "123000"},
		record.Dictionary: {"TEXT", "'{}'", "{}"},
		record.Object:     {"TEXT", "''", ""},
		record.Double:     {"REAL", "1.7976931348623157e308", "1.7976931348623157e+308"},
		record.Epoch:      {"TEXT", "'2019-05-01T10:11:12.1230000'", "2019-05-01T10:11:12.1230000"},
	}
	c := open(t)
	for _, typ := range record.Types() {
		v, ok := stored[typ]
		if !ok {
			t.Errorf("no value for %v", typ)
			continue
		}
		exec(t, c, fmt.Sprintf("CREATE TABLE t%d(x %s); INSERT INTO t%d VALUES (%s), (NULL)", typ, v.declared, typ, v.sql))
		got := readCells(t, c, fmt.Sprintf("SELECT x FROM t%d", typ), typ)
		if want := v.want + ",NULL"; got != want {
			t.Errorf("%v: got %q, want %q", typ, got, want)
		}
	}
}

// TestCellsOfOtherStorage reads values whose storage class differs from their column's
// type: results of expressions, and values written by other programs.
func TestCellsOfOtherStorage(t *testing.T) {
	c := open(t)
	for _, test := range []struct {
		sql  string
		typ  record.Type
		want string
	}{
		{"SELECT 42", record.Text, "42"},
		{"SELECT 42", record.Decimal, "42"},
		{"SELECT 2.5", record.Decimal, "2.5"},
		{"SELECT 2.50", record.Double, "2.5"},
		{"SELECT 3", record.Double, "3"},
		{"SELECT 1e999", record.Double, "+Inf"},
		{"SELECT 'text'", record.Double, "misfit text"},
		{"SELECT '2.50'", record.Double, "2.50"},
		{"SELECT '0.5'", record.Double, "0.5"},
		{"SELECT '-0'", record.Double, "-0"},
		{"SELECT '00120'", record.Double, "misfit 00120"},
		{"SELECT '-01.5'", record.Double, "misfit -01.5"},
		{"SELECT '00120'", record.Int, "misfit 00120"},
		{"SELECT 9007199254740993", record.Double, "9007199254740993"},
		{"SELECT 1e22", record.Decimal, "10000000000000000000000"},
		{"SELECT 1e300", record.Decimal, "misfit 1e+300"},
		{"SELECT 0.1 + 0.2", record.Double, "0.30000000000000004"},
		{"SELECT '42'", record.Int, "42"},
		{"SELECT ''", record.Int, "NULL"},
		{"SELECT '10A'", record.Int, "misfit 10A"},
		{"SELECT '010'", record.Int, "misfit 010"},
		{"SELECT 2147483648", record.Int, "misfit 2147483648"},
		{"SELECT 7.9", record.Long, "misfit 7.9"},
		{"SELECT 7.0", record.Long, "7"},
		{"SELECT 1e19", record.Long, "misfit 10000000000000000000"},
		{"SELECT '10:11:12'", record.TimeSpan, "misfit 10:11:12"},
		{"SELECT 'true'", record.Bool, "1"},
		{"SELECT 'F'", record.Bool, "0"},
		{"SELECT 2", record.Bool, "misfit 2"},
		{"SELECT 'yes'", record.Bool, "misfit yes"},
		{"SELECT 20260102", record.DateTime, "misfit 20260102"},
		{"SELECT '2026-01-02'", record.DateTime, "2026-01-02"},
		{"SELECT ''", record.DateTime, "NULL"},
		{"SELECT x'00112233445566778899aabbccddeeff'", record.Guid, "misfit 00112233445566778899aabbccddeeff"},
		{"SELECT x'ff'", record.Text, "misfit ff"},
		{"SELECT ''", record.Bytes, "NULL"},
		{"SELECT x'4142'", record.Text, "AB"},
		{"SELECT 'AB'", record.Bytes, "misfit AB"},
		{"SELECT zeroblob(3)", record.Bytes, "\x00\x00\x00"},
		{"SELECT x''", record.Bytes, ""},
		{"SELECT ''", record.Text, ""},
		{"SELECT count(*) FROM sqlite_schema", record.Long, "0"},
		{"SELECT dec_sum(x) FROM (SELECT '1.50' AS x UNION ALL SELECT 2)", record.Decimal, "3.50"},
		{"SELECT dec_sum(NULL)", record.Decimal, "NULL"},
	} {
		if got := readCells(t, c, test.sql, test.typ); got != test.want {
			t.Errorf("%s as %v: got %q, want %q", test.sql, test.typ, got, test.want)
		}
	}
}

func TestCellsStayInsideTheRow(t *testing.T) {
	c := open(t)
	got := readCells(t, c, "SELECT 1, 'x'", record.Int, record.Text, record.Text, record.Int)
	if want := "1|x|NULL|NULL"; got != want {
		t.Errorf("more types than columns: got %s, want %s", got, want)
	}
	got = readCells(t, c, "SELECT 1, 2", record.Int)
	if want := "1"; got != want {
		t.Errorf("fewer types than columns: got %s, want %s", got, want)
	}
	s := prepare(t, c, "SELECT 1")
	cells := make([]row.Cell, 1)
	s.ReadRow(cells, []record.Type{record.Int})
	if !cells[0].Null {
		t.Error("a cell before the first row is not null")
	}
	step(t, s, true)
	step(t, s, false)
	s.ReadRow(cells, []record.Type{record.Int})
	if !cells[0].Null {
		t.Error("a cell after the last row is not null")
	}
	s.Reset()
}

func TestCellsOfUTF16(t *testing.T) {
	c := openFile(t, filepath.Join(t.TempDir(), "wide.db"), Options{Pragmas: []string{"encoding = 'UTF-16le'"}})
	exec(t, c, "CREATE TABLE a(x TEXT COLLATE TSQL); INSERT INTO a VALUES ('Größe')")
	if got := query(t, c, "PRAGMA encoding"); got != "UTF-16le" {
		t.Fatalf("the encoding of the file is %s", got)
	}
	got := readCells(t, c, "SELECT x FROM a WHERE x = 'GRÖßE' AND x LIKE 'gr_ß%'", record.Text)
	if want := "Größe"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	c := open(t)
	exec(t, c, `CREATE TABLE a(x TEXT COLLATE TSQL, d TEXT_DECIMAL COLLATE DEC);
		INSERT INTO a SELECT 'Größe ' || value, value || '.50' FROM (
			WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 5000) SELECT value FROM n)`)
	s := prepare(t, c, "SELECT x, d FROM a WHERE x LIKE 'gr[^a]%[0-9]' AND x LIKE '%ÖßE%' AND d > '0.4' ORDER BY d, x")
	defer s.Reset()
	cells := make([]row.Cell, 2)
	types := []record.Type{record.Text, record.Decimal}
	step(t, s, true)
	allocations := testing.AllocsPerRun(4000, func() {
		if hasRow, err := s.Step(); !hasRow || err != nil {
			t.Fatalf("Step: got %v (%v), want a row", hasRow, err)
		}
		s.ReadRow(cells, types)
	})
	if allocations != 0 {
		t.Errorf("got %v allocations a row, want none", allocations)
	}
}
