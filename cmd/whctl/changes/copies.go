package changes

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// copies is the SQLite file with the copies: a table for each kind, and _whd_mirror with the
// state of each.
type copies struct {
	path string
	mu   sync.Mutex // a transaction is in progress
	conn *sqlite.Conn
}

// busyTimeout limits the wait for other users of the file.
const busyTimeout = 30 * time.Second

// openCopies opens or creates the file. Views on the copies may exist: legacy_alter_table
// lets a new copy replace the old one below them.
func openCopies(path string) (*copies, error) {
	if err := checkOwner(path); err != nil {
		return nil, fileError(path, err)
	}
	conn, err := sqlite.Open(path, sqlite.Options{
		BusyTimeout: busyTimeout,
		Pragmas:     []string{"legacy_alter_table = ON", "synchronous = NORMAL"},
	})
	if err != nil {
		return nil, fileError(path, err)
	}
	if err := conn.Exec(createState); err != nil {
		conn.Close()
		return nil, fileError(path, err)
	}
	return &copies{path: path, conn: conn}, nil
}

// createState creates the table with the state of the copies.
const createState = `CREATE TABLE IF NOT EXISTS _whd_mirror (kind TEXT PRIMARY KEY, token TEXT NOT NULL, fields TEXT NOT NULL,
	key TEXT NOT NULL, omitted TEXT NOT NULL, loaded_at TEXT NOT NULL, current_at TEXT NOT NULL)`

// fileError returns the error of a file with its path.
func fileError(path string, err error) error {
	return fmt.Errorf("%s: %s", path, cmp.Or(sqlite.Reason(err), err.Error()))
}

// checkOwner returns an error if the file is a database that whctl mirror has not made. It
// does not change it.
func checkOwner(path string) error {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: busyTimeout})
	if err != nil {
		return err
	}
	defer conn.Close()
	foreign, _, err := conn.QueryInt("SELECT count(*) > 0 AND sum(name = '_whd_mirror') = 0 FROM sqlite_schema")
	if err != nil {
		return err
	}
	if foreign == 1 {
		return errors.New("it is a database of another program")
	}
	return nil
}

// Close closes the file.
func (db *copies) Close() error { return db.conn.Close() }

// state is the row of a kind in _whd_mirror.
type state struct {
	token        string
	fields       string // see fieldsOf
	key, omitted []string
	current      string // the copy has all changes until this time, in RFC 3339; empty if unknown
}

// state returns the state of a kind; nil if there is no copy.
func (db *copies) state(kind *record.Kind) (st *state, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	err = db.conn.Query("SELECT token, fields, key, omitted, current_at FROM _whd_mirror WHERE kind = ?", func(s *sqlite.Stmt) error {
		st = &state{
			token:   s.Text(0),
			fields:  s.Text(1),
			key:     split(s.Text(2)),
			omitted: split(s.Text(3)),
			current: s.Text(4),
		}
		return nil
	}, kind.Name)
	return st, err
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// formatVersion is the version of the tables. Increment it when the tables change; older copies
// are loaded again.
const formatVersion = 4

// fieldsOf describes the fields of a kind. A copy with other fields is loaded again.
func fieldsOf(kind *record.Kind) string {
	fields := record.Texts(kind.Fields, func(f record.Field) string { return f.Name + " " + f.Type.String() })
	return fmt.Sprintf("%d: %s", formatVersion, strings.Join(fields, ", "))
}

// table is a copy of a kind.
type table struct {
	name    string
	columns []record.Field
	key     []int // indexes of columns
	put     string
	remove  string
}

// newTable returns the table of a kind without the omitted fields.
func newTable(kind *record.Kind, name string, key, omitted []string) (*table, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("the service has named no key of %s", kind.Name)
	}
	isOmitted := func(f record.Field) bool { return slices.Contains(omitted, f.Name) }
	columns := slices.DeleteFunc(slices.Clone(kind.Fields), isOmitted)

	t := &table{name: name, columns: columns}
	var where []string
	for n, fieldName := range key {
		i := slices.IndexFunc(columns, func(f record.Field) bool { return f.Name == fieldName })
		if i < 0 {
			return nil, fmt.Errorf("the key field %s of %s is not among its fields", fieldName, kind.Name)
		}
		f := columns[i]
		parameter := fmt.Sprintf("?%d", n+1)
		t.key = append(t.key, i)
		where = append(where, keyTerm(f, sqlite.Quote(f.Name))+" = "+keyTerm(f, parameter))
	}
	t.put = "INSERT OR REPLACE INTO " + sqlite.Quote(name) + " VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	t.remove = "DELETE FROM " + sqlite.Quote(name) + " WHERE " + strings.Join(where, " AND ")
	return t, nil
}

// columnType returns the type of a column for values of a type. Columns of numbers have none:
// with one, SQLite would convert a text such as 010, which the service cannot read as a number,
// and it would no longer be the value of the record, nor its key. Decimals are texts, which have
// all digits.
func columnType(t record.Type) string {
	switch t {
	case record.Int, record.Short, record.Byte, record.Long, record.Bool, record.Double:
		return ""
	case record.Bytes:
		return "BLOB"
	}
	return "TEXT"
}

// createStatements returns the statements that create the table. A primary key cannot have
// expressions, so that a key with decimals is a unique index.
func (t *table) createStatements() []string {
	columns := record.Texts(t.columns, func(f record.Field) string {
		return strings.TrimSpace(sqlite.Quote(f.Name) + " " + columnType(f.Type))
	})
	var key []string
	hasDecimal := false
	for _, i := range t.key {
		f := t.columns[i]
		key = append(key, keyTerm(f, sqlite.Quote(f.Name)))
		hasDecimal = hasDecimal || f.Type == record.Decimal
	}

	name := sqlite.Quote(t.name)
	definitions := strings.Join(columns, ", ")
	keyList := "(" + strings.Join(key, ", ") + ")"
	if !hasDecimal {
		return []string{"CREATE TABLE " + name + " (" + definitions + ", PRIMARY KEY " + keyList + ")"}
	}
	return []string{
		"CREATE TABLE " + name + " (" + definitions + ")",
		"CREATE UNIQUE INDEX " + sqlite.Quote(t.name+"_key") + " ON " + name + " " + keyList,
	}
}

// keyTerm returns the SQL expression by which a value of a key is compared: a column or a
// parameter.
func keyTerm(f record.Field, sql string) string {
	if f.Type == record.Decimal {
		return withoutTrailingZeros(sql)
	}
	return sql
}

// withoutTrailingZeros returns the SQL expression of a decimal without the zeros at its end, so
// that 1.5 and 1.50 are the same key after the scale of the column has changed. Texts that are no
// decimals stay as they are: A.0 and A.00 are different keys, and so are 01.5 and 01.50.
func withoutTrailingZeros(sql string) string {
	const stripped = `CASE WHEN ` +
		`%[1]s GLOB '*[0-9].[0-9]*' AND %[1]s NOT GLOB '*.*.*' AND ` + // a point between digits
		`%[1]s GLOB '[-0-9]*' AND %[1]s NOT GLOB '?*[^0-9.]*' AND ` + // a sign only at the start
		`ltrim(%[1]s, '-') NOT GLOB '0[0-9]*' ` + // no zeros at the start
		`THEN rtrim(rtrim(%[1]s, '0'), '.') ELSE %[1]s END`
	return fmt.Sprintf(stripped, sql)
}

// values returns the values of a row for the columns. Those of the key are read from
// another row, which a change has.
func (t *table) values(row, key client.Row) ([]any, error) {
	values := make([]any, len(t.columns))
	for i, f := range t.columns {
		v, err := valueOf(f.Type, row.Value(f.Name))
		if err != nil {
			return nil, unexpectedValue(f)
		}
		values[i] = v
	}
	keyValues, err := t.keyValues(key)
	if err != nil {
		return nil, err
	}
	for n, i := range t.key {
		values[i] = keyValues[n]
	}
	return values, nil
}

// keyValues returns the values of a key, which are not null.
func (t *table) keyValues(key client.Row) ([]any, error) {
	var values []any
	for _, i := range t.key {
		f := t.columns[i]
		v, err := valueOf(f.Type, key.Value(f.Name))
		if err != nil || v == nil {
			return nil, unexpectedValue(f)
		}
		values = append(values, v)
	}
	return values, nil
}

// errFields is the error of a copy with other fields than the records.
var errFields = errors.New("its fields have changed")

func unexpectedValue(f record.Field) error {
	return fmt.Errorf("%w: unexpected value of %s", errFields, f.Name)
}

// valueOf converts a value to that of a column.
func valueOf(t record.Type, v client.Value) (any, error) {
	if v.Null() {
		return nil, nil
	}
	text := v.String()
	if v[0] == '"' && (t.Number() || t == record.Bool) {
		return text, nil // a value that the service cannot read as the type either
	}
	switch t {
	case record.Bool:
		n, err := wire.ParseBool(text)
		return int64(n), err
	case record.Int, record.Short, record.Byte, record.Long:
		return strconv.ParseInt(text, 10, 64)
	case record.Double:
		return strconv.ParseFloat(text, 64)
	case record.Bytes:
		return bytesOf(text), nil
	}
	return text, nil
}

// bytesOf decodes a text in base64. A text that is no base64 was stored as text; keep it.
func bytesOf(text string) any {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return append([]byte{}, b...) // not nil, which would be a null
}

// write runs a transaction.
func (db *copies) write(do func(*sqlite.Conn) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	err := transact(db.conn, do)
	if reason := sqlite.Reason(err); reason != "" {
		return fmt.Errorf("%s: %s", db.path, reason)
	}
	return err
}

func transact(conn *sqlite.Conn, do func(*sqlite.Conn) error) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do(conn)
	if err == nil {
		err = conn.Exec("COMMIT")
	}
	if err != nil && conn.InTransaction() {
		_ = conn.Exec("ROLLBACK") // the first error counts
	}
	return err
}

// writeLoad runs a transaction on a table that is being loaded, which another process removes
// when it loads the same kind.
func (db *copies) writeLoad(t *table, do func(*sqlite.Conn) error) error {
	return db.write(func(conn *sqlite.Conn) error {
		exists, _, err := conn.QueryInt("SELECT count(*) FROM sqlite_schema WHERE name = ?", t.name)
		if err != nil {
			return err
		}
		if exists == 0 {
			return errOtherWriter
		}
		return do(conn)
	})
}

// loadPrefix is the start of the names of tables that are being loaded. The kind and a random
// part without _ follow it.
const loadPrefix = "_whd_load_"

// create creates an empty table for a load and removes those of loads that did not end. It
// fails if the name of the copy is that of another table or view.
func (db *copies) create(kind *record.Kind, t *table) error {
	return db.write(func(conn *sqlite.Conn) error {
		taken, _, err := conn.QueryInt("SELECT count(*) FROM sqlite_schema WHERE lower(name) = lower(?1) AND NOT EXISTS (SELECT 1 FROM _whd_mirror WHERE kind = ?1)",
			kind.Name)
		if err != nil {
			return err
		}
		if taken > 0 {
			return fmt.Errorf("%s has a table or view %s that is not a copy", db.path, kind.Name)
		}

		old, err := unfinishedLoads(conn, kind)
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := conn.Exec("DROP TABLE " + sqlite.Quote(name)); err != nil {
				return err
			}
		}
		for _, statement := range t.createStatements() {
			if err := conn.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// unfinishedLoads returns the names of the tables of a kind that are being loaded. Those of other
// kinds with names that start with that of the kind and _ have another _ after the prefix.
func unfinishedLoads(conn *sqlite.Conn, kind *record.Kind) ([]string, error) {
	const query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?1) = ?2 AND instr(substr(name, ?1 + 1), '_') = 0"
	prefix := loadPrefix + kind.Name + "_"
	var names []string
	err := conn.Query(query, func(s *sqlite.Stmt) error {
		names = append(names, s.Text(0))
		return nil
	}, int64(len(prefix)), prefix)
	return names, err
}

// insert adds rows to a table that is being loaded.
func (db *copies) insert(t *table, rows []client.Row) error {
	return db.writeLoad(t, func(conn *sqlite.Conn) error {
		for _, row := range rows {
			values, err := t.values(row, row)
			if err != nil {
				return err
			}
			if err := conn.Query(t.put, nil, values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// apply applies changes to a table.
func (t *table) apply(conn *sqlite.Conn, changes []wire.Change) error {
	for _, c := range changes {
		if err := t.applyChange(conn, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) applyChange(conn *sqlite.Conn, c wire.Change) error {
	key, err := client.ParseRow(c.KeyFields)
	if err != nil {
		return err
	}
	if c.Op == wire.OpDeleted {
		values, err := t.keyValues(key)
		if err != nil {
			return err
		}
		return conn.Query(t.remove, nil, values...)
	}

	row, err := client.ParseRow(c.Record)
	if err != nil {
		return err
	}
	values, err := t.values(row, key)
	if err != nil {
		return err
	}
	return conn.Query(t.put, nil, values...)
}

// advanceLoad applies the changes of a page to a table that is being loaded.
func (db *copies) advanceLoad(t *table, st *state, page *client.ChangePage) error {
	st.token, st.current = page.Next, currentAt(st, page)
	return db.writeLoad(t, func(conn *sqlite.Conn) error { return t.apply(conn, page.Changes) })
}

// currentAt returns the time until which a copy has all changes with those of a page.
func currentAt(st *state, page *client.ChangePage) string {
	lookedAt := page.Looked
	if n := len(page.Changes); n > 0 { // there may be more
		lookedAt = page.Changes[n-1].CapturedAt
	}
	if lookedAt == "" {
		return st.current
	}
	return max(st.current, fmt.Sprintf("%.19sZ", lookedAt))
}

// errOtherWriter is the error of a copy that another process keeps, too.
var errOtherWriter = errors.New("another process keeps the same copy")

// advance applies the changes of a page, and stores its token, in one transaction.
func (db *copies) advance(kind *record.Kind, t *table, st *state, page *client.ChangePage) error {
	current := currentAt(st, page)
	err := db.write(func(conn *sqlite.Conn) error {
		if err := t.apply(conn, page.Changes); err != nil {
			return err
		}
		const update = "UPDATE _whd_mirror SET token = ?, current_at = ? WHERE kind = ? AND token = ?"
		if err := conn.Query(update, nil, page.Next, current, kind.Name, st.token); err != nil {
			return err
		}
		if conn.Changes() == 0 {
			return errOtherWriter
		}
		return nil
	})
	if err != nil {
		return err
	}
	st.token, st.current = page.Next, current
	return nil
}

// replace replaces the copy of a kind by a table that has been loaded.
func (db *copies) replace(kind *record.Kind, loaded *table, st *state, now time.Time) error {
	return db.writeLoad(loaded, func(conn *sqlite.Conn) error {
		name := sqlite.Quote(kind.Name)
		replace := "DROP TABLE IF EXISTS " + name + "; ALTER TABLE " + sqlite.Quote(loaded.name) + " RENAME TO " + name
		if err := conn.Exec(replace); err != nil {
			return err
		}
		const insert = "INSERT OR REPLACE INTO _whd_mirror VALUES (?, ?, ?, ?, ?, ?, ?)"
		return conn.Query(insert, nil, kind.Name, st.token, st.fields, strings.Join(st.key, ","),
			strings.Join(st.omitted, ","), now.UTC().Format(time.RFC3339), st.current)
	})
}
