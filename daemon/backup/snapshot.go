package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
)

// busy is how long a statement waits for the locks of the daemon at work.
const busy = 30 * time.Second

// snapshot copies a database as it is at one moment, while others go on writing
// to it, and looks whether the copy is sound.
func snapshot(ctx context.Context, from, to string) (Member, error) {
	m := Member{Name: filepath.Base(from)}
	if err := copyDatabase(ctx, from, to); err != nil {
		return m, fmt.Errorf("copying %s: %w", from, err)
	}
	schema, err := examine(ctx, to, false)
	if err != nil {
		return m, fmt.Errorf("the copy of %s is not sound: %w", from, err)
	}
	m.Schema = schema
	m.Size, m.SHA256, err = digest(ctx, to)
	return m, err
}

func copyDatabase(ctx context.Context, from, to string) error {
	conn, err := sqlite.Open(from, sqlite.Options{ReadOnly: true, BusyTimeout: busy})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.Watch(ctx)()
	return conn.Exec("VACUUM INTO '" + strings.ReplaceAll(to, "'", "''") + "'")
}

// examine looks whether a database that nobody works with is sound, and gives
// the version of its tables. Where text was put in order by other rules than
// this program's, the indexes are made anew before.
func examine(ctx context.Context, path string, reorder bool) (schema int64, err error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: !reorder})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	defer conn.Watch(ctx)()
	if reorder {
		if err := conn.Exec("REINDEX"); err != nil {
			return 0, err
		}
	}
	if verdict, err := one(conn, "PRAGMA integrity_check(1)"); err != nil || verdict != "ok" {
		return 0, errors.Join(err, errors.New(verdict))
	}
	return version(conn)
}

// migrationTable is where the versions of a file's tables stand.
const migrationTable = "WH_Migration"

// Version is that of the tables in a database file of the store, which it only
// reads; 0 where there are none.
func Version(ctx context.Context, path string) (n int64, err error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: busy})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer conn.Watch(ctx)()
	return version(conn)
}

func version(conn *sqlite.Conn) (n int64, err error) {
	there, err := one(conn, "SELECT COUNT(*) FROM sqlite_schema WHERE name = '"+migrationTable+"'")
	if err != nil || there == "0" {
		return 0, err
	}
	text, err := one(conn, "SELECT COALESCE(MAX(version_id), 0) FROM "+migrationTable+" WHERE is_applied = 1")
	if err == nil {
		_, err = fmt.Sscan(text, &n)
	}
	return n, err
}

// one is the first value of a statement's first row.
func one(conn *sqlite.Conn, statement string) (string, error) {
	stmt, err := conn.Prepare(statement)
	if err != nil {
		return "", err
	}
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return "", err
	}
	return stmt.Text(0), nil
}

func digest(ctx context.Context, path string) (size int64, sum string, err error) {
	hash := sha256.New()
	size, err = copyFile(ctx, hash, path)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// copyFile copies the file at path until its end or that of ctx.
func copyFile(ctx context.Context, to io.Writer, path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return copyInto(ctx, to, file)
}

// reader ends with its context.
type reader struct {
	ctx  context.Context
	from io.Reader
}

// Read is io.Reader's.
func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}
