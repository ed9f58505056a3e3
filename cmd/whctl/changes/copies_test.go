package changes

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// newKind returns a kind with nullable fields.
func newKind(t *testing.T, kind record.Kind, fields ...record.Field) *record.Kind {
	t.Helper()
	kind.Fields = fields
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()[0]
}

func nullable(name string, fieldType record.Type) record.Field {
	return record.Field{
		Name:   name,
		Type:   fieldType,
		Filter: fieldType.Filter(),
		Null:   record.Nullable,
	}
}

// everyType returns a kind with a field of each type, and a key of two fields in another
// order than that of the fields.
func everyType(t *testing.T) *record.Kind {
	t.Helper()
	return newKind(t, record.Kind{Name: "Every", Area: "Test", Key: []string{"Amount", "ID"}},
		nullable("ID", record.Text),
		nullable("Amount", record.Decimal),
		nullable("Price", record.Decimal),
		nullable("Count", record.Int),
		nullable("Short", record.Short),
		nullable("Byte", record.Byte),
		nullable("Long", record.Long),
		nullable("Flag", record.Bool),
		nullable("Ratio", record.Double),
		nullable("At", record.DateTime),
		nullable("Took", record.TimeSpan),
		nullable("Guid", record.Guid),
		nullable("Image", record.Bytes),
		nullable("Left", record.Text))
}

// everyRow is a row of everyType without Left, and storedRow its copy without the ID.
const (
	everyRow = `{"ID":"a\u0000\"b ","Amount":1.500,"Price":12345678901234567890.1200,` +
		`"Count":-7,"Short":3,"Byte":255,"Long":9223372036854775807,"Flag":true,"Ratio":0.1,` +
		`"At":"2019-05-01T10:11:12.1230000","Took":"PT0.0123S",` +
		`"Guid":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","Image":"AAEC"}`
	storedRow = `|'1.500'|'12345678901234567890.1200'|-7|3|255|9223372036854775807|1|0.1|` +
		`'2019-05-01T10:11:12.1230000'|'PT0.0123S'|` +
		`'3f2504e0-4f89-11d3-9a0c-0305e82c3301'|X'000102'`
)

func rowOf(t *testing.T, text string) client.Row {
	t.Helper()
	row, err := client.ParseRow([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return row
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

// newLoad creates a table that is being loaded, with a random part of its name.
func newLoad(t *testing.T, db *copies, kind *record.Kind, random string, omitted ...string) *table {
	t.Helper()
	load, err := newTable(kind, loadPrefix+kind.Name+"_"+random, kind.Key, omitted)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.create(kind, load); err != nil {
		t.Fatal(err)
	}
	return load
}

// loaded opens a file with a copy of everyType that has one row.
func loaded(t *testing.T, kind *record.Kind) (*copies, *table, *state) {
	t.Helper()
	db := newCopies(t)
	st := &state{token: "e-1", fields: fieldsOf(kind), key: kind.Key, omitted: []string{"Left"}}
	load := newLoad(t, db, kind, "1", st.omitted...)
	if err := db.insert(load, []client.Row{rowOf(t, everyRow)}); err != nil {
		t.Fatal(err)
	}
	if err := db.replace(kind, load, st, time.Now()); err != nil {
		t.Fatal(err)
	}
	copied, err := newTable(kind, kind.Name, st.key, st.omitted)
	if err != nil {
		t.Fatal(err)
	}
	return db, copied, st
}

// query returns the first column of a query.
func (db *copies) query(t *testing.T, sql string) []string {
	t.Helper()
	var values []string
	err := db.conn.Query(sql, func(s *sqlite.Stmt) error {
		values = append(values, s.Text(0))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return values
}

// dump returns the rows of the copy of everyType.
func (db *copies) dump(t *testing.T) []string {
	t.Helper()
	return db.query(t, `SELECT concat_ws('|', quote(ID), quote(Amount), quote(Price), quote(Count),
		quote(Short), quote(Byte), quote(Long), quote(Flag), quote(Ratio), quote(At), quote(Took),
		quote(Guid), quote(Image)) FROM Every ORDER BY ID`)
}

func TestColumnsOfEveryType(t *testing.T) {
	db, _, _ := loaded(t, everyType(t))
	rows := db.dump(t)
	if len(rows) != 1 || !strings.HasSuffix(rows[0], storedRow) {
		t.Errorf("got the rows %q, want one that ends with %q", rows, storedRow)
	}
	ids := db.query(t, "SELECT ID FROM Every")
	if want := []string{"a\x00\"b "}; !slices.Equal(ids, want) {
		t.Errorf("got the IDs %q, want %q", ids, want)
	}
}

// TestTextsInNumbers checks that texts which the service cannot read as numbers are copied
// unchanged, also those that SQLite would convert to numbers and those of keys.
func TestTextsInNumbers(t *testing.T) {
	kind := newKind(t, record.Kind{Name: "Mixed", Key: []string{"ID"}},
		nullable("ID", record.Int),
		nullable("Count", record.Int),
		nullable("Flag", record.Bool),
		nullable("Ratio", record.Double))
	db := newCopies(t)
	load, err := newTable(kind, "Mixed", kind.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.create(kind, load); err != nil {
		t.Fatal(err)
	}
	rows := []client.Row{
		rowOf(t, `{"ID":"10A","Count":"010","Flag":"00","Ratio":"1e3"}`),
		rowOf(t, `{"ID":10,"Count":10,"Flag":true,"Ratio":1000}`),
	}
	if err := db.insert(load, rows); err != nil {
		t.Fatal(err)
	}

	got := db.query(t, `SELECT concat_ws('|', quote(ID), quote(Count), quote(Flag), quote(Ratio))
		FROM Mixed ORDER BY typeof(ID) DESC`)
	if want := []string{"'10A'|'010'|'00'|'1e3'", "10|10|1|1000.0"}; !slices.Equal(got, want) {
		t.Errorf("got the rows %q, want %q", got, want)
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
	page := &client.ChangePage{Next: "e-4", Changes: []wire.Change{
		change(wire.OpUpdated, `{"Amount":1.50000,"ID":"a\u0000\"b "}`,
			`{"ID":"a\u0000\"b ","Amount":1.50000,"Count":8}`),
		change(wire.OpCreated, `{"Amount":2,"ID":"b"}`, `{"ID":"b","Amount":2}`),
		change(wire.OpCreated, `{"Amount":2,"ID":"B"}`, `{"ID":"B","Amount":2}`),
		change(wire.OpDeleted, `{"Amount":2.0,"ID":"b"}`, ``),
	}}
	if err := db.advance(kind, copied, st, page); err != nil {
		t.Fatal(err)
	}

	rows := db.dump(t)
	if len(rows) != 2 {
		t.Fatalf("got the rows %q, want 2", rows)
	}
	created := "'B'|'2'|NULL|NULL|"
	if !strings.HasPrefix(rows[0], created) {
		t.Errorf("got the first row %q, want one that starts with %q", rows[0], created)
	}
	updated := "|'1.50000'|NULL|8" + strings.Repeat("|NULL", 9)
	if !strings.HasSuffix(rows[1], updated) {
		t.Errorf("got the second row %q, want one that ends with %q", rows[1], updated)
	}

	got, err := db.state(kind)
	if err != nil {
		t.Fatal(err)
	}
	want := &state{
		token:   "e-4",
		fields:  fieldsOf(kind),
		key:     []string{"Amount", "ID"},
		omitted: []string{"Left"},
		current: "2026-11-26T10:00:00Z",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got the state %+v, want %+v", got, want)
	}
}

// TestAdvanceWritesWholePagesOrNothing checks that a page with an unusable change leaves copy and
// token as they were, and so does one that follows a token which another process has replaced.
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
		{
			Op:        wire.OpCreated,
			KeyFields: []byte(`{"ID":"c"}`), // without Amount
			Record:    []byte(`{"ID":"c"}`),
		},
		{
			Op:        wire.OpUpdated,
			KeyFields: []byte(`{"Amount":2,"ID":"c"}`),
			Record:    []byte(`{"Count":1.5}`), // no int
		},
	} {
		page := &client.ChangePage{Next: "e-3", Changes: []wire.Change{good, bad}}
		if err := db.advance(kind, copied, st, page); !errors.Is(err, errValue) {
			t.Errorf("advance with the change %s: got error %v, want %v", bad.KeyFields, err, errValue)
		}
	}

	stateOfOther := *st
	page := &client.ChangePage{Next: "e-2", Looked: "2026-11-26T09:59:00.0000000Z"}
	if err := db.advance(kind, copied, &stateOfOther, page); err != nil {
		t.Fatal(err)
	}
	page = &client.ChangePage{Next: "e-2", Changes: []wire.Change{good}}
	if err := db.advance(kind, copied, st, page); !errors.Is(err, errOtherWriter) {
		t.Errorf("advance after another process: got error %v, want %v", err, errOtherWriter)
	}
	if after := db.dump(t); !slices.Equal(after, before) {
		t.Errorf("got the rows %q, want %q", after, before)
	}
}

// TestOtherDatabasesAreSpared checks that the file of another program stays as it is, and so does a
// table that is not a copy.
func TestOtherDatabasesAreSpared(t *testing.T) {
	t.Run("database of another program", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "other.db")
		conn, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Exec("CREATE TABLE every (x); INSERT INTO every VALUES (1)")
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		_, err = openCopies(path)
		wantError(t, err, "other.db: it is a database of another program")
	})
	t.Run("text", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openCopies(path)
		wantError(t, err, "the file is damaged")
	})
	t.Run("table of a user", func(t *testing.T) {
		db := newCopies(t)
		if err := db.conn.Exec("CREATE TABLE every (x)"); err != nil {
			t.Fatal(err)
		}
		kind := everyType(t)
		load, err := newTable(kind, loadPrefix+kind.Name+"_A", kind.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, db.create(kind, load), "a table or view Every that is not a copy")
	})
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

// TestLoadFails checks that a load ends when another process loads the kind, or the disk is full.
// The copy stays.
func TestLoadFails(t *testing.T) {
	kind := everyType(t)
	kind.Key = []string{"ID"}
	db, _, _ := loaded(t, kind)
	before := db.dump(t)
	replaced := newLoad(t, db, kind, "A", "Left")
	load := newLoad(t, db, kind, "B", "Left")

	rows := []client.Row{rowOf(t, `{"ID":"`+strings.Repeat("x", 1<<20)+`"}`)}
	if err := db.insert(replaced, rows); !errors.Is(err, errOtherWriter) {
		t.Errorf("insert after another load: got error %v, want %v", err, errOtherWriter)
	}
	if err := db.replace(kind, replaced, &state{}, time.Now()); !errors.Is(err, errOtherWriter) {
		t.Errorf("replace after another load: got error %v, want %v", err, errOtherWriter)
	}

	if err := db.conn.Exec("PRAGMA max_page_count = 50"); err != nil {
		t.Fatal(err)
	}
	err := db.insert(load, rows)
	if want := ": the disk is full"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("insert on a full disk: got error %v, want one that ends with %q", err, want)
	}
	if after := db.dump(t); !slices.Equal(after, before) {
		t.Errorf("got the rows %q, want %q", after, before)
	}
}

// TestLoadsOfSimilarKinds loads two kinds at the same time, one of which has the name of the other
// as a prefix. A repeated load removes only the table of its own kind.
func TestLoadsOfSimilarKinds(t *testing.T) {
	fields := []record.Field{{Name: "ID", Type: record.Int}}
	sale := &record.Kind{Name: "Sale", Key: []string{"ID"}, Fields: fields}
	line := &record.Kind{Name: "Sale_Line", Key: []string{"ID"}, Fields: fields}
	db := newCopies(t)
	lines := newLoad(t, db, line, "A")
	lost := newLoad(t, db, sale, "B")
	sales := newLoad(t, db, sale, "C")

	rows := []client.Row{rowOf(t, `{"ID":1}`)}
	for _, load := range []*table{lines, sales} {
		if err := db.insert(load, rows); err != nil {
			t.Errorf("insert into %s: got error %v, want none", load.name, err)
		}
	}
	if err := db.insert(lost, rows); !errors.Is(err, errOtherWriter) {
		t.Errorf("insert into %s, which another load replaced: got error %v, want %v",
			lost.name, err, errOtherWriter)
	}
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
		load := newLoad(t, db, kind, "A")
		first := rowOf(t, `{"ID":`+c.stored+`}`)
		second := rowOf(t, `{"ID":`+c.deleted+`}`)
		if err := db.insert(load, []client.Row{first, second}); err != nil {
			t.Fatal(err)
		}

		want := int64(2)
		if c.sameKey {
			want = 1
		}
		if rows := db.countRows(t, load); rows != want {
			t.Errorf("after %s and %s are inserted: got %d rows, want %d",
				c.stored, c.deleted, rows, want)
		}
		change := wire.Change{Op: wire.OpDeleted, KeyFields: []byte(`{"ID":` + c.deleted + `}`)}
		if err := load.apply(db.conn, []wire.Change{change}); err != nil {
			t.Fatal(err)
		}
		if rows := db.countRows(t, load); rows != want-1 {
			t.Errorf("after %s and %s are inserted and the second is deleted: got %d rows, want %d",
				c.stored, c.deleted, rows, want-1)
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
