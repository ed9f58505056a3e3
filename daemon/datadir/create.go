package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The functions of this file are the only way to create files and directories in the data
// directory. Those created by root belong to the owner of their directory, so that a command run by
// root does not lock the daemon out.

// Make creates the data directory itself and its parents, unless it exists. It belongs to this
// process.
func Make(dir string) error { return os.MkdirAll(dir, 0o700) }

// Mkdir creates a directory in the data directory.
func Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return matchDirectory(path)
}

// matchDirectory changes the owner of a new directory. Unlike Chown, Lchown does not follow a link
// that has taken its place.
func matchDirectory(path string) error {
	return matchOwner(filepath.Dir(path), func(uid, gid int) error { return os.Lchown(path, uid, gid) })
}

// MkdirTemp creates a directory with a new name in the data directory; pattern has the form of
// os.MkdirTemp.
func MkdirTemp(dir, pattern string) (string, error) {
	path, err := os.MkdirTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	if err := matchDirectory(path); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// CreateNew creates a file for reading and writing, which must not exist.
func CreateNew(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return matchFile(file)
}

// CreateTemp creates a file with a new name; pattern has the form of os.CreateTemp.
func CreateTemp(dir, pattern string) (*os.File, error) {
	file, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return matchFile(file)
}

// matchFile changes the owner of a new file. If that fails, it removes the file.
func matchFile(file *os.File) (*os.File, error) {
	if err := matchOwner(filepath.Dir(file.Name()), file.Chown); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}

// Create creates an empty file, unless it exists. SQLite creates the files -wal and -shm with
// the owner of the database.
func Create(path string) error {
	file, err := CreateNew(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
