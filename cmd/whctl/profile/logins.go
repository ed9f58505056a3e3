package profile

import (
	"cmp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/bizhook/whd/cmd/whctl/output"
)

// Logins are the stored Logins, one for each profile, in a file beside the
// configuration. The file says where each one's secret is, and holds it only
// where --insecure-storage has allowed that.
type Logins struct {
	Path string
	All  map[string]*Login // by profile
}

// Login is one of them.
type Login struct {
	Profile string
	URL     string `toml:"url"`
	User    string `toml:"user"`
	Store   string `toml:"store"` // where its secret is

	Session  string `toml:"session,omitempty"`
	Password string `toml:"password,omitempty"`
}

// The places for secrets.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

// NoProfile is the name of the login that belongs to no profile.
const NoProfile = "default"

// Of is the login Of the profile in force, nil where there is none, or one for
// another service or user.
func (l *Logins) Of(s *Settings) *Login {
	one := l.All[cmp.Or(s.Profile, NoProfile)]
	if one == nil || one.URL != trimmedURL(s.Text("url")) {
		return nil
	}
	if user := s.Text("user"); user != "" && !strings.EqualFold(user, one.User) {
		return nil
	}
	return one
}

// trimmedURL is an address in the spelling of the client.
func trimmedURL(address string) string { return strings.TrimRight(address, "/") }

func (l *Logins) save() error {
	if l.Path == "" {
		return ErrNoPlace
	}
	text, err := toml.Marshal(l.All)
	if err != nil {
		return err
	}
	return output.ReplaceFile(l.Path, text, output.PrivateFile)
}

// account is the name of the login in the keyring.
func (l *Login) account() string { return l.Profile + " " + l.User + "@" + l.URL }

// Place says where the login's secret is.
func (l *Login) Place(path string) string {
	if l.Store == InKeyring {
		return "keyring"
	}
	return "file " + path
}
