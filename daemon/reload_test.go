package daemon_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
)

// serving is `whd serve`, running in this process.
type serving struct {
	url, dir string
	log      *daemontest.Log
	signals  chan os.Signal
	reloads  chan os.Signal
	status   chan int
}

// serveFile starts `whd serve` with a settings file and waits until it serves.
func serveFile(t *testing.T, settings string, args ...string) *serving {
	t.Helper()
	s := &serving{
		dir:     t.TempDir(),
		log:     daemontest.NewLog(),
		signals: make(chan os.Signal, 2),
		reloads: make(chan os.Signal, 1),
		status:  make(chan int, 1),
	}
	s.write(t, settings)
	out := make(output, 100)
	args = append([]string{
		"serve",
		"--listen", "127.0.0.1:0",
		"--data-dir", s.dir,
		"--config", filepath.Join(s.dir, "whd.toml"),
		"--http-shutdown-grace", "2m",
	}, args...)

	go func() {
		s.status <- whd.Main(whd.Process{
			Args:    args,
			Stdin:   new(bytes.Reader),
			Stdout:  out,
			Stderr:  s.log,
			Signals: s.signals,
			Reloads: func() <-chan os.Signal { return s.reloads },
		})
	}()

	select {
	case text := <-out:
		s.url = regexp.MustCompile(`serves (https?://\S+)`).FindStringSubmatch(text)[1]
	case status := <-s.status:
		t.Fatalf("exit status %d: %s", status, s.log)
	}
	return s
}

func (s *serving) write(t *testing.T, settings string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "whd.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
}

// end sends SIGINT and waits for exit status 0.
func (s *serving) end(t *testing.T) {
	t.Helper()
	s.signals <- os.Interrupt
	if status := <-s.status; status != 0 {
		t.Errorf("exit status %d: %s", status, s.log)
	}
}

// TestHangupReloadsSettings checks that SIGHUP reloads the settings while requests are served.
func TestHangupReloadsSettings(t *testing.T) {
	noLeaks(t)
	s := serveFile(t, "[auth]\nqueries = 'required'\n")
	query := s.url + "/json/reply/DB_ClassQuery"
	if reply, _ := get(t, query); reply.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", reply.StatusCode)
	}
	s.write(t, "[auth]\nqueries = 'anonymous'\n[http]\nmax_requests = 7\n")
	s.reloads <- syscall.SIGHUP
	s.log.Await(t, "settings reloaded", "changed=auth.queries")
	s.log.Await(t, "level=WARN", "take effect after a restart", "settings=http.max_requests")
	if reply, _ := get(t, query); reply.StatusCode != http.StatusOK {
		t.Errorf("status %d", reply.StatusCode)
	}

	// An invalid file changes nothing; each problem is reported with its line.
	s.write(t, "[auth]\nqueries = 'required'\n[http]\nmax_bodi = 7\nrate = 'canary'\n")
	s.reloads <- syscall.SIGHUP
	s.log.Await(t, "level=ERROR", "the previous ones stay in effect", "whd.toml:4: unknown key")
	s.log.Await(t, "level=ERROR", "the previous ones stay in effect",
		"setting http.rate (file "+filepath.Join(s.dir, "whd.toml")+":5)")
	if reply, _ := get(t, query); reply.StatusCode != http.StatusOK {
		t.Errorf("status %d", reply.StatusCode)
	}
	s.end(t)
}

// TestSignalDuringStart checks that a signal during the start ends with status 0.
func TestSignalDuringStart(t *testing.T) {
	noLeaks(t)
	log, signals := daemontest.NewLog(), make(chan os.Signal, 2)
	signals <- os.Interrupt
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--config="}
	status := whd.Main(whd.Process{
		Args:    args,
		Stdin:   new(bytes.Reader),
		Stdout:  make(output, 100),
		Stderr:  log,
		Signals: signals,
	})
	if status != 0 {
		t.Errorf("exit status %d: %s", status, log)
	}
}
