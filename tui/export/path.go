package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// AbsPath is a path from its root on, as far as that is known.
func AbsPath(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		return all
	}
	return path
}

// FormatNamed is the format of a name, else the first.
func FormatNamed(name string) Format {
	for _, one := range Formats {
		if one.Name == name {
			return one
		}
	}
	return Formats[0]
}

// CheckPath refuses what cannot become a file. One that is there already is
// replaced where the user says so once more.
func CheckPath(path, confirmed string) error {
	if path == "" {
		return errors.New("where to?")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s", filepath.Dir(path))
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", path)
	case path != confirmed:
		return errors.New("it is there already: the same once more replaces it")
	}
	return nil
}

// UnusedPath is a path that nothing has yet.
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
