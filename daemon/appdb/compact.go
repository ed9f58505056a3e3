package appdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Compact rewrites a file of the embedded store without its free pages, and enables
// auto_vacuum, so that the file can shrink from then on. No other process may use
// the file. It needs free disk space for a copy of the file and for the WAL through
// which the copy replaces the file. It returns the sizes in bytes before and after,
// 0 if there is no file.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	before, err = diskSize(path)
	if err != nil || before == 0 {
		return 0, 0, err
	}
	dir := filepath.Dir(path)
	if err := checkSpace(dir, path, 2*before); err != nil {
		return before, 0, err
	}
	if err := vacuum(ctx, dir, path); err != nil {
		return before, 0, err
	}
	after, err = diskSize(path)
	return before, after, err
}

// checkSpace returns an error if a directory has less free disk space, in bytes, than the
// compaction of a file needs.
func checkSpace(dir, path string, needed int64) error {
	free, err := datadir.FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("compacting %s: reading the free disk space of %s: %w", path, dir, err)
	}
	if free >= needed {
		return nil
	}
	return fmt.Errorf("compacting %s needs %d MiB of free disk space, but only %d MiB are free: "+
		"free some space or move the directory to a larger disk",
		path, needed/mebibyte+1, free/mebibyte)
}

const mebibyte = 1 << 20

// vacuum rewrites a file, with temporary files in a directory.
func vacuum(ctx context.Context, dir, path string) error {
	conn, err := sqlite.Open(path, sqlite.Options{BusyTimeout: FileTimeout})
	if err != nil {
		return err
	}
	defer conn.InterruptOn(ctx)()
	quotedDir := "'" + strings.ReplaceAll(dir, "'", "''") + "'"
	err = conn.Exec(`PRAGMA temp_store_directory = ` + quotedDir + `;
		PRAGMA auto_vacuum = INCREMENTAL;
		VACUUM;
		PRAGMA wal_checkpoint(TRUNCATE)`)
	if err := errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("compacting %s: %w", path, err)
	}
	return nil
}

// diskSize returns the size of a database file and its WAL, in bytes.
func diskSize(path string) (size int64, err error) {
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return size, nil
}

// Size is the size of a database file.
type Size struct {
	Pages     int64
	FreePages int64
	PageSize  int64 // in bytes
}

// SizeOf returns the size of the connection's file.
func SizeOf(conn *sqlite.Conn) (s Size, err error) {
	const statement = `SELECT p.page_count, f.freelist_count, s.page_size
FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`
	err = conn.Query(statement, func(row *sqlite.Stmt) error {
		s = Size{Pages: row.Int(0), FreePages: row.Int(1), PageSize: row.Int(2)}
		return nil
	})
	return s, err
}

// Shrink returns free pages to the file system, at most maxPages, in a transaction
// of its own. It reports whether the file became smaller.
func Shrink(conn *sqlite.Conn, before Size, maxPages int64) (shrunk bool, err error) {
	if maxPages <= 0 {
		return false, nil
	}
	if err := conn.Exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", maxPages)); err != nil {
		return false, err
	}
	after, err := SizeOf(conn)
	return after.Pages < before.Pages, err
}

// FileTimeout is how long a statement waits for other processes that write to the
// file.
const FileTimeout = 5 * time.Second

// MaxFreeShare is the part of a file (1/8) that may stay free for later writes.
const MaxFreeShare = 8
