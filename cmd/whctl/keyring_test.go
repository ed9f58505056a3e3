package main

import (
	"errors"
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
	account := "default admin@" + service.URL
	inv := invocation{config: dir, env: map[string]string{profile.EnvURL: service.URL}}

	// The secret is in the keyring, not in the file.
	got := invocation{config: dir, env: adminEnv(service.URL)}.run(t, "login", "--remember")
	if got.code != 0 || !strings.Contains(got.stderr, "the secret is in the keyring") {
		t.Fatalf("whctl login: got %v; want exit code 0 and the keyring", got)
	}
	logins, err := os.ReadFile(filepath.Join(dir, "logins.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{daemontest.AdminPassword, "session"} {
		if strings.Contains(string(logins), secret) {
			t.Errorf("logins.toml has %q: %s", secret, logins)
		}
	}
	kept, err := keyring.Get(profile.KeyringService, account)
	if err != nil || !strings.Contains(kept, daemontest.AdminPassword) {
		t.Errorf("the keyring has %q, error %v; want the password", kept, err)
	}
	got = inv.run(t, "whoami", "--csv")
	if got.code != 0 || !strings.Contains(got.stdout, ",header,keyring,default,") {
		t.Errorf("whctl whoami: got %v; want the login of the keyring", got)
	}

	// An expired session is renewed, and the new one is stored.
	expired := strings.Replace(kept, `"Session":"`, `"Session":"expired-`, 1)
	if err := keyring.Set(profile.KeyringService, account, expired); err != nil {
		t.Fatal(err)
	}
	got = inv.run(t, "query", "SO_Totals", "--count")
	if got.code != 0 || got.stderr != "" {
		t.Errorf("whctl query with an expired session: got %v; want exit code 0 and no stderr", got)
	}
	renewed, err := keyring.Get(profile.KeyringService, account)
	if err != nil || renewed == kept || strings.Contains(renewed, "expired-") {
		t.Errorf("the keyring has %q, error %v; want another session", renewed, err)
	}

	if got := inv.run(t, "logout"); got.code != 0 {
		t.Errorf("whctl logout: got %v; want exit code 0", got)
	}
	_, err = keyring.Get(profile.KeyringService, account)
	if !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("after whctl logout: got error %v of the keyring, want %v", err, keyring.ErrNotFound)
	}
}
