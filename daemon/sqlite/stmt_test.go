package sqlite

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func prepare(tb testing.TB, c *Conn, sql string) *Stmt {
	tb.Helper()
	s, err := c.Prepare(sql)
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return s
}

// step calls Step and fails unless the result is want.
func step(tb testing.TB, s *Stmt, want bool) {
	tb.Helper()
	if hasRow, err := s.Step(); err != nil || hasRow != want {
		tb.Fatalf("Step: got %v (%v), want %v", hasRow, err, want)
	}
}

func TestTextRoundTrip(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE a(x TEXT COLLATE TSQL, d TEXT_DECIMAL COLLATE DEC)")
	for _, v := range []string{
		"", " ", "x", "a\x00b", "\x00", "é — 日本 𐐀", "\xff\xfe", "1.50", "007", "1e3",
		strings.Repeat("9", 38), "-0." + strings.Repeat("0", 37) + "1", "12345678901234567890123456789012345678.00",
		strings.Repeat("y", scratchSize), strings.Repeat("z", scratchSize+1), strings.Repeat("\x00é", 50_000),
	} {
		s := prepare(t, c, "INSERT INTO a VALUES (?1, ?1) RETURNING x, d, typeof(x), typeof(d), length(CAST(x AS BLOB))")
		s.BindText(1, v)
		step(t, s, true)
		if s.Text(0) != v || s.Text(1) != v || s.Null(0) {
			t.Errorf("%.40q was read as %.40q and %.40q", v, s.Text(0), s.Text(1))
		}
		if s.Text(2) != "text" || s.Text(3) != "text" || s.Int(4) != int64(len(v)) {
			t.Errorf("%.40q is stored as %s and %s of %d bytes", v, s.Text(2), s.Text(3), s.Int(4))
		}
		step(t, s, false)
		s.Reset()
	}
}

func TestOtherRoundTrips(t *testing.T) {
	c := open(t)
	s := prepare(t, c, "SELECT ?1, typeof(?1), length(?1)")
	for _, v := range []int64{0, 1, -1, math.MaxInt32, math.MinInt64, math.MaxInt64} {
		s.BindInt(1, v)
		step(t, s, true)
		if s.Int(0) != v || s.Text(0) != fmt.Sprint(v) || s.Text(1) != "integer" {
			t.Errorf("%d was read as %d, %s", v, s.Int(0), s.Text(1))
		}
		s.Reset()
	}
	for _, v := range [][]byte{nil, {}, {0}, {1, 0, 2}, bytes.Repeat([]byte{7, 0}, 5000)} {
		s.BindBytes(1, v)
		step(t, s, true)
		if !bytes.Equal(s.Bytes(0), v) || s.Text(1) != "blob" || s.Int(2) != int64(len(v)) || s.Null(0) {
			t.Errorf("%d bytes were read as %d bytes of type %s", len(v), len(s.Bytes(0)), s.Text(1))
		}
		s.Reset()
	}
	s.BindInt(1, 5)
	s.BindNull(1)
	step(t, s, true)
	if !s.Null(0) || s.Text(0) != "" || s.Int(0) != 0 || s.Bytes(0) != nil || s.Text(1) != "null" {
		t.Errorf("NULL was read as %q, %s", s.Text(0), s.Text(1))
	}
	s.Reset()
	step(t, s, true)
	if !s.Null(0) {
		t.Error("a parameter is still bound after Reset")
	}
	s.Reset()
}

func TestAnyTextRoundTrip(t *testing.T) {
	c := open(t)
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		s, err := c.Prepare("SELECT ?1, ?2")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Reset()
		s.BindText(1, text)
		s.BindBytes(2, []byte(text))
		if hasRow, err := s.Step(); !hasRow || err != nil {
			t.Fatal(hasRow, err)
		}
		if s.Text(0) != text || string(s.Bytes(1)) != text {
			t.Fatalf("%q was read as %q and %q", text, s.Text(0), s.Bytes(1))
		}
	})
}

func TestBindErrorsStick(t *testing.T) {
	c := open(t)
	s := prepare(t, c, "SELECT ?1")
	if s.Columns() != 1 {
		t.Errorf("%d columns", s.Columns())
	}
	s.BindText(2, "out of range")
	s.BindText(1, "fine")
	if _, err := s.Step(); err == nil {
		t.Error("Step does not return the bind error")
	}
	if err := s.Reset(); err == nil {
		t.Error("Reset does not return the bind error")
	}
	s.BindText(1, "fine")
	step(t, s, true)
	if err := s.Reset(); err != nil {
		t.Errorf("after Reset: %v", err)
	}
	step(t, s, true)
	s.BindInt(1, 1) // too late, the statement is running
	if _, err := s.Step(); err == nil {
		t.Error("a parameter changed while the statement ran")
	}
	s.Reset()
}

func TestPrepareErrors(t *testing.T) {
	c := open(t)
	for _, sql := range []string{"", "-- nothing", "SELECT 1; SELECT 2", "SELEC 1", "SELECT 1\x00"} {
		if _, err := c.Prepare(sql); err == nil {
			t.Errorf("Prepare(%q): no error", sql)
		}
	}
}

func TestStatementCache(t *testing.T) {
	c := open(t)
	const sql = "SELECT 1 UNION ALL SELECT 2"
	first := prepare(t, c, sql)
	step(t, first, true)
	second := prepare(t, c, sql)
	if first == second {
		t.Fatal("a running statement is returned again")
	}
	step(t, second, true)
	step(t, first, true)
	if first.Int(0) != 2 || second.Int(0) != 1 {
		t.Errorf("the two runs read %d and %d", first.Int(0), second.Int(0))
	}
	first.Reset()
	if prepare(t, c, sql) != first {
		t.Error("a statement is not reused after Reset")
	}
	second.Reset()
	for i := range 3 * cacheSize {
		prepare(t, c, fmt.Sprint("SELECT ", i)).Reset()
	}
	if len(c.cache) > cacheSize {
		t.Errorf("the cache contains %d statements", len(c.cache))
	}
	step(t, first, true) // in use all the time
	second.BindInt(1, 1)
	if _, err := second.Step(); err == nil {
		t.Error("a statement removed from the cache still runs")
	}
	first.Reset()
}

// TestCacheFull uses more statements at the same time than the cache can hold.
func TestCacheFull(t *testing.T) {
	c := open(t)
	var count []*Stmt
	for range cacheSize + 20 {
		s := prepare(t, c, "SELECT 1")
		step(t, s, true)
		count = append(count, s)
	}
	for _, s := range count {
		if s.Int(0) != 1 {
			t.Fatal("a running statement lost its row")
		}
		s.Reset()
	}
	prepare(t, c, "SELECT 2").Reset()
	if len(c.cache) > cacheSize {
		t.Errorf("the cache contains %d statements", len(c.cache))
	}
}

func TestSchemaChange(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE a(x); INSERT INTO a VALUES (1)")
	if got := query(t, c, "SELECT * FROM a"); got != "1" {
		t.Errorf("before: got %s, want 1", got)
	}
	exec(t, c, "ALTER TABLE a ADD COLUMN y DEFAULT 2")
	// The columns of a prepared statement may be those that it had before.
	if got := query(t, c, "SELECT * FROM a"); got != "1" && got != "1|2" {
		t.Errorf("first read afterwards: got %s, want 1 or 1|2", got)
	}
	if got := query(t, c, "SELECT * FROM a"); got != "1|2" {
		t.Errorf("second read afterwards: got %s, want 1|2", got)
	}
}

// TestMemoryIsStable repeats all operations that pass memory to SQLite and checks that its
// memory usage does not grow.
func TestMemoryIsStable(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE a(x TEXT COLLATE TSQL); BEGIN")
	long := strings.Repeat("x", 2*scratchSize)
	cycle := func(i int) {
		s := prepare(t, c, "INSERT INTO a VALUES (?1)")
		s.BindText(1, fmt.Sprint("text ", i%10))
		step(t, s, false)
		s.Reset()
		s = prepare(t, c, `SELECT count(*), dec_sum(length(x)), dec_avg('1.5') FROM a
			WHERE x LIKE ?1 AND x <> ?2 AND x <> ?3`)
		s.BindText(1, "%[0-9]")
		s.BindText(2, long)
		s.BindBytes(3, []byte(long))
		step(t, s, true)
		s.Reset()
		prepare(t, c, fmt.Sprint("SELECT ", i)).Reset()
		if err := c.Exec("SELECT dec_sum('x')"); err == nil {
			t.Fatal("the sum of x is not an error")
		}
		exec(t, c, "DELETE FROM a")
	}
	const warmUp = 2 * cacheSize // cycles until the cache of statements is full
	for i := range warmUp {
		cycle(i)
	}
	before := memoryUsed(c)
	for i := range 10_000 {
		cycle(warmUp + i)
	}
	if before == 0 {
		t.Fatal("memory usage is not counted")
	}
	if grown := memoryUsed(c) - before; grown > 64<<10 {
		t.Errorf("memory grew by %d bytes, want at most 64 KiB", grown)
	}
}
