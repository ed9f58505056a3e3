package output

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of files that are ours alone.
const (
	PrivateFile fs.FileMode = 0o600
	privateDir  fs.FileMode = 0o700
)

// createPart opens a new file beside the one that it will take the place of,
// under a name that cannot be foreseen.
func createPart(path string, mode fs.FileMode) (*os.File, error) {
	dir, name := filepath.Split(path)
	return os.OpenFile(filepath.Join(dir, "."+name+"."+rand.Text()+".part"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// keepPart gives a complete part its name, once it is on the disk.
func keepPart(part *os.File, path string) error {
	err := part.Sync()
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name()) // the first error counts
	}
	return err
}

// dropPart takes away what was not completed.
func dropPart(part *os.File) {
	_ = part.Close() // there is an error already, and it counts
	_ = os.Remove(part.Name())
}

// ReplaceFile writes a small file in place of the old one, through a link if
// there is one, and makes the directory that it belongs to. Devices and pipes
// stay what they are, and are written to.
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
		return err
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
