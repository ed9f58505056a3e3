package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// File is a database file of the embedded store.
type File struct {
	Name   string
	Newest int64 // version of its tables that this program knows; 0: they have none
	Needed bool  // the store is made with it
}

// Files are those of the embedded store.
func Files() ([]File, error) {
	own, err := newestMigration(fileMigrations)
	if err != nil {
		return nil, err
	}
	log, err := newestMigration(logMigrations)
	return []File{{Name: recordsFile, Needed: true}, {ownFile, own, true}, {Name: logFileName, Newest: log}}, err
}

// openFile is a file that the store has open, as it was found then.
type openFile struct {
	path string
	info fs.FileInfo
}

// note remembers files that are open now.
func note(paths ...string) (all []openFile, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		os.SameFile(info, info) // Windows reads now which file it is
		all = append(all, openFile{path, info})
	}
	return all, nil
}

// lost reports whether a file is gone or another one has its name. What was
// written to it then is in no file that can be opened again.
func lost(files []openFile) error {
	for _, f := range files {
		info, err := os.Stat(f.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.info) {
			return fault.Because(webhook.ErrFenced, fault.Unavailable, "%s was deleted or replaced while the service had it open", filepath.Base(f.path))
		}
	}
	return nil
}

// Lost reports whether files of the embedded store were deleted or replaced
// since they were opened.
func (s *Store) Lost() error { return lost(s.files) }

// complete reports what is missing of the store that the directory has held.
func (s *Store) complete() error {
	if s.config.New || !s.lock.HasStore() {
		return nil
	}
	for _, name := range []string{recordsFile, ownFile} {
		info, err := os.Stat(s.path(name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
			return fault.New(fault.Unavailable, "%s is missing or empty, although %s has held a store; bring the file back (whd restore does so from a backup), or make a new store by whd serve --new-store",
				s.path(name), s.config.Dir)
		}
	}
	return nil
}

// newestMigration is the version of the last migration in a folder.
func newestMigration(folder string) (newest int64, err error) {
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no migrations in %s (%w)", folder, err)
	}
	_, err = fmt.Sscanf(path.Base(files[len(files)-1]), "%d", &newest)
	return newest, err
}
