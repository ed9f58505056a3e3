package profile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// vaultIn returns a vault with its file in a directory.
func vaultIn(dir string) Vault {
	env := func(name string) string {
		if name == EnvConfig {
			return filepath.Join(dir, "config.toml")
		}
		return ""
	}
	return Vault{Env: env, Timeout: time.Minute}
}

// TestLoginsOfEditors reads stored logins that an editor of Windows has saved.
func TestLoginsOfEditors(t *testing.T) {
	const text = "[prod]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'file'\nsession = 's1'\n"
	for _, test := range []struct{ name, content, wantErr string }{
		{"plain", text, ""},
		{"with a byte order mark", "\ufeff" + text, ""},
		{"only a byte order mark", "\ufeff", ""},
		{"UTF-16", "\xff\xfe[\x00p\x00", "logins.toml is in UTF-16; save it in UTF-8"},
		{"no TOML", "\ufeff[", "logins.toml is corrupt"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "logins.toml"), []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		logins, err := vaultIn(dir).ReadLogins()
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got the error %v, want %s", test.name, err, test.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		login := logins.All["prod"]
		if strings.Contains(test.content, "prod") && (login == nil || login.Session != "s1") {
			t.Errorf("%s: got the login %+v, want the session s1", test.name, login)
		}
	}
}

// annsLogin returns a login with its secret in a store.
func annsLogin(store string) *Login {
	return &Login{Profile: "prod", URL: "http://127.0.0.1:1", User: "ann", Store: store}
}

// mustStore stores a login.
func mustStore(t *testing.T, v Vault, l *Login, s Secret) {
	t.Helper()
	leftover, err := v.Store(t.Context(), l, s)
	if leftover != nil || err != nil {
		t.Fatal(leftover, err)
	}
}

// TestRenew checks that a new session is stored for the login that it belongs to, and not for one that
// was deleted or replaced.
func TestRenew(t *testing.T) {
	bob := annsLogin(InFile)
	bob.User = "bob"
	for name, test := range map[string]struct {
		login *Login // of the renewed session
		later *Login // stored instead of login; nil if that is deleted
		want  string // session of later
	}{
		"in the keyring":    {annsLogin(InKeyring), annsLogin(InKeyring), "renewed"},
		"in the file":       {annsLogin(InFile), annsLogin(InFile), "renewed"},
		"deleted":           {annsLogin(InFile), nil, ""},
		"of another user":   {annsLogin(InFile), bob, "first"},
		"in another place":  {annsLogin(InKeyring), annsLogin(InFile), "first"},
		"from another user": {bob, annsLogin(InKeyring), "first"},
	} {
		t.Run(name, func(t *testing.T) {
			keyring.MockInit()
			v := vaultIn(t.TempDir())
			mustStore(t, v, test.login, Secret{Session: "first"})
			if test.later == nil {
				if leftover, err := v.Forget(test.login); leftover != nil || err != nil {
					t.Fatal(leftover, err)
				}
			} else {
				mustStore(t, v, test.later, Secret{Session: "first"})
			}
			if err := v.Renew(t.Context(), test.login, Secret{Session: "renewed"}); err != nil {
				t.Fatal(err)
			}
			logins, err := v.ReadLogins()
			if err != nil {
				t.Fatal(err)
			}
			stored := logins.All["prod"]
			if test.later == nil {
				if stored != nil {
					t.Errorf("the login %+v is stored, want none", stored)
				}
				return
			}
			got, err := v.SecretOf(t.Context(), stored)
			if err != nil || stored.User != test.later.User || got.Session != test.want {
				t.Errorf("got the session %q of %s, error %v; want %q of %s",
					got.Session, stored.User, err, test.want, test.later.User)
			}
		})
	}
}

func TestKeyringErrors(t *testing.T) {
	got := keyringError(keyring.ErrNotFound).Error()
	if want := "the keyring has no such secret"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = keyringError(errors.New("dial unix: no such file")).Error()
	start := "no keyring in this session: "
	if !strings.HasPrefix(got, start) || strings.Contains(got, "\n") {
		t.Errorf("got %q, want one line that starts with %q", got, start)
	}
}

// TestStoreDeletesFormerSecret checks that the keyring only has the secret of the login that is stored
// last.
func TestStoreDeletesFormerSecret(t *testing.T) {
	ann := annsLogin(InKeyring)
	bob := annsLogin(InKeyring)
	bob.User = "bob"
	moved := annsLogin(InKeyring)
	moved.URL = "http://127.0.0.1:2"
	for name, login := range map[string]*Login{
		"same login":      ann,
		"another user":    bob,
		"another service": moved,
		"file":            annsLogin(InFile),
	} {
		t.Run(name, func(t *testing.T) {
			keyring.MockInit()
			v := vaultIn(t.TempDir())
			mustStore(t, v, ann, Secret{Session: "first", Password: "secret"})
			mustStore(t, v, login, Secret{Session: "second"})
			logins, err := v.ReadLogins()
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.SecretOf(t.Context(), logins.All["prod"])
			if err != nil || got.Session != "second" {
				t.Errorf("got the secret %+v, error %v; want the second session", got, err)
			}
			text, err := keyring.Get(KeyringService, ann.account())
			if login != ann && !errors.Is(err, keyring.ErrNotFound) {
				t.Errorf("the keyring has the former secret %s, error %v; want none", text, err)
			}
		})
	}
}

// TestStoreWithoutKeyring checks that a secret that cannot be deleted is reported, and that the new login
// is stored nevertheless.
func TestStoreWithoutKeyring(t *testing.T) {
	keyring.MockInit()
	v := vaultIn(t.TempDir())
	mustStore(t, v, annsLogin(InKeyring), Secret{Session: "first"})
	keyring.MockInitWithError(errors.New("no bus"))

	leftover, err := v.Store(t.Context(), annsLogin(InKeyring), Secret{Session: "second"})
	if _, ok := errors.AsType[*KeyringError](err); !ok || leftover != nil {
		t.Errorf("in the keyring: got %v, error %v; want a KeyringError", leftover, err)
	}
	leftover, err = v.Store(t.Context(), annsLogin(InFile), Secret{Session: "second"})
	want := `cannot delete the entry "prod ann@http://127.0.0.1:1" of whctl from the keyring: no keyring`
	if err != nil || leftover == nil || !strings.HasPrefix(leftover.Error(), want) {
		t.Errorf("in the file: got %v, error %v; want %s", leftover, err, want)
	}
	logins, err := v.ReadLogins()
	if err != nil || logins.All["prod"].Session != "second" {
		t.Errorf("got the login %+v, error %v; want the second session", logins.All["prod"], err)
	}
}

// TestFailedStore checks that a login that cannot be stored leaves no secret in the keyring. Without a home
// directory, there is no file for it.
func TestFailedStore(t *testing.T) {
	keyring.MockInit()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, "")
	}
	v := Vault{Env: func(string) string { return "" }, Timeout: time.Minute}
	login := annsLogin(InKeyring)
	leftover, err := v.Store(t.Context(), login, Secret{Session: "first"})
	if leftover != nil || !errors.Is(err, ErrNoConfigDir) {
		t.Errorf("got %v, error %v; want the error %v", leftover, err, ErrNoConfigDir)
	}
	text, err := keyring.Get(KeyringService, login.account())
	if !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("the keyring has the secret %s, error %v; want none", text, err)
	}
}
