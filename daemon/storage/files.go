package storage

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/backup"
	changestore "github.com/bizhook/whd/daemon/changes/sqlstore"
	"github.com/bizhook/whd/daemon/fault"
)

// Files returns the files of the service's own data, and the file of demo records, which
// may be missing.
func Files() ([]backup.File, error) {
	db, err := appdb.LatestMigration(appdb.FileMigrations)
	if err != nil {
		return nil, err
	}
	log, err := appdb.LatestMigration(appdb.LogMigrations)
	return []backup.File{{Name: RecordsFile}, {Name: appdb.FileName, MaxSchema: db, Required: true}, {Name: appdb.LogFileName, MaxSchema: log}}, err
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

// checkFiles returns an error if the directory has held one of the required files, and it
// is missing or empty.
func (s *Store) checkFiles() error {
	if s.config.New {
		return nil
	}
	for _, name := range s.config.files() {
		info, err := os.Stat(s.path(name))
		if s.lock.HasHeld(name) && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0) {
			return fault.New(fault.Unavailable, "%s is missing or empty, but %s has held a store; restore the file (whd restore restores a backup), or create a new store with whd serve --new-store",
				s.path(name), s.config.Dir)
		}
	}
	return nil
}
