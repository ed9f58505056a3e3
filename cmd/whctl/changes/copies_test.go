package changes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// everyType returns a kind with a field of each type, and a key of two fields in another
// order than that of the fields.
func everyType(t *testing.T) *record.Kind {
	t.Helper()
	field := func(name string, fieldType record.Type) record.Field {
		return record.Field{Name: name, Type: fieldType, Filter: fieldType.Filter(), Null: true}
	}
	registry, err := record.NewRegistry(record.Kind{
		Name: "Every",
		Area: "Test",
		Key:  []string{"Amount", "ID"},
		Fields: []record.Field{
			field("ID", record.Text), field("Amount", record.Decimal), field("Price", record.Decimal), field("Count", record.Int), field("Short", record.Short),
			field("Byte", record.Byte), field("Long", record.Long), field("Flag", record.Bool), field("Ratio", record.Double), field("At", record.DateTime),
			field("Took", record.TimeSpan), field("Guid", record.Guid), field("Image", record.Bytes), field("Left", record.Text),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := registry.Lookup("Every")
	return kind
}

const everyRow = `{"ID":"a\u0000\"b ","Amount":1.500,"Price":12345678901234567890.1200,"Count":-7,"Short":3,"Byte":255,"Long":9223372036854775807,"Flag":true,` +
	`"Ratio":0.1,"At":"2019-05-01T10:11:12.1230000","Took":"PT0.0123S","Guid":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","Image":"AAEC"}`

func rowOf(t *testing.T, text string) client.Row {
	t.Helper()
	row, err := client.ParseRow([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// loaded opens a file with a copy that has one row.
func loaded(t *testing.T, kind *record.Kind) (*copies, *table, *state) {
	t.Helper()
	db, err := openCopies(filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	st := &state{token: "e-1", fields: fieldsOf(kind), key: kind.Key, omitted: []string{"Left"}}
	load, err := newTable(kind, loadPrefix+"Every_1", st.key, st.omitted)
	if err == nil {
		err = errors.Join(db.create(kind, load), db.insert(load, []client.Row{rowOf(t, everyRow)}), db.replace(kind, load, st, time.Now()))
	}
	if err != nil {
		t.Fatal(err)
	}
	copied, err := newTable(kind, kind.Name, st.key, st.omitted)
	if err != nil {
		t.Fatal(err)
	}
	return db, copied, st
}

func (db *copies) dump(t *testing.T) (rows []string) {
	t.Helper()
	err := db.conn.Query(`SELECT printf('%s|%s|%s', quote(ID), quote(Amount), quote(Price)) || printf('|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s',
		quote(Count), quote(Short), quote(Byte), quote(Long), quote(Flag), quote(Ratio), quote(At), quote(Took), quote(Guid), quote(Image)) FROM Every ORDER BY ID`, func(s *sqlite.Stmt) error {
		rows = append(rows, s.Text(0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestColumnsOfEveryType(t *testing.T) {
	db, _, _ := loaded(t, everyType(t))
	want := `|'1.500'|'12345678901234567890.1200'|-7|3|255|9223372036854775807|1|0.1|'2019-05-01T10:11:12.1230000'|'PT0.0123S'|'3f2504e0-4f89-11d3-9a0c-0305e82c3301'|X'000102'`
	rows := db.dump(t)
	if len(rows) != 1 || !strings.HasSuffix(rows[0], want) {
		t.Errorf("%q, want one row ending in %q", rows, want)
	}
	key := ""
	if err := db.conn.Query("SELECT ID FROM Every", func(s *sqlite.Stmt) error { key = s.Text(0); return nil }); err != nil || key != "a\x00\"b " {
		t.Errorf("the key is %q: %v", key, err)
	}
}

// TestTextsInNumbers: texts that the service cannot read as numbers are copied unchanged, also
// those that SQLite would convert to numbers and those of keys.
func TestTextsInNumbers(t *testing.T) {
	field := func(name string, fieldType record.Type) record.Field {
		return record.Field{
			Name:   name,
			Type:   fieldType,
			Filter: fieldType.Filter(),
			Null:   record.Nullable,
		}
	}
	registry, err := record.NewRegistry(record.Kind{
		Name:   "Mixed",
		Key:    []string{"ID"},
		Fields: []record.Field{field("ID", record.Int), field("Count", record.Int), field("Flag", record.Bool), field("Ratio", record.Double)},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Kinds()[0]
	db, err := openCopies(filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	load, err := newTable(kind, "Mixed", kind.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := []client.Row{rowOf(t, `{"ID":"10A","Count":"010","Flag":"00","Ratio":"1e3"}`), rowOf(t, `{"ID":10,"Count":10,"Flag":true,"Ratio":1000}`)}
	if err := errors.Join(db.create(kind, load), db.insert(load, rows)); err != nil {
		t.Fatal(err)
	}
	var got []string
	err = db.conn.Query(`SELECT printf('%s|%s|%s|%s', quote(ID), quote(Count), quote(Flag), quote(Ratio)) FROM Mixed ORDER BY typeof(ID) DESC`, func(s *sqlite.Stmt) error {
		got = append(got, s.Text(0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"'10A'|'010'|'00'|'1e3'", "10|10|1|1000.0"}; !slices.Equal(got, want) {
		t.Errorf("copied as %q, want %q", got, want)
	}
}

func TestAdvance(t *testing.T) {
	kind := everyType(t)
	db, copied, st := loaded(t, kind)
	change := func(op, key, row string) wire.Change {
		return wire.Change{
			Op:         op,
			KeyFields:  []byte(key),
			Record:     []byte(row),
			CapturedAt: "2026-11-26T10:00:00.1234567Z",
		}
	}
	page := &client.ChangePage{
		Next: "e-4",
		Changes: []wire.Change{
			change(wire.OpUpdated, `{"Amount":1.50000,"ID":"a\u0000\"b "}`, `{"ID":"a\u0000\"b ","Amount":1.50000,"Count":8}`),
			change(wire.OpCreated, `{"Amount":2,"ID":"b"}`, `{"ID":"b","Amount":2}`),
			change(wire.OpCreated, `{"Amount":2,"ID":"B"}`, `{"ID":"B","Amount":2}`),
			change(wire.OpDeleted, `{"Amount":2.0,"ID":"b"}`, ``),
		},
	}
	if err := db.advance(kind, copied, st, page); err != nil {
		t.Fatal(err)
	}
	rows := db.dump(t)
	if len(rows) != 2 || !strings.HasPrefix(rows[0], "'B'|'2'|NULL|NULL|") || !strings.HasSuffix(rows[1], "|'1.50000'|NULL|8|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL") {
		t.Errorf("rows %q", rows)
	}
	stored, err := db.state(kind)
	if err != nil || stored.token != "e-4" || stored.current != "2026-11-26T10:00:00Z" || fmt.Sprint(stored.key, stored.omitted) != "[Amount ID] [Left]" {
		t.Errorf("%+v: %v", stored, err)
	}
}

// A page with an unusable change leaves copy and token as they were, and so does one that
// follows a token which another process has replaced.
func TestAdvanceWritesWholePagesOrNothing(t *testing.T) {
	kind := everyType(t)
	db, copied, st := loaded(t, kind)
	before := db.dump(t)
	good := wire.Change{
		Op:        wire.OpCreated,
		KeyFields: []byte(`{"Amount":2,"ID":"b"}`),
		Record:    []byte(`{"ID":"b","Amount":2}`),
	}
	for _, bad := range []wire.Change{
		{Op: wire.OpCreated, KeyFields: []byte(`{"ID":"c"}`), Record: []byte(`{"ID":"c"}`)},
		{Op: wire.OpUpdated, KeyFields: []byte(`{"Amount":2,"ID":"c"}`), Record: []byte(`{"Count":1.5}`)},
	} {
		page := &client.ChangePage{Next: "e-3", Changes: []wire.Change{good, bad}}
		if err := db.advance(kind, copied, st, page); !errors.Is(err, errFields) {
			t.Errorf("%s: %v", bad.KeyFields, err)
		}
	}
	other := *st
	if err := db.advance(kind, copied, &other, &client.ChangePage{
		Next:   "e-2",
		Looked: "2026-11-26T09:59:00.0000000Z",
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.advance(kind, copied, st, &client.ChangePage{
		Next:    "e-2",
		Changes: []wire.Change{good},
	}); !errors.Is(err, errOtherWriter) {
		t.Errorf("after another process: %v", err)
	}
	if after := db.dump(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %q, want %q", after, before)
	}
}

// The file of another program stays as it is, and so does a table that is not a copy.
func TestOtherDatabasesAreSpared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = other.Exec("CREATE TABLE every (x); INSERT INTO every VALUES (1)")
	other.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openCopies(path); err == nil || !strings.Contains(err.Error(), "other.db: it is a database of another program") {
		t.Errorf("a database of another program: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openCopies(text); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
		t.Errorf("a text: %v", err)
	}
	kind := everyType(t)
	db, err := openCopies(filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.conn.Exec("CREATE TABLE every (x)"); err != nil {
		t.Fatal(err)
	}
	load, err := newTable(kind, loadPrefix+kind.Name+"_A", []string{"ID"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.create(kind, load); err == nil || !strings.Contains(err.Error(), "a table or view Every that is not a copy") {
		t.Errorf("a table of another origin: %v", err)
	}
}

// A load ends when another process loads the kind, or the disk is full. The copy stays.
func TestLoadFails(t *testing.T) {
	kind := everyType(t)
	db, _, _ := loaded(t, kind)
	before := db.dump(t)
	var loads []*table
	for _, name := range []string{"A", "B"} {
		load, err := newTable(kind, loadPrefix+kind.Name+"_"+name, []string{"ID"}, []string{"Left"})
		if err == nil {
			err = db.create(kind, load)
		}
		if err != nil {
			t.Fatal(err)
		}
		loads = append(loads, load)
	}
	row := rowOf(t, `{"ID":"`+strings.Repeat("x", 1<<20)+`"}`)
	if err := db.insert(loads[0], []client.Row{row}); !errors.Is(err, errOtherWriter) {
		t.Errorf("after another load: %v", err)
	}
	if err := db.replace(kind, loads[0], &state{}, time.Now()); !errors.Is(err, errOtherWriter) {
		t.Errorf("after another load: %v", err)
	}
	if err := db.conn.Exec("PRAGMA max_page_count = 50"); err != nil {
		t.Fatal(err)
	}
	if err := db.insert(loads[1], []client.Row{row}); err == nil || !strings.HasSuffix(err.Error(), ": the disk is full") {
		t.Errorf("on a full disk: %v", err)
	}
	if after := db.dump(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows %q, want %q", after, before)
	}
}

// TestLoadsOfSimilarKinds loads two kinds at the same time, one of which has the name of the other
// as a prefix. A repeated load removes only the table of its own kind.
func TestLoadsOfSimilarKinds(t *testing.T) {
	fields := []record.Field{{Name: "ID", Type: record.Int}}
	sale := &record.Kind{Name: "Sale", Key: []string{"ID"}, Fields: fields}
	line := &record.Kind{Name: "Sale_Line", Key: []string{"ID"}, Fields: fields}
	db := newCopies(t)
	createLoad := func(kind *record.Kind, random string) *table {
		load, err := newTable(kind, loadPrefix+kind.Name+"_"+random, kind.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.create(kind, load); err != nil {
			t.Fatal(err)
		}
		return load
	}
	lines := createLoad(line, "A")
	lost := createLoad(sale, "B")
	sales := createLoad(sale, "C")

	rows := []client.Row{rowOf(t, `{"ID":1}`)}
	for _, load := range []*table{lines, sales} {
		if err := db.insert(load, rows); err != nil {
			t.Errorf("insert into %s: %v", load.name, err)
		}
	}
	if err := db.insert(lost, rows); !errors.Is(err, errOtherWriter) {
		t.Errorf("insert into %s, which another load replaced: %v, want %v", lost.name, err, errOtherWriter)
	}
}

// newCopies opens a new file.
func newCopies(t *testing.T) *copies {
	t.Helper()
	db, err := openCopies(filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestDecimalKeys stores rows of a kind with a decimal as the key, and deletes each by another
// text. Decimals are the same key with any scale; texts that are no decimals only if they are
// equal.
func TestDecimalKeys(t *testing.T) {
	for _, c := range []struct {
		stored, deleted string // in JSON
		sameKey         bool
	}{
		{stored: `1.5`, deleted: `1.50`, sameKey: true},
		{stored: `1.500`, deleted: `1.5`, sameKey: true},
		{stored: `-0.50`, deleted: `-0.5`, sameKey: true},
		{stored: `2`, deleted: `2.0`, sameKey: true},
		{stored: `100`, deleted: `100.00`, sameKey: true},
		{stored: `0.0`, deleted: `0.00`, sameKey: true},
		{stored: `"A.0"`, deleted: `"A.0"`, sameKey: true},
		{stored: `100`, deleted: `1`},
		{stored: `"A.0"`, deleted: `"A.00"`},
		{stored: `"1.0A.0"`, deleted: `"1.0A.00"`},
		{stored: `"1.0.0"`, deleted: `"1.0.00"`},
		{stored: `"1-2.0"`, deleted: `"1-2.00"`},
		{stored: `"--1.0"`, deleted: `"--1.00"`},
		{stored: `"01.5"`, deleted: `"01.50"`},
		{stored: `"x."`, deleted: `"x"`},
	} {
		kind := &record.Kind{
			Name:   "Price",
			Key:    []string{"ID"},
			Fields: []record.Field{{Name: "ID", Type: record.Decimal}},
		}
		db := newCopies(t)
		load, err := newTable(kind, loadPrefix+"Price_A", kind.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := rowOf(t, `{"ID":`+c.stored+`}`)
		second := rowOf(t, `{"ID":`+c.deleted+`}`)
		if err := errors.Join(db.create(kind, load), db.insert(load, []client.Row{first, second})); err != nil {
			t.Fatal(err)
		}

		rows := db.countRows(t, load)
		if c.sameKey != (rows == 1) {
			t.Errorf("%s and %s are %d rows; same key: %t", c.stored, c.deleted, rows, c.sameKey)
		}
		change := wire.Change{Op: wire.OpDeleted, KeyFields: []byte(`{"ID":` + c.deleted + `}`)}
		if err := load.apply(db.conn, []wire.Change{change}); err != nil {
			t.Fatal(err)
		}
		if remaining := db.countRows(t, load); remaining != rows-1 {
			t.Errorf("%s and %s: %d of %d rows after the second is deleted", c.stored, c.deleted, remaining, rows)
		}
	}
}

func (db *copies) countRows(t *testing.T, load *table) int64 {
	t.Helper()
	n, _, err := db.conn.QueryInt("SELECT count(*) FROM " + sqlite.Quote(load.name))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
