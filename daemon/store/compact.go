package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Compact rewrites a file of the embedded store, which no other process may use,
// without the room that nothing takes any more. From then on the file shrinks by
// itself. It needs room for a copy of the file, and for the WAL by which the copy
// takes the file's place. It gives the size before and after, 0 without a file.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	if before, err = diskSize(path); err != nil || before == 0 {
		return 0, 0, err
	}
	dir := filepath.Dir(path)
	if free, err := datadir.Free(dir); err != nil || free < 2*before {
		return before, 0, errors.Join(err, fmt.Errorf("compacting %s needs %d MB free, and there are %d: free some room or move the directory to a larger disk",
			path, before>>19+1, free>>20))
	}
	conn, err := sqlite.Open(path, sqlite.Options{BusyTimeout: fileBusy})
	if err != nil {
		return before, 0, err
	}
	defer conn.Watch(ctx)()
	err = conn.Exec(fmt.Sprintf(`PRAGMA temp_store_directory = '%s'; PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`,
		strings.ReplaceAll(dir, "'", "''")))
	if err = errors.Join(err, conn.Close()); err != nil {
		return before, 0, fmt.Errorf("compacting %s: %w", path, err)
	}
	after, err = diskSize(path)
	return before, after, err
}

// diskSize is that of a database with its log.
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
