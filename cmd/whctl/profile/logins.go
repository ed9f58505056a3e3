package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// ReadLogins reads the stored logins. A file that does not exist has none.
func (v Vault) ReadLogins() (*Logins, error) {
	config := Path(v.Env)
	l := &Logins{All: make(map[string]*Login)}
	if config == "" {
		return l, nil
	}
	l.Path = filepath.Join(filepath.Dir(config), "logins.toml")
	text, err := os.ReadFile(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := toml.Unmarshal(text, &l.All); err != nil {
		return nil, fmt.Errorf("%s is damaged; whctl login makes it anew once it is deleted", l.Path)
	}
	for name, one := range l.All {
		one.Profile = name
	}
	return l, nil
}

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

// SecretOf fetches a login's secret from where it is.
func (v Vault) SecretOf(ctx context.Context, l *Login) (Secret, error) {
	if l.Store == InKeyring {
		return v.keyringGet(ctx, l.account())
	}
	return Secret{Session: l.Session, Password: l.Password}, nil
}

// Store puts a login and its secret where the login says.
func (v Vault) Store(ctx context.Context, l *Login, s Secret) error {
	logins, err := v.ReadLogins()
	if err != nil {
		return err
	}
	kept := *l
	kept.Session, kept.Password = "", ""
	if l.Store == InKeyring {
		if err := v.keyringSet(ctx, l.account(), s); err != nil {
			return err
		}
	} else {
		kept.Session, kept.Password = s.Session, s.Password
	}
	logins.All[l.Profile] = &kept
	return logins.save()
}

// Forget deletes a login and its secret. Where the keyring fails, the login is
// gone all the same, and nothing looks for the secret again.
func (v Vault) Forget(ctx context.Context, l *Login) error {
	logins, err := v.ReadLogins()
	if err != nil {
		return err
	}
	delete(logins.All, l.Profile)
	err = logins.save()
	if l.Store == InKeyring {
		err = errors.Join(err, v.keyringDelete(ctx, l.account()))
	}
	return err
}
