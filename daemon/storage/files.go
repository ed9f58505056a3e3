package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	changestore "github.com/bizhook/whd/daemon/changes/sqlstore"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Files returns the files of the service's own data, and the file of demo records, which
// may be missing.
func Files() ([]backup.File, error) {
	db, err := appdb.LatestMigration(appdb.FileMigrations)
	if err != nil {
		return nil, err
	}
	log, err := appdb.LatestMigration(appdb.LogMigrations)
	if err != nil {
		return nil, err
	}
	return []backup.File{
		{Name: RecordsFile},
		{Name: appdb.FileName, MaxSchema: db, Required: true, OnRestore: appdb.EndSessions},
		{Name: appdb.LogFileName, MaxSchema: log},
	}, nil
}

// ShadowFiles returns the names of the files of the shadow. Backups do not have them: capture
// builds the shadow again after a restore.
func ShadowFiles() []string {
	return []string{changestore.FileName, changestore.FileName + "-wal", changestore.FileName + "-shm"}
}

// files returns the required files.
func (c Config) files() (names []string) {
	if c.ERP.DSN == "" {
		names = append(names, RecordsFile)
	}
	if c.DSN == "" {
		names = append(names, appdb.FileName)
	}
	return names
}

// CheckVersions returns an error if a newer program has changed a file of the own data in dir. It
// changes nothing.
func CheckVersions(ctx context.Context, dir string) error {
	err := appdb.CheckVersion(ctx, filepath.Join(dir, appdb.FileName), appdb.FileMigrations)
	if err != nil {
		return err
	}
	return appdb.CheckVersion(ctx, filepath.Join(dir, appdb.LogFileName), appdb.LogMigrations)
}

// lockMigration keeps daemons away until unlock is called, if opening the own file migrates it. It
// returns an error if a daemon uses the file: an earlier build read the version at its start, and would
// go on to write rows of that version.
func (c Config) lockMigration(ctx context.Context) (unlock func(), err error) {
	unlock = func() {}
	if c.DSN != "" || c.Serving {
		return unlock, nil
	}
	isOutdated, err := appdb.IsOutdated(ctx, c.path(appdb.FileName), appdb.FileMigrations)
	if err != nil || !isOutdated {
		return unlock, err
	}
	serving, err := datadir.LockServing(c.Dir, fmt.Sprintf("pid %d, migrating the store", os.Getpid()))
	if err != nil {
		return unlock, fault.Wrap(err, fault.Unavailable, "the store is of an earlier whd, and is not migrated"+
			" while a daemon uses it: restart the daemon with this program first")
	}
	return func() { _ = serving.Release() }, nil
}

// CheckContent reads the required files completely and returns an error if one of them is
// damaged. It takes about as long as copying them; the result is not complete if ctx ends
// first.
func (s *Store) CheckContent(ctx context.Context) (complete bool, err error) {
	for _, name := range s.config.files() {
		err := checkContent(ctx, s.config.path(name))
		if ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkContent returns an error if a file is damaged.
func checkContent(ctx context.Context, path string) error {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true, BusyTimeout: appdb.FileTimeout})
	if err != nil {
		return executor.OpenError(err)
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()

	problem := ""
	err = conn.Query("PRAGMA quick_check(1)", func(stmt *sqlite.Stmt) error {
		problem = stmt.Text(0)
		return nil
	})
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "%s cannot be read", path)
	}
	problem = problem[strings.LastIndexByte(problem, '\n')+1:] // the lines before it are a title
	if problem != "ok" {
		return fault.New(fault.Unavailable, "%s is damaged: %s; restore a backup (whd restore)", path, problem)
	}
	return nil
}

// checkFiles returns an error if the directory has held one of the required files, and it
// is missing or empty.
func (c Config) checkFiles(lock *datadir.Lock) error {
	if c.New {
		return nil
	}
	for _, name := range c.files() {
		info, err := os.Stat(c.path(name))
		isLost := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
		if isLost && lock.HasHeld(name) {
			return fault.New(fault.Unavailable, "%s is missing or empty, but %s has held a store;"+
				" restore the file (whd restore restores a backup),"+
				" or create a new store with whd serve --new-store",
				c.path(name), c.Dir)
		}
	}
	return nil
}

// checkAccess returns an error if this process may not read and write a file of the store, for
// example since a command run by root has created it.
func (c Config) checkAccess() error {
	names := c.files()
	if c.DSN == "" {
		names = append(names, appdb.LogFileName, changestore.FileName)
	}
	for _, name := range names {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			err := datadir.CheckAccess(c.path(name) + suffix)
			if err != nil {
				return fault.Wrap(err, fault.Unavailable, "the store cannot be opened;"+
					" make the service's user the owner of all files in %s", c.Dir)
			}
		}
	}
	return nil
}

// createRecords creates the file of the ERP records, unless it exists or they are on a server.
func (c Config) createRecords() error {
	if c.ERP.DSN != "" {
		return nil
	}
	if err := datadir.Create(c.path(RecordsFile)); err != nil {
		return executor.OpenError(err)
	}
	return nil
}
