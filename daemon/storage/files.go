package storage

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/fault"
)

// Files returns the files of the embedded store.
func Files() ([]backup.File, error) {
	db, err := appdb.LatestMigration(appdb.FileMigrations)
	if err != nil {
		return nil, err
	}
	log, err := appdb.LatestMigration(appdb.LogMigrations)
	return []backup.File{{Name: recordsFile, Required: true}, {Name: appdb.FileName, MaxSchema: db, Required: true}, {Name: appdb.LogFileName, MaxSchema: log}}, err
}

// checkFiles returns an error if the directory has held a store and one of its
// required files is missing or empty.
func (s *Store) checkFiles() error {
	if s.config.New || !s.lock.HasStore() {
		return nil
	}
	for _, name := range []string{recordsFile, appdb.FileName} {
		info, err := os.Stat(s.path(name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
			return fault.New(fault.Unavailable, "%s is missing or empty, but %s has held a store; restore the file (whd restore restores a backup), or create a new store with whd serve --new-store",
				s.path(name), s.config.Dir)
		}
	}
	return nil
}
