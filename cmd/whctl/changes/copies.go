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
		return nil, fmt.Errorf("%s: %s", path, cmp.Or(sqlite.Reason(err), err.Error()))
	}
	conn, err := sqlite.Open(path, sqlite.Options{BusyTimeout: busyTimeout, Pragmas: []string{"legacy_alter_table = ON", "synchronous = NORMAL"}})
	if err == nil {
		err = conn.Exec(`CREATE TABLE IF NOT EXISTS _whd_mirror (kind TEXT PRIMARY KEY, token TEXT NOT NULL, fields TEXT NOT NULL,
			key TEXT NOT NULL, omitted TEXT NOT NULL, loaded_at TEXT NOT NULL, current_at TEXT NOT NULL)`)
		if err != nil {
			conn.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, cmp.Or(sqlite.Reason(err), err.Error()))
	}
	return &copies{path: path, conn: conn}, nil
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
	if err == nil && foreign == 1 {
		err = errors.New("it is a database of another program")
	}
	return err
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
		st = &state{token: s.Text(0), fields: s.Text(1), key: split(s.Text(2)), omitted: split(s.Text(3)), current: s.Text(4)}
		return nil
	}, kind.Name)
	return st, err
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// copyForm is the form of the tables. Those of earlier versions have decimals in keys without
// their scale, or types of columns for numbers, and are loaded again.
const copyForm = "3: "

// fieldsOf describes the fields of a kind. A copy with other fields is loaded again.
func fieldsOf(kind *record.Kind) string {
	return copyForm + strings.Join(record.Texts(kind.Fields, func(f record.Field) string { return f.Name + " " + f.Type.String() }), ", ")
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
	t := &table{name: name, columns: slices.DeleteFunc(slices.Clone(kind.Fields), func(f record.Field) bool { return slices.Contains(omitted, f.Name) })}
	var where []string
	for _, k := range key {
		i := slices.IndexFunc(t.columns, func(f record.Field) bool { return f.Name == k })
		if i < 0 {
			return nil, fmt.Errorf("the key field %s of %s is not among its fields", k, kind.Name)
		}
		t.key, where = append(t.key, i), append(where, keyTerm(t.columns[i])+" = ?")
	}
	if t.key == nil {
		return nil, fmt.Errorf("the service has named no key of %s", kind.Name)
	}
	t.put = "INSERT OR REPLACE INTO " + sqlite.Quote(name) + " VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	t.remove = "DELETE FROM " + sqlite.Quote(name) + " WHERE " + strings.Join(where, " AND ")
	return t, nil
}

// columnTypes has the types of values in SQLite. All others, such as decimals, are texts as
// in JSON, which have all digits.
var columnTypes = map[record.Type]string{record.Int: "INTEGER", record.Short: "INTEGER", record.Byte: "INTEGER", record.Long: "INTEGER", record.Bool: "INTEGER", record.Double: "REAL", record.Bytes: "BLOB"}

// definition returns the statement that creates the table.
// Columns of numbers have no type, so that SQLite converts no text: one that the service cannot
// read as a number, such as 010, stays a text, also in a key.
// Decimals of a key have their scale, but are found without it: a unique index has their digits
// without the zeros at the end.
func (t *table) definition() string {
	columns := record.Texts(t.columns, func(f record.Field) string {
		switch columnTypes[f.Type] {
		case "":
			return sqlite.Quote(f.Name) + " TEXT"
		case "BLOB":
			return sqlite.Quote(f.Name) + " BLOB"
		}
		return sqlite.Quote(f.Name)
	})
	key := strings.Join(record.Texts(t.key, func(i int) string { return keyTerm(t.columns[i]) }), ", ")
	create := "CREATE TABLE " + sqlite.Quote(t.name) + " (" + strings.Join(columns, ", ")
	isDecimal := func(i int) bool { return t.columns[i].Type == record.Decimal }
	if slices.ContainsFunc(t.key, isDecimal) {
		return create + "); CREATE UNIQUE INDEX " + sqlite.Quote(t.name+"_key") + " ON " + sqlite.Quote(t.name) + " (" + key + ")"
	}
	return create + ", PRIMARY KEY (" + key + "))"
}

// keyTerm returns the expression by which a field of the key is found.
func keyTerm(f record.Field) string {
	name := sqlite.Quote(f.Name)
	if f.Type != record.Decimal {
		return name
	}
	return "CASE WHEN instr(" + name + ", '.') THEN rtrim(rtrim(" + name + ", '0'), '.') ELSE " + name + " END"
}

// plainDecimal returns a decimal as keyTerm does.
func plainDecimal(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// values returns the values of a row for the columns. Those of the key are read from
// another row, which a change has.
func (t *table) values(from, key client.Row) ([]any, error) {
	all := make([]any, len(t.columns))
	for i, f := range t.columns {
		source, ofKey := from, slices.Contains(t.key, i)
		if ofKey {
			source = key
		}
		v, err := valueOf(f.Type, source.Value(f.Name))
		if err != nil || ofKey && v == nil {
			return nil, fmt.Errorf("%w: unexpected value of %s", errFields, f.Name)
		}
		all[i] = v
	}
	return all, nil
}

// errFields is the error of a copy with other fields than the records.
var errFields = errors.New("its fields have changed")

// valueOf converts a value to that of a column.
func valueOf(t record.Type, v client.Value) (any, error) {
	if v.Null() {
		return nil, nil
	}
	text := v.String()
	if v[0] == '"' && (t.Number() || t == record.Bool) {
		return text, nil // a value that the service cannot read as the type either
	}
	switch columnTypes[t] {
	case "INTEGER":
		if t == record.Bool {
			n, err := wire.ParseBool(text)
			return int64(n), err
		}
		return strconv.ParseInt(text, 10, 64)
	case "REAL":
		return strconv.ParseFloat(text, 64)
	case "BLOB":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return text, nil
		}
		return append([]byte{}, b...), nil
	}
	return text, nil
}

// write runs a transaction.
func (db *copies) write(do func(*sqlite.Conn) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	err := db.conn.Exec("BEGIN IMMEDIATE")
	if err == nil {
		if err = do(db.conn); err == nil {
			err = db.conn.Exec("COMMIT")
		}
		if err != nil && db.conn.InTransaction() {
			_ = db.conn.Exec("ROLLBACK") // the first error counts
		}
	}
	if reason := sqlite.Reason(err); reason != "" {
		return fmt.Errorf("%s: %s", db.path, reason)
	}
	return err
}

// writeLoad runs a transaction on a table that is being loaded, which another process removes
// when it loads the same kind.
func (db *copies) writeLoad(t *table, do func(*sqlite.Conn) error) error {
	return db.write(func(conn *sqlite.Conn) error {
		exists, _, err := conn.QueryInt("SELECT count(*) FROM sqlite_schema WHERE name = ?", t.name)
		if err == nil && exists == 0 {
			err = errOtherWriter
		}
		if err != nil {
			return err
		}
		return do(conn)
	})
}

// loadPrefix is the start of the names of tables that are being loaded. The rest is the kind
// and a random part.
const loadPrefix = "_whd_load_"

// create creates an empty table for a load and removes those of loads that did not end. It
// fails if the name of the copy is that of another table or view.
func (db *copies) create(kind *record.Kind, t *table) error {
	return db.write(func(conn *sqlite.Conn) error {
		taken, _, err := conn.QueryInt("SELECT count(*) FROM sqlite_schema WHERE lower(name) = lower(?1) AND NOT EXISTS (SELECT 1 FROM _whd_mirror WHERE kind = ?1)", kind.Name)
		if err == nil && taken > 0 {
			err = fmt.Errorf("%s has a table or view %s that is not a copy", db.path, kind.Name)
		}
		if err != nil {
			return err
		}
		var old []string
		prefix := loadPrefix + kind.Name + "_"
		err = conn.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?", func(s *sqlite.Stmt) error {
			old = append(old, s.Text(0))
			return nil
		}, int64(len(prefix)), prefix)
		for _, name := range old {
			err = errors.Join(err, conn.Exec("DROP TABLE "+sqlite.Quote(name)))
		}
		return errors.Join(err, conn.Exec(t.definition()))
	})
}

// insert adds rows to a table that is being loaded.
func (db *copies) insert(t *table, rows []client.Row) error {
	return db.writeLoad(t, func(conn *sqlite.Conn) error {
		for _, row := range rows {
			values, err := t.values(row, row)
			if err == nil {
				err = conn.Query(t.put, nil, values...)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// apply applies changes to a table.
func (t *table) apply(conn *sqlite.Conn, list []wire.Change) error {
	for _, c := range list {
		key, err := client.ParseRow(c.KeyFields)
		if err != nil {
			return err
		}
		statement, from := t.put, key
		if c.Op == wire.OpDeleted {
			statement = t.remove
		} else if from, err = client.ParseRow(c.Record); err != nil {
			return err
		}
		values, err := t.values(from, key)
		if err != nil {
			return err
		}
		if c.Op == wire.OpDeleted {
			var ofKey []any
			for _, i := range t.key {
				if text, isText := values[i].(string); isText && t.columns[i].Type == record.Decimal {
					values[i] = plainDecimal(text)
				}
				ofKey = append(ofKey, values[i])
			}
			values = ofKey
		}
		if err := conn.Query(statement, nil, values...); err != nil {
			return err
		}
	}
	return nil
}

// advanceLoad applies the changes of a page to a table that is being loaded.
func (db *copies) advanceLoad(t *table, st *state, page *client.ChangePage) error {
	st.token, st.current = page.Next, currentAt(st, page)
	return db.writeLoad(t, func(conn *sqlite.Conn) error { return t.apply(conn, page.Changes) })
}

// currentAt returns the time until which a copy has all changes with those of a page.
func currentAt(st *state, page *client.ChangePage) string {
	at := page.Looked
	if n := len(page.Changes); n > 0 { // there may be more
		at = page.Changes[n-1].CapturedAt
	}
	if at == "" {
		return st.current
	}
	return max(st.current, fmt.Sprintf("%.19sZ", at))
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
		err := conn.Query("UPDATE _whd_mirror SET token = ?, current_at = ? WHERE kind = ? AND token = ?", nil, page.Next, current, kind.Name, st.token)
		if err == nil && conn.Changes() == 0 {
			err = errOtherWriter
		}
		return err
	})
	if err == nil {
		st.token, st.current = page.Next, current
	}
	return err
}

// replace replaces the copy of a kind by a table that has been loaded.
func (db *copies) replace(kind *record.Kind, loaded *table, st *state, now time.Time) error {
	return db.writeLoad(loaded, func(conn *sqlite.Conn) error {
		name := sqlite.Quote(kind.Name)
		if err := conn.Exec("DROP TABLE IF EXISTS " + name + "; ALTER TABLE " + sqlite.Quote(loaded.name) + " RENAME TO " + name); err != nil {
			return err
		}
		return conn.Query("INSERT OR REPLACE INTO _whd_mirror VALUES (?, ?, ?, ?, ?, ?, ?)", nil,
			kind.Name, st.token, st.fields, strings.Join(st.key, ","), strings.Join(st.omitted, ","), now.UTC().Format(time.RFC3339), st.current)
	})
}
