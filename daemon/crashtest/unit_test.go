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

// unit is a daemon that is started as systemd starts it: it is told by signals what
// to do, and tells over a socket how it is.
type unit struct {
	dir, address string
	args         []string
	socket       *net.UnixConn
	process      *daemontest.Process
}

// loadUnit finds a daemon an address that it keeps.
func loadUnit(t *testing.T, args ...string) *unit {
	t.Helper()
	u := &unit{dir: t.TempDir(), args: args}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.address = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if u.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: u.socketName(), Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.socket.Close() })
	return u
}

func (u *unit) socketName() string { return filepath.Join(u.dir, "notify") }

func (u *unit) url() string { return "http://" + u.address }

// start begins the daemon and waits until it says that it is ready.
func (u *unit) start(t *testing.T) {
	t.Helper()
	program := daemontest.Program{Path: ownPath(t), Env: []string{"NOTIFY_SOCKET=" + u.socketName(), "WATCHDOG_USEC=600000000"}}
	process, err := program.Launch(u.dir, append([]string{"--listen", u.address}, u.args...)...)
	if err != nil {
		t.Fatal(err)
	}
	u.process = process
	t.Cleanup(func() { _ = process.Kill() }) // of a test that has failed
	if said := u.awaitNotification(t, "READY=1"); !strings.Contains(said, "STATUS=serves "+u.url()) {
		t.Errorf("it is ready and says %q", said)
	}
}

// notifyTimeout is how long the program may take to say something.
const notifyTimeout = 5 * time.Minute

// awaitNotification waits for a datagram that begins with a word, past those of the
// watchdog.
func (u *unit) awaitNotification(t *testing.T, word string) string {
	t.Helper()
	if err := u.socket.SetReadDeadline(time.Now().Add(notifyTimeout)); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4096)
	for {
		n, err := u.socket.Read(text)
		if err != nil {
			t.Fatalf("waiting for %s: %v", word, err)
		}
		said := string(text[:n])
		switch {
		case strings.HasPrefix(said, word):
			return said
		case said != "WATCHDOG=1":
			t.Fatalf("it says %q, not %s", said, word)
		}
	}
}

func (u *unit) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(u.process.PID(), s); err != nil {
		t.Fatal(err)
	}
}

// reload has the program read its settings again.
func (u *unit) reload(t *testing.T) {
	t.Helper()
	u.signal(t, syscall.SIGHUP)
	if said := u.awaitNotification(t, "RELOADING=1"); !strings.Contains(said, "\nMONOTONIC_USEC=") {
		t.Errorf("it reloads and says %q", said)
	}
	if said := u.awaitNotification(t, "READY=1"); strings.Contains(said, "of before") {
		t.Errorf("it has reloaded and says %q", said)
	}
}

// stop ends the program in good order.
func (u *unit) stop(t *testing.T) {
	t.Helper()
	u.signal(t, syscall.SIGTERM)
	if said := u.awaitNotification(t, "STOPPING=1"); !strings.Contains(said, "\nEXTEND_TIMEOUT_USEC=") {
		t.Errorf("it stops and says %q", said)
	}
	if err := u.process.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(u.dir, "process.log"))
		t.Errorf("it ended with %v\n%s", err, log[max(0, len(log)-2000):])
	}
}

// writeConfig writes the file of settings.
func (u *unit) writeConfig(t *testing.T, largestPage int) {
	t.Helper()
	text := fmt.Sprintf("[query]\nmax_take = %d\n", largestPage)
	if err := os.WriteFile(u.config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (u *unit) config() string { return filepath.Join(u.dir, "whd.toml") }
