package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// AbsPath returns the absolute path, or path if it cannot be determined.
func AbsPath(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return absolute
}

// FormatNamed returns the format with a name, the default if there is none.
func FormatNamed(name string) Format {
	for _, format := range Formats {
		if format.Name == name {
			return format
		}
	}
	return Formats[0]
}

// ErrFileExists is the error of CheckPath for a file that is replaced if that is confirmed.
var ErrFileExists = errors.New("file exists: submit again to replace it")

// CheckPath returns an error if path cannot be written. An existing file is an error
// unless path equals confirmed, the path of the last rejected attempt.
func CheckPath(path, confirmed string) error {
	if path == "" {
		return errors.New("enter a path")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("directory does not exist: %s", filepath.Dir(path))
	}
	if part := path + PartSuffix; exists(part) {
		return partExistsError(part)
	}
	info, err := os.Stat(path)
	isMissing := err != nil && !exists(path) // not a broken link
	if isMissing {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if path != confirmed {
		return ErrFileExists
	}
	return nil
}

// partExistsError returns the error for a file of which a partial file exists.
func partExistsError(part string) error {
	return fmt.Errorf("%s exists, of another export: choose another name, or delete it if none is running",
		filepath.Base(part))
}

// exists reports whether there is a file, or a link that may lead nowhere.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// UnusedPath returns the path of a file in dir that does not exist yet, nor its partial file.
func UnusedPath(dir, name, suffix string) string {
	path := filepath.Join(dir, name+suffix)
	for i := 2; exists(path) || exists(path+PartSuffix); i++ {
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, i, suffix))
	}
	return path
}

// WriteNew writes a file that does not exist yet.
func WriteNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
