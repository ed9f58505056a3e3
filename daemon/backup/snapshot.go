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
	err = conn.Query("PRAGMA integrity_check(1)", func(s *sqlite.Stmt) error {
		if verdict := s.Text(0); verdict != "ok" {
			return errors.New(verdict)
		}
		return nil
	})
	if err != nil {
		return 0, err
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
	_, there, err := conn.QueryInt("SELECT 1 FROM sqlite_schema WHERE name = '" + migrationTable + "'")
	if there {
		n, _, err = conn.QueryInt("SELECT MAX(version_id) FROM " + migrationTable + " WHERE is_applied = 1")
	}
	return n, err
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
