package main

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

// logins are the stored logins, one for each profile, in a file beside the
// configuration. The file says where each one's secret is, and holds it only
// where --insecure-storage has allowed that.
type logins struct {
	path string
	all  map[string]*login // by profile
}

// login is one of them.
type login struct {
	profile string
	URL     string `toml:"url"`
	User    string `toml:"user"`
	Store   string `toml:"store"` // where its secret is

	Session  string `toml:"session,omitempty"`
	Password string `toml:"password,omitempty"`
}

// The places for secrets.
const (
	inKeyring = "keyring"
	inFile    = "file"
)

// noProfile is the name of the login that belongs to no profile.
const noProfile = "default"

func (v Vault) readLogins() (*logins, error) {
	config := configPath(v.Env)
	l := &logins{all: make(map[string]*login)}
	if config == "" {
		return l, nil
	}
	l.path = filepath.Join(filepath.Dir(config), "logins.toml")
	text, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := toml.Unmarshal(text, &l.all); err != nil {
		return nil, fmt.Errorf("%s is damaged; whctl login makes it anew once it is deleted", l.path)
	}
	for name, one := range l.all {
		one.profile = name
	}
	return l, nil
}

// of is the login of the profile in force, nil where there is none, or one for
// another service or user.
func (l *logins) of(s *settings) *login {
	one := l.all[cmp.Or(s.profile, noProfile)]
	if one == nil || one.URL != trimmedURL(s.text("url")) {
		return nil
	}
	if user := s.text("user"); user != "" && !strings.EqualFold(user, one.User) {
		return nil
	}
	return one
}

// trimmedURL is an address in the spelling of the client.
func trimmedURL(address string) string { return strings.TrimRight(address, "/") }

func (l *logins) save() error {
	if l.path == "" {
		return errNoPlace
	}
	text, err := toml.Marshal(l.all)
	if err != nil {
		return err
	}
	return output.ReplaceFile(l.path, text, output.PrivateFile)
}

// account is the name of the login in the keyring.
func (l *login) account() string { return l.profile + " " + l.User + "@" + l.URL }

// place says where the login's secret is.
func (l *login) place(path string) string {
	if l.Store == inKeyring {
		return "keyring"
	}
	return "file " + path
}

// secretOf fetches a login's secret from where it is.
func (v Vault) secretOf(ctx context.Context, l *login) (secret, error) {
	if l.Store == inKeyring {
		return v.keyringGet(ctx, l.account())
	}
	return secret{Session: l.Session, Password: l.Password}, nil
}

// store puts a login and its secret where the login says.
func (v Vault) store(ctx context.Context, l *login, s secret) error {
	logins, err := v.readLogins()
	if err != nil {
		return err
	}
	kept := *l
	kept.Session, kept.Password = "", ""
	if l.Store == inKeyring {
		if err := v.keyringSet(ctx, l.account(), s); err != nil {
			return err
		}
	} else {
		kept.Session, kept.Password = s.Session, s.Password
	}
	logins.all[l.profile] = &kept
	return logins.save()
}

// forget deletes a login and its secret. Where the keyring fails, the login is
// gone all the same, and nothing looks for the secret again.
func (v Vault) forget(ctx context.Context, l *login) error {
	logins, err := v.readLogins()
	if err != nil {
		return err
	}
	delete(logins.all, l.profile)
	err = logins.save()
	if l.Store == inKeyring {
		err = errors.Join(err, v.keyringDelete(ctx, l.account()))
	}
	return err
}
