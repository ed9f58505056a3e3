package tui

import (
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/daemon/daemontest"
)

func TestMain(m *testing.M) {
	// bubbletea does not wait for its timers, which end within a second
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.Tick.func1"), goleak.IgnoreAnyFunction("github.com/charmbracelet/bubbletea.(*Program).execBatchMsg"))
}

// connected is a client of a daemon that signs in as its administrator.
func connected(t testing.TB, i *daemontest.Instance) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: i.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// unreachable is a client of a service that is not there.
func unreachable(t testing.TB) *client.Client {
	t.Helper()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	c, err := client.New(client.Options{URL: "http://" + nobody.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
