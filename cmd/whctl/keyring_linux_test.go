package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// A keyring that does not respond, such as one that waits to be unlocked, is given up
// after a timeout. Here a D-Bus socket accepts connections and never replies.
func TestUnresponsiveKeyringTimesOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus")
	bus, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	config := writeConfig(t, "")
	cmd := process(t, "http://127.0.0.1:1", "whoami")
	logins := "[default]\nurl = 'http://127.0.0.1:1'\nuser = 'ann'\nstore = 'keyring'\n"
	if err := os.WriteFile(filepath.Join(config, "logins.toml"), []byte(logins), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env,
		profile.EnvConfig+"="+filepath.Join(config, "config.toml"),
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+path)
	out, err := cmd.CombinedOutput()
	code := exitOf(t, err)
	want := "the keyring did not respond within 3s\n"
	if code != 3 || !strings.Contains(string(out), want) {
		t.Errorf("whctl whoami: got exit code %d and %q, want 3 and %q", code, out, want)
	}
}
