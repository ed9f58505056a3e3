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

// KeyringTimeout limits calls to the system's keyring, which may wait to be
// unlocked on a machine without a user.
const KeyringTimeout = 3 * time.Second

// KeyringService is the service name of the secrets in the keyring.
const KeyringService = "whctl"

// Vault stores logins in the system's keyring, or in a file next to the
// configuration.
type Vault struct {
	Env     func(string) string
	Timeout time.Duration // time limit of calls to the keyring
}

// Secret holds the secrets of a login.
type Secret struct {
	Session  string
	Password string `json:",omitempty"` // with --remember
}

// callKeyring runs a call to the keyring with a timeout. Calls cannot be
// interrupted; an abandoned call ends with the process.
func (v Vault) callKeyring(ctx context.Context, call func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := call()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, keyringError(r.err)
	case <-time.After(v.Timeout):
		return "", &KeyringError{message: fmt.Sprintf("the keyring did not respond within %s", v.Timeout)}
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// KeyringError is a failure of the keyring. Its text is one line in plain terms.
type KeyringError struct {
	message string
	err     error // nil if the keyring did not respond
}

func (e *KeyringError) Error() string { return e.message }

func (e *KeyringError) Unwrap() error { return e.err }

// keyringError returns the KeyringError for an error of the keyring; nil for nil.
func keyringError(err error) error {
	if err == nil {
		return nil
	}
	message := fmt.Sprintf("no keyring in this session: %s", err)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		message = "the keyring has no such secret"
	case runtime.GOOS == "windows" && strings.Contains(err.Error(), "logon session"):
		message = "no keyring in this session: Windows denies it to network logons such as SSH"
	case runtime.GOOS == "linux":
		message = fmt.Sprintf("no keyring in this session: no D-Bus secret service (%s)", err)
	}
	return &KeyringError{message: message, err: err}
}

// keyringSet stores a secret under the name of an account.
func (v Vault) keyringSet(ctx context.Context, account string, s Secret) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = v.callKeyring(ctx, func() (string, error) {
		return "", keyring.Set(KeyringService, account, string(text))
	})
	return err
}

// keyringGet returns the secret of an account.
func (v Vault) keyringGet(ctx context.Context, account string) (Secret, error) {
	text, err := v.callKeyring(ctx, func() (string, error) {
		return keyring.Get(KeyringService, account)
	})
	if err != nil {
		return Secret{}, err
	}
	var s Secret
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Secret{}, errors.New("the keyring has an unexpected value")
	}
	return s, nil
}

// deleteSecret deletes the secret of a login from the keyring. A missing secret is not an error. The
// user cannot interrupt it, because the file with the logins has already changed.
func (v Vault) deleteSecret(l *Login) error {
	if l.Store != InKeyring {
		return nil
	}
	_, err := v.callKeyring(context.Background(), func() (string, error) {
		err := keyring.Delete(KeyringService, l.account())
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return "", err
	})
	if err != nil {
		return fmt.Errorf("cannot delete the entry %q of %s from the keyring: %w",
			l.account(), KeyringService, err)
	}
	return nil
}

// TryKeyring checks the keyring by looking up a secret that does not exist.
func (v Vault) TryKeyring(ctx context.Context) error {
	_, err := v.callKeyring(ctx, func() (string, error) {
		text, err := keyring.Get(KeyringService, "doctor")
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return text, err
	})
	return err
}

// Path returns the path of the file with the logins; empty if there is no home directory.
func (v Vault) Path() string {
	config := Path(v.Env)
	if config == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(config), "logins.toml")
}

// ReadLogins reads the stored logins. A missing file has none.
func (v Vault) ReadLogins() (*Logins, error) {
	l := &Logins{Path: v.Path(), All: make(map[string]*Login)}
	if l.Path == "" {
		return l, nil
	}
	text, err := os.ReadFile(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, err = withoutMark(l.Path, text)
	if err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(text, &l.All); err != nil {
		return nil, fmt.Errorf("%s is corrupt; delete it and run whctl login again", l.Path)
	}
	for name, login := range l.All {
		login.Profile = name
	}
	return l, nil
}

// SecretOf returns the secret of a login from its location.
func (v Vault) SecretOf(ctx context.Context, l *Login) (Secret, error) {
	if l.Store == InKeyring {
		return v.keyringGet(ctx, l.account())
	}
	return Secret{Session: l.Session, Password: l.Password}, nil
}

// Store stores a login, and its secret in the login's location. The secret of the former login of the
// profile is deleted. If Store returns err, the former login is still stored; a *KeyringError means that
// the keyring did not accept the secret. leftover is the error of a keyring that still has a secret that
// is not used: that of the former login, or after err, the new one.
func (v Vault) Store(ctx context.Context, l *Login, s Secret) (leftover, err error) {
	logins, err := v.ReadLogins()
	if err != nil {
		return nil, err
	}
	saved := *l
	saved.Session = ""
	saved.Password = ""
	if l.Store == InKeyring {
		if err := v.keyringSet(ctx, l.account(), s); err != nil {
			return nil, err
		}
	} else {
		saved.Session = s.Session
		saved.Password = s.Password
	}

	former := logins.All[l.Profile]
	if former != nil && *former == saved {
		return nil, nil // only the secret in the keyring has changed
	}
	logins.All[l.Profile] = &saved
	err = logins.save()
	if former != nil && former.hasEntryOf(l) {
		return nil, err // the new secret has overwritten the former one
	}
	if err != nil {
		return v.deleteSecret(l), err
	}
	if former == nil {
		return nil, nil
	}
	return v.deleteSecret(former), nil
}

// Renew stores a new secret of a stored login. It stores nothing if the login has been deleted or
// replaced since it was read, as by whctl logout during a command that runs for long.
func (v Vault) Renew(ctx context.Context, l *Login, s Secret) error {
	logins, err := v.ReadLogins()
	if err != nil {
		return err
	}
	current := logins.All[l.Profile]
	if current == nil || current.Store != l.Store || current.account() != l.account() {
		return nil
	}
	if l.Store == InKeyring {
		return v.keyringSet(ctx, l.account(), s)
	}
	current.Session = s.Session
	current.Password = s.Password
	return logins.save()
}

// Forget deletes a login and its secret. If it returns err, nothing was deleted. leftover is the error
// of a keyring that still has the secret, which is not used again.
func (v Vault) Forget(l *Login) (leftover, err error) {
	logins, err := v.ReadLogins()
	if err != nil {
		return nil, err
	}
	delete(logins.All, l.Profile)
	if err := logins.save(); err != nil {
		return nil, err
	}
	return v.deleteSecret(l), nil
}
