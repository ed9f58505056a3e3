package changes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// copies is the SQLite file with the copies: a table for each kind, and _whd_mirror with the
// state of each.
type copies struct {
	path string
	mu   sync.Mutex // guards conn, on which only one transaction at a time is possible
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
const createState = `CREATE TABLE IF NOT EXISTS _whd_mirror (
	kind TEXT PRIMARY KEY,
	token TEXT NOT NULL,
	fields TEXT NOT NULL,
	key TEXT NOT NULL,
	omitted TEXT NOT NULL,
	loaded_at TEXT NOT NULL,
	current_at TEXT NOT NULL)`

// fileError returns the error of a file with its path.
func fileError(path string, err error) error {
	return fmt.Errorf("%s: %s", path, cmp.Or(sqlite.Reason(err), err.Error()))
}

// checkOwner returns an error if the file is a database that whctl mirror has not made. It
// does not change it.
func checkOwner(path string) error {
	info, err := os.Stat(path)
	isEmpty := err == nil && info.Size() == 0
	if isEmpty || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: busyTimeout})
	if err != nil {
		return err
	}
	defer conn.Close()
	const query = "SELECT count(*) > 0 AND sum(name = '_whd_mirror') = 0 FROM sqlite_schema"
	isForeign, _, err := conn.QueryInt(query)
	if err != nil {
		return err
	}
	if isForeign == 1 {
		return errors.New("it is a database of another program")
	}
	return nil
}

// Close closes the file.
func (db *copies) Close() error { return db.conn.Close() }

// state is the row of a kind in _whd_mirror.
type state struct {
	token   string
	fields  string   // see fieldsOf
	key     []string // names of the fields that identify a row
	omitted []string // names of the fields that are not captured
	current string   // the copy has all changes until this time, in RFC 3339; empty if unknown
}

// state returns the state of a kind; nil if there is no copy.
func (db *copies) state(kind *record.Kind) (st *state, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	const query = "SELECT token, fields, key, omitted, current_at FROM _whd_mirror WHERE kind = ?"
	err = db.conn.Query(query, func(s *sqlite.Stmt) error {
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
	fields := record.Texts(kind.Fields, func(f record.Field) string {
		return f.Name + " " + f.Type.String()
	})
	return fmt.Sprintf("%d: %s", formatVersion, strings.Join(fields, ", "))
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

// transact runs do between BEGIN and COMMIT, or ROLLBACK if it fails.
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
		const query = "SELECT count(*) FROM sqlite_schema WHERE lower(name) = lower(?1) " +
			"AND NOT EXISTS (SELECT 1 FROM _whd_mirror WHERE kind = ?1)"
		taken, _, err := conn.QueryInt(query, kind.Name)
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
	const query = "SELECT name FROM sqlite_schema WHERE type = 'table' " +
		"AND substr(name, 1, ?1) = ?2 AND instr(substr(name, ?1 + 1), '_') = 0"
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

// advanceLoad applies the changes of a page to a table that is being loaded.
func (db *copies) advanceLoad(t *table, st *state, page *client.ChangePage) error {
	st.current = currentAt(st, page)
	st.token = page.Next
	return db.writeLoad(t, func(conn *sqlite.Conn) error { return t.apply(conn, page.Changes) })
}

// currentAt returns the time until which a copy has all changes with those of a page.
func currentAt(st *state, page *client.ChangePage) string {
	lookedAt := page.Looked
	if n := len(page.Changes); n > 0 { // there may be further changes
		lookedAt = page.Changes[n-1].CapturedAt
	}
	if lookedAt == "" {
		return st.current
	}
	toSeconds := fmt.Sprintf("%.19sZ", lookedAt) // without the fraction
	return max(st.current, toSeconds)
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
	st.token = page.Next
	st.current = current
	return nil
}

// replace replaces the copy of a kind by a table that has been loaded.
func (db *copies) replace(kind *record.Kind, loaded *table, st *state, now time.Time) error {
	return db.writeLoad(loaded, func(conn *sqlite.Conn) error {
		name := sqlite.Quote(kind.Name)
		if err := conn.Exec("DROP TABLE IF EXISTS " + name); err != nil {
			return err
		}
		rename := "ALTER TABLE " + sqlite.Quote(loaded.name) + " RENAME TO " + name
		if err := conn.Exec(rename); err != nil {
			return err
		}
		const insert = "INSERT OR REPLACE INTO _whd_mirror VALUES (?, ?, ?, ?, ?, ?, ?)"
		return conn.Query(insert, nil, kind.Name, st.token, st.fields, strings.Join(st.key, ","),
			strings.Join(st.omitted, ","), now.UTC().Format(time.RFC3339), st.current)
	})
}
