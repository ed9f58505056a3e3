package store

import (
	"fmt"
	"io/fs"
	"path"
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

// newestMigration is the version of the last migration in a folder.
func newestMigration(folder string) (newest int64, err error) {
	files, err := fs.Glob(schema, folder+"/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no migrations in %s (%w)", folder, err)
	}
	_, err = fmt.Sscanf(path.Base(files[len(files)-1]), "%d", &newest)
	return newest, err
}
