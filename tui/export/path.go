package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// FullPath is a path from its root on, as far as that is known.
func FullPath(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		return all
	}
	return path
}

// FormatOf is the format of a name, else the first.
func FormatOf(name string) Format {
	for _, one := range Formats {
		if one.Name == name {
			return one
		}
	}
	return Formats[0]
}

// CheckTarget refuses what cannot become a file. One that is there already is
// replaced where the user says so once more.
func CheckTarget(path, replaces string) error {
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
	case path != replaces:
		return errors.New("it is there already: the same once more replaces it")
	}
	return nil
}

// FreeName is a path that nothing has yet.
func FreeName(dir, name, end string) string {
	path := filepath.Join(dir, name+end)
	for i := 2; i < 100; i++ {
		if _, err := os.Lstat(path); err != nil {
			break
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, i, end))
	}
	return path
}
