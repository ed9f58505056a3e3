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

// fragmentName is the file of settings that an earlier version kept in the
// database. Where there is another one, a number comes before the extension.
const fragmentName = "whd-from-database.toml"

const fragmentHead = `# Settings that an earlier version of whd kept in its database. They are no longer
# in force: move those that you want into the settings file.
`

// KeepStored writes settings that an earlier version kept in the database to a
// file beside the settings file, or in the data directory where there is none or
// its directory cannot be written to. It returns the name of the file.
func (c *Config) KeepStored(all []appdb.StoredSetting) (string, error) {
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

// fragment is a TOML file of the settings. Those that this version does not take
// are comments.
func fragment(all []appdb.StoredSetting) ([]byte, error) {
	top := make(map[string]any)
	var unknown strings.Builder
	for _, one := range all {
		s, known := settingNamed(one.Name)
		if !known || s.put(new(Config), one.Value) != nil {
			fmt.Fprintf(&unknown, "# not taken by this version: %s = %q\n", one.Name, one.Value)
			continue
		}
		group, into := s.group(), top
		if group != "" {
			if top[group] == nil {
				top[group] = make(map[string]any)
			}
			into = top[group].(map[string]any)
		}
		into[strings.TrimPrefix(s.tomlKey(), group+".")] = one.Value
	}
	text, err := toml.Marshal(top)
	return []byte(fragmentHead + unknown.String() + "\n" + string(text)), err
}

// writeFragment writes a file under the first free name. One that has the same
// text already is as good as written.
func writeFragment(dir string, text []byte) (string, error) {
	name, extension, _ := strings.Cut(fragmentName, ".")
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+"."+extension)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.%s", name, n, extension))
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, text) {
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
