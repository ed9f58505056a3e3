package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// testKeyringLogin signs in with an in-memory keyring instead of the desktop's.
func testKeyringLogin(t *testing.T, service *daemontest.Instance) {
	keyring.MockInit()
	dir := t.TempDir()
	run := func(env map[string]string, args ...string) result {
		env[profile.EnvURL] = service.URL
		return invocation{env: env, config: dir}.run(t, args...)
	}
	got := run(map[string]string{
		profile.EnvUser:     "admin",
		profile.EnvPassword: daemontest.AdminPassword,
	}, "login", "--remember")
	if got.code != 0 || !strings.Contains(got.stderr, "the secret is in the keyring") {
		t.Fatalf("login: %+v", got)
	}
	stored, err := os.ReadFile(filepath.Join(dir, "logins.toml"))
	if err != nil || strings.Contains(string(stored), daemontest.AdminPassword) || strings.Contains(string(stored), "session") {
		t.Errorf("the file holds %s (%v)", stored, err)
	}
	account := fmt.Sprintf("default admin@%s", service.URL)
	kept, err := keyring.Get(profile.KeyringService, account)
	if err != nil || !strings.Contains(kept, daemontest.AdminPassword) {
		t.Errorf("the keyring holds %q (%v)", kept, err)
	}
	if got := run(map[string]string{}, "whoami", "--csv"); got.code != 0 || !strings.Contains(got.stdout, ",header,keyring,default,") {
		t.Errorf("whoami: %+v", got)
	}

	// An expired session is renewed, and the new one is stored.
	if err := keyring.Set(profile.KeyringService, account, strings.Replace(kept, `"Session":"`, `"Session":"expired-`, 1)); err != nil {
		t.Fatal(err)
	}
	if got := run(map[string]string{}, "query", "SO_Totals", "--count"); got.code != 0 || got.stderr != "" {
		t.Errorf("query: %+v", got)
	}
	if renewed, err := keyring.Get(profile.KeyringService, account); err != nil || renewed == kept || strings.Contains(renewed, "expired-") {
		t.Errorf("the keyring holds %q (%v)", renewed, err)
	}

	if got := run(map[string]string{}, "logout"); got.code != 0 {
		t.Errorf("logout: %+v", got)
	}
	if _, err := keyring.Get(profile.KeyringService, account); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("the secret is still there (%v)", err)
	}
}

func TestKeyringErrors(t *testing.T) {
	if got := profile.KeyringError(keyring.ErrNotFound); got.Error() != "the keyring has no such secret" {
		t.Error(got)
	}
	if got := profile.KeyringError(errors.New("dial unix: no such file")); !strings.HasPrefix(got.Error(), "no keyring in this session: ") || strings.Contains(got.Error(), "\n") {
		t.Error(got)
	}
}
