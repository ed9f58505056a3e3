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

// busyTimeout is how long a statement waits for locks of a running daemon.
const busyTimeout = 30 * time.Second

// snapshot copies a database consistently while daemons write to it, and checks the
// integrity of the copy.
func snapshot(ctx context.Context, from, to string) (Member, error) {
	m := Member{Name: filepath.Base(from)}
	if err := copyDatabase(ctx, from, to); err != nil {
		return m, fmt.Errorf("copying %s: %w", from, err)
	}
	schema, err := checkIntegrity(ctx, to, false)
	if err != nil {
		return m, fmt.Errorf("the copy of %s failed the integrity check: %w", from, err)
	}
	m.Schema = schema
	m.Size, m.SHA256, err = digest(ctx, to)
	return m, err
}

// copyDatabase copies a database file into a new one, without free pages.
func copyDatabase(ctx context.Context, from, to string) error {
	conn, err := sqlite.Open(from, sqlite.Options{ReadOnly: true, BusyTimeout: busyTimeout})
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()
	return conn.Exec("VACUUM INTO '" + strings.ReplaceAll(to, "'", "''") + "'")
}

// checkIntegrity checks a database file that no process uses, and returns the
// schema version of its tables. With reindex it rebuilds the indexes first, which
// is needed if another version of the Unicode tables ordered the text.
func checkIntegrity(ctx context.Context, path string, reindex bool) (schema int64, err error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: !reindex})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	defer conn.InterruptOn(ctx)()
	if reindex {
		if err := conn.Exec("REINDEX"); err != nil {
			return 0, err
		}
	}
	err = conn.Query("PRAGMA integrity_check(1)", func(s *sqlite.Stmt) error {
		if result := s.Text(0); result != "ok" {
			return errors.New(result)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return version(conn)
}

// migrationTable holds the schema versions of a file.
const migrationTable = "WH_Migration"

// Version returns the schema version of a database file of the store, which it
// opens read-only; 0 if the file has no versioned tables.
func Version(ctx context.Context, path string) (n int64, err error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: busyTimeout})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()
	return version(conn)
}

func version(conn *sqlite.Conn) (n int64, err error) {
	_, hasVersion, err := conn.QueryInt(
		"SELECT 1 FROM sqlite_schema WHERE name = '" + migrationTable + "'")
	if err != nil || !hasVersion {
		return 0, err
	}
	n, _, err = conn.QueryInt(
		"SELECT MAX(version_id) FROM " + migrationTable + " WHERE is_applied = 1")
	return n, err
}

// digest returns the size and the SHA-256 sum of a file.
func digest(ctx context.Context, path string) (size int64, sum string, err error) {
	hash := sha256.New()
	size, err = copyFile(ctx, hash, path)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// copyFile copies the file at path until its end or until ctx is done.
func copyFile(ctx context.Context, to io.Writer, path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return copyInto(ctx, to, file)
}

// contextReader fails once its context is done.
type contextReader struct {
	ctx  context.Context
	from io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}
