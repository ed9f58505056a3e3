package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk writes small files so that they survive a power failure.
type Disk struct {
	Synced func(path string) // called after a file or directory was synced; nil for none
}

// Write writes a file that only the daemon's user can read, in place of an existing one.
// When it returns, the content and the name of the file are on disk.
func (d Disk) Write(path string, content []byte) error {
	// An existing file could have wider permissions.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := CreateNew(path)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	d.report(path)
	return d.sync(filepath.Dir(path))
}

// Rename renames a file within its directory. When it returns, the new name is on disk.
func (d Disk) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return d.sync(filepath.Dir(to))
}

func (d Disk) sync(dir string) error {
	if err := Sync(dir); err != nil {
		return err
	}
	d.report(dir)
	return nil
}

func (d Disk) report(path string) {
	if d.Synced != nil {
		d.Synced(path)
	}
}
