package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/zalando/go-keyring"
)

// KeyringPatience is how long the keyring of the system gets: it may wait for
// a user to unlock it, where there is none.
const KeyringPatience = 3 * time.Second

// KeyringService is the name under which the keyring has our secrets.
const KeyringService = "whctl"

// Vault keeps logins: in the keyring of the system, or in a file beside the
// configuration.
type Vault struct {
	Env      func(string) string
	Patience time.Duration // with the keyring
}

// Secret is what a login is worth, kept apart from what it is of.
type Secret struct {
	Session  string
	Password string `json:",omitempty"` // with --remember
}

// askKeyring runs one call of the keyring, which cannot be interrupted. One that is
// left behind ends with the process.
func (v Vault) askKeyring(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := call()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, KeyringError(a.err)
	case <-time.After(v.Patience):
		return "", fmt.Errorf("the keyring did not answer within %s", v.Patience)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// KeyringError says in a line why the keyring does not do its work here.
func KeyringError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return errors.New("the keyring does not hold it")
	case runtime.GOOS == "windows" && strings.Contains(err.Error(), "logon session"):
		return errors.New("no keyring in this session: Windows refuses it to network logons such as SSH")
	case runtime.GOOS == "linux":
		return fmt.Errorf("no keyring in this session: no D-Bus secret service (%w)", err)
	}
	return fmt.Errorf("no keyring in this session: %w", err)
}

func (v Vault) keyringSet(ctx context.Context, account string, s Secret) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = v.askKeyring(ctx, func() (string, error) { return "", keyring.Set(KeyringService, account, string(text)) })
	return err
}

func (v Vault) keyringGet(ctx context.Context, account string) (s Secret, err error) {
	text, err := v.askKeyring(ctx, func() (string, error) { return keyring.Get(KeyringService, account) })
	if err != nil {
		return s, err
	}
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, errors.New("the keyring holds something else")
	}
	return s, nil
}

// keyringDelete takes a secret away. One that is not there is no error.
func (v Vault) keyringDelete(ctx context.Context, account string) error {
	_, err := v.askKeyring(ctx, func() (string, error) {
		err := keyring.Delete(KeyringService, account)
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return "", err
	})
	return err
}

// TryKeyring asks the keyring for something that is not there.
func (v Vault) TryKeyring(ctx context.Context) error {
	_, err := v.askKeyring(ctx, func() (string, error) {
		text, err := keyring.Get(KeyringService, "doctor")
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return text, err
	})
	return err
}

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
