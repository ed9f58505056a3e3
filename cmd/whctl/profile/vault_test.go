package profile

import (
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
	if err := v.Store(t.Context(), l, s); err != nil {
		t.Fatal(err)
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
