package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
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

// openFiles are the files that the store has open, by path, as they were then.
type openFiles map[string]os.FileInfo

// note remembers files that are open now.
func note(paths ...string) (openFiles, error) {
	files := make(openFiles)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		os.SameFile(info, info) // Windows reads now which file it is
		files[path] = info
	}
	return files, nil
}

// lost reports whether a file is gone or another one has its name. What was
// written to it then is in no file that can be opened again.
func (f openFiles) lost() error {
	for path, then := range f {
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, then) {
			return fault.Because(delivery.ErrFenced, fault.Unavailable, "%s was deleted or replaced while the service had it open", filepath.Base(path))
		}
	}
	return nil
}

// Lost reports whether files of the embedded store were deleted or replaced
// since they were opened.
func (s *Store) Lost() error { return s.own.files.lost() }

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
