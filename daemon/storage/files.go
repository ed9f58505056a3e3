package storage

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/fault"
)

// Files are those of the embedded store, which is made with those that it needs.
func Files() ([]backup.File, error) {
	own, err := appdb.NewestMigration(appdb.FileMigrations)
	if err != nil {
		return nil, err
	}
	log, err := appdb.NewestMigration(appdb.LogMigrations)
	return []backup.File{{Name: recordsFile, Needed: true}, {Name: appdb.FileName, Newest: own, Needed: true}, {Name: appdb.LogFileName, Newest: log}}, err
}

// complete reports what is missing of the store that the directory has held.
func (s *Store) complete() error {
	if s.config.New || !s.lock.HasStore() {
		return nil
	}
	for _, name := range []string{recordsFile, appdb.FileName} {
		info, err := os.Stat(s.path(name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
			return fault.New(fault.Unavailable, "%s is missing or empty, although %s has held a store; bring the file back (whd restore does so from a backup), or make a new store by whd serve --new-store",
				s.path(name), s.config.Dir)
		}
	}
	return nil
}
