package tuitest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
)

// suite runs the tests and then stops the shared daemon.
type suite struct{ tests *testing.M }

func (s suite) Run() int {
	status := s.tests.Run()
	if shared.instance == nil {
		return status
	}
	if err := errors.Join(shared.instance.Stop(), os.RemoveAll(shared.instance.Dir)); err != nil {
		fmt.Fprintln(os.Stderr, "the shared daemon:", err)
		return 1
	}
	return status
}

// shared is a daemon with demo records, which are slow to load.
var shared struct {
	once     sync.Once
	instance *daemontest.Instance
	err      error
}

// DemoDaemon returns a shared daemon with demo records for tests that only read.
func DemoDaemon(t testing.TB) *daemontest.Instance {
	t.Helper()
	shared.once.Do(func() {
		var dir string
		dir, shared.err = os.MkdirTemp("", "whctl-tui-test-")
		if shared.err == nil {
			shared.instance, shared.err = daemontest.Open(dir, "--demo")
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.instance
}

// Main runs the tests of a package and fails if goroutines are left.
func Main(m *testing.M) {
	// bubbletea does not wait for its timers, which end within a second, and waits only
	// 500 ms for the reader of its input: on a busy machine that stays in its system call.
	goleak.VerifyTestMain(suite{m},
		goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).execBatchMsg"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).readLoop"))
}

// Connect returns a client of a daemon, signed in as administrator.
func Connect(t testing.TB, i *daemontest.Instance) *client.Client {
	t.Helper()
	return ConnectAs(t, i, "")
}

// ConnectAs is Connect with the name of a program in User-Agent.
func ConnectAs(t testing.TB, i *daemontest.Instance, program string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{
		URL:       i.URL,
		User:      "admin",
		Password:  daemontest.AdminPassword,
		UserAgent: program,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Unreachable returns a client of a service that does not exist.
func Unreachable(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: fmt.Sprintf("http://127.0.0.1:%d", daemontest.FreePort(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
