package complete

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Names that the service has given are kept for completion, which must not wait
// for it. They are names only: an id can be a key.

// namesAge is how long they are good for.
const namesAge = 24 * time.Hour

// cachedFile is the file of one kind of names of a profile.
func cachedFile(env func(string) string, name, kind string) string {
	dir := env("XDG_CACHE_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(dir, "whctl", cmp.Or(name, profile.NoProfile)+"-"+kind+".json")
}

// RememberNames keeps names of a kind, such as events, for completion. It is
// no error that they cannot be kept.
func RememberNames(env func(string) string, profileName, kind string, names []string) {
	text, err := json.Marshal(names)
	if path := cachedFile(env, profileName, kind); err == nil && path != "" {
		_ = output.ReplaceFile(path, text, output.PrivateFile)
	}
}

// cachedNames are the names of a kind that were kept last, unless that is long ago.
func (c *line) cachedNames(kind string) []string {
	name := c.Env("WHCTL_PROFILE")
	if file, err := profile.Read(c.Env); err == nil && name == "" {
		if e := file.Lookup("", "profile"); e != nil {
			name = e.Text
		}
	}
	path := cachedFile(c.Env, name, kind)
	info, err := os.Stat(path)
	if err != nil || c.Now().Sub(info.ModTime()) > namesAge {
		return nil
	}
	text, err := os.ReadFile(path)
	var names []string
	if err != nil || json.Unmarshal(text, &names) != nil {
		return nil
	}
	return names
}
