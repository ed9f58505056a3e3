package profile

import (
	"cmp"
	"os"
	"runtime"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/bizhook/whd/cmd/whctl/output"
)

// Logins holds the stored logins, one per profile. They are in a file next to the
// configuration; the secrets are in the keyring, or in the file with
// --insecure-storage.
type Logins struct {
	Path string
	All  map[string]*Login // keyed by profile
}

// Exposed reports whether the file has secrets that other users of the machine can read.
func (l *Logins) Exposed() bool {
	info, err := os.Stat(l.Path)
	return l.HasSecrets() && err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// HasSecrets reports whether the file has secrets, which are not in the keyring.
func (l *Logins) HasSecrets() bool {
	for _, login := range l.All {
		if login.Store == InFile {
			return true
		}
	}
	return false
}

// Login is the stored login of a profile.
type Login struct {
	Profile string `toml:"-"` // key of the login in the file
	URL     string `toml:"url"`
	User    string `toml:"user"`
	Store   string `toml:"store"` // location of the secret: InKeyring or InFile

	Session  string `toml:"session,omitempty"`
	Password string `toml:"password,omitempty"`
}

// Locations of secrets.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

// NoProfile is the name of the login that does not belong to a profile.
const NoProfile = "default"

// Of returns the login of the current profile; nil if there is none, or if it is for
// another service or user.
func (l *Logins) Of(s *Settings) *Login {
	login := l.All[cmp.Or(s.Profile, NoProfile)]
	if login == nil || login.URL != trimmedURL(s.Text("url")) {
		return nil
	}
	if user := s.Text("user"); user != "" && !strings.EqualFold(user, login.User) {
		return nil
	}
	return login
}

// trimmedURL returns an address without trailing slashes, as the client spells it.
func trimmedURL(address string) string { return strings.TrimRight(address, "/") }

func (l *Logins) save() error {
	if l.Path == "" {
		return ErrNoConfigDir
	}
	text, err := toml.Marshal(l.All)
	if err != nil {
		return err
	}
	return output.ReplaceFile(l.Path, text, output.PrivateFile)
}

// account returns the name of the login in the keyring.
func (l *Login) account() string { return l.Profile + " " + l.User + "@" + l.URL }

// hasEntryOf reports whether the secrets of both logins are in the same entry of the keyring. Windows
// ignores the letter case of its name.
func (l *Login) hasEntryOf(other *Login) bool {
	if l.Store != InKeyring || other.Store != InKeyring {
		return false
	}
	if runtime.GOOS == "windows" {
		return strings.EqualFold(l.account(), other.account())
	}
	return l.account() == other.account()
}

// Place describes the location of the login's secret.
func (l *Login) Place(path string) string {
	if l.Store == InKeyring {
		return "keyring"
	}
	return "file " + path
}
