package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Names that the service has told are kept for completion, which must not wait
// for it. They are names only: an id can be a key.

// namesAge is how long they are good for.
const namesAge = 24 * time.Hour

// cachedFile is the file of one kind of names of a profile.
func (p *program) cachedFile(name, kind string) string {
	dir := p.env("XDG_CACHE_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(dir, "whctl", cmp.Or(name, profile.NoProfile)+"-"+kind+".json")
}

// rememberNames keeps names of a kind, such as events, for completion. That it
// may not succeed is nobody's concern.
func (p *program) rememberNames(s *profile.Settings, kind string, names []string) {
	text, err := json.Marshal(names)
	if path := p.cachedFile(s.Profile, kind); err == nil && path != "" {
		_ = output.ReplaceFile(path, text, output.PrivateFile)
	}
}

// cachedNames are the names of a kind that were kept last, unless that is long ago.
func (c *completion) cachedNames(kind string) []string {
	name := c.env("WHCTL_PROFILE")
	if file, err := profile.Read(c.env); err == nil && name == "" {
		if e := file.Lookup("", "profile"); e != nil {
			name = e.Text
		}
	}
	path := c.cachedFile(name, kind)
	info, err := os.Stat(path)
	if err != nil || c.now().Sub(info.ModTime()) > namesAge {
		return nil
	}
	text, err := os.ReadFile(path)
	var names []string
	if err != nil || json.Unmarshal(text, &names) != nil {
		return nil
	}
	return names
}
