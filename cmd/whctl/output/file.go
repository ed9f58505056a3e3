package output

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Modes of files and directories that only the user can access.
const (
	PrivateFile fs.FileMode = 0o600
	privateDir  fs.FileMode = 0o700
)

// createPart creates a temporary file with an unpredictable name, in the directory
// of the file that it will replace.
func createPart(path string, mode fs.FileMode) (*os.File, error) {
	dir, name := filepath.Split(path)
	part, err := os.OpenFile(filepath.Join(dir, "."+name+"."+rand.Text()+partSuffix),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return part, named(err, path)
}

const partSuffix = ".part"

// named returns an error of a temporary file with the path of the file that it should have
// replaced.
func named(err error, path string) error {
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	if part, ok := errors.AsType[*fs.PathError](err); ok && strings.HasSuffix(part.Path, partSuffix) {
		part.Path = path
	}
	return err
}

// partWriter writes to a temporary file of a path.
type partWriter struct {
	part *os.File
	path string
}

func (w partWriter) Write(text []byte) (int, error) {
	n, err := w.part.Write(text)
	return n, named(err, w.path)
}

// keepPart syncs a complete temporary file and renames it. If it fails, it removes the file.
func keepPart(part *os.File, path string) error {
	err := renamePart(part, path)
	if err != nil {
		_ = os.Remove(part.Name()) // the first error counts
	}
	return named(err, path)
}

// renamePart syncs, closes and renames a temporary file.
func renamePart(part *os.File, path string) error {
	if err := cmp.Or(part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

// dropPart removes an incomplete temporary file.
func dropPart(part *os.File) {
	_ = part.Close() // the caller already has an error
	_ = os.Remove(part.Name())
}

// ReplaceFile atomically replaces a small file, or the target of a symbolic link. It
// creates the directory if needed. Devices and pipes are written to directly.
func ReplaceFile(path string, text []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInPlace(path, text)
	}
	if err := os.MkdirAll(filepath.Dir(path), privateDir); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, nil
	}
	if err != nil {
		return err
	}
	part, err := createPart(target, mode)
	if err != nil {
		return err
	}
	if _, err := part.Write(text); err != nil {
		dropPart(part)
		return named(err, target)
	}
	return keepPart(part, target)
}

func writeInPlace(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
