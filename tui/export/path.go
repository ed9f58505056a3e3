package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// AbsPath returns the absolute path, or path if it cannot be determined.
func AbsPath(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		return all
	}
	return path
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

// CheckPath returns an error if path cannot be written. An existing file is an error
// unless path equals confirmed, the path of the last rejected attempt.
func CheckPath(path, confirmed string) error {
	if path == "" {
		return errors.New("enter a path")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("directory does not exist: %s", filepath.Dir(path))
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case path != confirmed:
		return errors.New("file exists: submit again to replace it")
	}
	return nil
}

// UnusedPath returns a path in dir that does not exist yet.
func UnusedPath(dir, name, suffix string) string {
	path := filepath.Join(dir, name+suffix)
	for i := 2; i < 100; i++ {
		if _, err := os.Lstat(path); err != nil {
			break
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, i, suffix))
	}
	return path
}
