package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// service is a daemon with a permanent address, which is restarted after each kill.
type service struct {
	daemontest.Service
	url string
}

func newService(t *testing.T, dir string, args ...string) *service {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", daemontest.FreePort(t))
	args = append([]string{"--listen", address}, args...)
	return &service{Service: daemontest.Service{Dir: dir, Args: args}, url: "http://" + address}
}

// prepare runs the service in this process, and returns an administrator's API key.
func (s *service) prepare(t *testing.T, with func(*client.Client)) (token string) {
	t.Helper()
	d, err := daemontest.Open(s.Dir, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	c := s.client(t, "")
	if _, err := c.Login(context.Background(), "admin", daemontest.AdminPassword); err != nil {
		t.Fatal(err)
	}
	key, err := c.AddAPIKey(context.Background(), wire.APIKeyRequest{Name: "test", Role: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	with(s.client(t, key.Key))
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	return key.Key
}

// client returns a client with an API key.
func (s *service) client(t *testing.T, token string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: s.url, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// stop shuts the daemon down.
func (s *service) stop(t *testing.T) {
	t.Helper()
	s.AwaitRestarting(t)
	s.Stop(t)
}

// tookOver returns the last time at which the daemon took over leases, by its log.
func (s *service) tookOver(t *testing.T) time.Time {
	t.Helper()
	times := s.LogTimes(t, "took over partitions")
	if len(times) == 0 {
		return time.Time{}
	}
	return times[len(times)-1]
}

// lastLog returns the end of a file.
func lastLog(dir, name string) string {
	const enough = 3000
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-enough):])
}

// mirror is whctl mirror, which is restarted whenever it ends.
type mirror struct {
	program string
	dir     string // of the copies and the log
	url     string
	token   string
	kinds   []string

	mu      sync.Mutex
	process *exec.Cmd // nil before the first start
	stopped bool
	kills   int
	failure error
	ended   chan struct{}
}

const mirrorLog = "mirror.log"

func (m *mirror) path() string { return filepath.Join(m.dir, "copy.db") }

func (m *mirror) start() {
	m.stopped, m.ended = false, make(chan struct{})
	go func() {
		defer close(m.ended)
		for m.run() {
			<-time.After(500 * time.Millisecond) // the daemon may not listen yet
		}
	}()
}

// run runs the process once, and reports whether to restart it.
func (m *mirror) run() bool {
	log, err := os.OpenFile(filepath.Join(m.dir, mirrorLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		defer log.Close()
		cmd := exec.Command(m.program, slices.Concat([]string{"mirror"}, m.kinds, []string{"--to", m.path()})...)
		cmd.Env = append(os.Environ(), profile.EnvURL+"="+m.url, profile.EnvToken+"="+m.token, profile.EnvConfig+"="+filepath.Join(m.dir, "whctl.toml"))
		cmd.Stderr = log
		m.mu.Lock()
		if m.stopped {
			m.mu.Unlock()
			return false
		}
		m.process, err = cmd, cmd.Start()
		m.mu.Unlock()
		if err == nil {
			_ = cmd.Wait() // it is killed, or its message is in the log
			return true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
	return false
}

// kill kills the process, if it runs.
func (m *mirror) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil && m.process.Process != nil && m.process.Process.Kill() == nil {
		m.kills++
	}
}

// stop kills the process and does not restart it. It may be called again.
func (m *mirror) stop(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	m.stopped = true
	if m.process != nil && m.process.Process != nil {
		_ = m.process.Process.Kill() // it may have ended
	}
	m.mu.Unlock()
	<-m.ended
	if m.failure != nil {
		t.Error(m.failure)
	}
}

// forget removes the copies, so that they are loaded again.
func (m *mirror) forget(t *testing.T) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(m.path() + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// report counts the lines of the log.
func (m *mirror) report(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, mirrorLog))
	if err != nil {
		t.Fatal(err)
	}
	loads := 0
	messages := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, " loaded: ") {
			loads++
		} else if !strings.Contains(line, " is current as of ") {
			message, _, _ := strings.Cut(strings.TrimSpace(line), "; retrying in ")
			messages[message]++
		}
	}
	t.Logf("whctl mirror was killed %d times and loaded %d kinds", m.kills, loads)
	for line, n := range messages {
		t.Logf("%d times: %s", n, line)
	}
}
