//go:build unix

package crashtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
)

// unit is a daemon that is run like a systemd service: it is controlled by signals and
// reports its state to a notification socket.
type unit struct {
	dir, address string
	args         []string
	socket       *net.UnixConn
	process      *daemontest.Process
}

// loadUnit chooses a permanent address for a daemon.
func loadUnit(t *testing.T, args ...string) *unit {
	t.Helper()
	u := &unit{dir: t.TempDir(), args: args, address: fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))}
	var err error
	if u.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: u.socketName(), Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.socket.Close() })
	return u
}

func (u *unit) socketName() string { return filepath.Join(u.dir, "notify") }

func (u *unit) url() string { return "http://" + u.address }

// start starts the daemon and waits for its readiness notification.
func (u *unit) start(t *testing.T) {
	t.Helper()
	program := daemontest.Program{Path: daemontest.Executable(t), Env: []string{"NOTIFY_SOCKET=" + u.socketName(), "WATCHDOG_USEC=600000000"}}
	process, err := program.Launch(u.dir, append([]string{"--listen", u.address}, u.args...)...)
	if err != nil {
		t.Fatal(err)
	}
	u.process = process
	t.Cleanup(func() { _ = process.Kill() }) // if the test has failed
	if text := u.awaitNotification(t, "READY=1"); !strings.Contains(text, "STATUS=serves "+u.url()) {
		t.Errorf("ready notification: %q", text)
	}
}

// notifyTimeout is the time limit for a notification.
const notifyTimeout = 5 * time.Minute

// awaitNotification waits for a notification that starts with a word, ignoring those of
// the watchdog.
func (u *unit) awaitNotification(t *testing.T, word string) string {
	t.Helper()
	if err := u.socket.SetReadDeadline(time.Now().Add(notifyTimeout)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for {
		n, err := u.socket.Read(buffer)
		if err != nil {
			t.Fatalf("waiting for %s: %v", word, err)
		}
		text := string(buffer[:n])
		if strings.HasPrefix(text, word) {
			return text
		}
		if text != "WATCHDOG=1" {
			t.Fatalf("notification %q, want %s", text, word)
		}
	}
}

func (u *unit) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := u.process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// reload makes the daemon reload its settings.
func (u *unit) reload(t *testing.T) {
	t.Helper()
	u.signal(t, syscall.SIGHUP)
	if text := u.awaitNotification(t, "RELOADING=1"); !strings.Contains(text, "\nMONOTONIC_USEC=") {
		t.Errorf("reloading notification: %q", text)
	}
	if text := u.awaitNotification(t, "READY=1"); strings.Contains(text, "with the previous settings") {
		t.Errorf("notification after the reload: %q", text)
	}
}

// stop shuts the daemon down.
func (u *unit) stop(t *testing.T) {
	t.Helper()
	u.signal(t, syscall.SIGTERM)
	if text := u.awaitNotification(t, "STOPPING=1"); !strings.Contains(text, "\nEXTEND_TIMEOUT_USEC=") {
		t.Errorf("stopping notification: %q", text)
	}
	if err := u.process.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(u.dir, daemontest.ProcessLog))
		t.Errorf("exited with %v\n%s", err, log[max(0, len(log)-2000):])
	}
}

// writeConfig writes the settings file.
func (u *unit) writeConfig(t *testing.T, largestPage int) {
	t.Helper()
	text := fmt.Sprintf("[query]\nmax_take = %d\n", largestPage)
	if err := os.WriteFile(u.config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (u *unit) config() string { return filepath.Join(u.dir, "whd.toml") }
