package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/pelletier/go-toml/v2"
)

// fragmentName is the name of the file with settings that an earlier version stored in
// the database. If it exists, a number is added before the extension.
const fragmentName = "whd-from-database.toml"

const fragmentHead = `# Settings that an earlier version of whd stored in its database. They are no longer
# used: copy those that you need into the settings file.
`

// SaveStored writes settings that an earlier version stored in the database to a new
// file in the directory of the settings file, or in the data directory if there is no
// settings file or its directory is not writable. It returns the file's path.
func (c *Config) SaveStored(all []appdb.StoredSetting) (string, error) {
	text, err := fragment(all)
	if err != nil {
		return "", err
	}
	if c.File != "" {
		if path, err := writeFragment(filepath.Dir(c.File), text); err == nil {
			return path, nil
		}
	}
	return writeFragment(c.DataDir, text)
}

// fragment returns a TOML file with the settings. Those that this version does not
// support are comments.
func fragment(all []appdb.StoredSetting) ([]byte, error) {
	top := make(map[string]any)
	var unknown strings.Builder
	for _, stored := range all {
		s, ok := settingNamed(stored.Name)
		if !ok || s.assign(new(Config), stored.Value) != nil {
			fmt.Fprintf(&unknown, "# not supported by this version: %s = %q\n", stored.Name, stored.Value)
			continue
		}
		table := top
		group := s.group()
		if group != "" {
			if top[group] == nil {
				top[group] = make(map[string]any)
			}
			table = top[group].(map[string]any)
		}
		table[strings.TrimPrefix(s.tomlKey(), group+".")] = stored.Value
	}
	text, err := toml.Marshal(top)
	return []byte(fragmentHead + unknown.String() + "\n" + string(text)), err
}

// writeFragment writes a file under the first free name, unless a file with the same
// text exists.
func writeFragment(dir string, text []byte) (string, error) {
	name, extension, _ := strings.Cut(fragmentName, ".")
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+"."+extension)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.%s", name, n, extension))
		}
		file, err := datadir.CreateNew(path)
		if errors.Is(err, fs.ErrExist) {
			if existing, err := os.ReadFile(path); err == nil && bytes.Equal(existing, text) {
				return path, datadir.Sync(dir)
			}
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(text)
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, datadir.Sync(dir)
	}
}
