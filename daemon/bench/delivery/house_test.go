package delivery

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// house is a daemon on a data directory of its own, with a subscriber.
type house struct {
	*daemontest.Process
	dir        string
	args       []string
	server     string // where its tables are, if not in the directory
	publisher  string // a key
	manager    string // a key of an administrator
	subscriber string
	admin      *client.Client
}

// event is the name of an event that the settings of every house publish.
func event(n int) string { return fmt.Sprintf("bench.n%d", n) }

const mostEvents = 100

// settings let the daemon send here and be asked as fast as it goes.
func settings() []string {
	var names []string
	for n := range mostEvents {
		names = append(names, event(n))
	}
	return []string{"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", strings.Join(names, ",")}
}

// build starts a daemon that nobody has subscribed anything at.
func build(b *testing.B, args ...string) *house {
	b.Helper()
	return (&house{dir: b.TempDir(), args: append(settings(), args...)}).open(b)
}

// open prepares a house and starts its daemon.
func (h *house) open(b *testing.B) *house {
	b.Helper()
	h.prepare(b)
	h.launch(b)
	b.Cleanup(func() {
		if err := h.Stop(); err != nil {
			b.Error(err)
		}
	})
	return h
}

// prepare makes the keys, in a daemon of this process.
func (h *house) prepare(b *testing.B) {
	b.Helper()
	d, err := daemontest.Open(h.dir, h.args...)
	if err != nil {
		b.Fatal(err)
	}
	h.publisher, h.manager = h.key(b, "publisher"), h.key(b, "admin")
	c, err := client.New(client.Options{URL: d.URL, Token: h.manager})
	if err != nil {
		b.Fatal(err)
	}
	name := "bench"
	s, err := c.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		b.Fatal(err)
	}
	h.subscriber = s.RecID
	if err := d.Stop(); err != nil {
		b.Fatal(err)
	}
}

// key makes a key of a role.
func (h *house) key(b *testing.B, role string) string {
	b.Helper()
	var key, complaint bytes.Buffer
	args := []string{"key", "add", role, "--role", role, "--data-dir", h.dir}
	if h.server != "" {
		args = append(args, "--store", h.server)
	}
	if whd.Main(whd.Process{Args: args, Stdout: &key, Stderr: &complaint}) != 0 {
		b.Fatalf("whd key add: %s", &complaint)
	}
	return strings.TrimSpace(key.String())
}

// launch starts the daemon in its own process.
func (h *house) launch(b *testing.B) {
	b.Helper()
	var err error
	if h.Process, err = daemontest.Launch(h.dir, h.args...); err != nil {
		b.Fatal(err)
	}
	if err := h.Await(); err != nil {
		b.Fatal(err)
	}
	if h.admin, err = client.New(client.Options{URL: h.URL}); err != nil {
		b.Fatal(err)
	}
}

// subscribe subscribes an event at an address.
func (h *house) subscribe(b *testing.B, event, url string) (id string) {
	b.Helper()
	s, err := h.admin.AddSubscription(context.Background(), h.subscriber, wire.SubscriptionRequest{EventName: &event, URL: &url})
	if err != nil {
		b.Fatal(err)
	}
	return s.RecID
}

// enable turns a subscription on or off.
func (h *house) enable(b *testing.B, id string, on bool) {
	b.Helper()
	if _, err := h.admin.UpdateSubscription(context.Background(), h.subscriber, id, wire.SubscriptionRequest{IsEnabled: &on}); err != nil {
		b.Fatal(err)
	}
}

// target publishes events of these names here, in turns.
func (h *house) target(events ...string) target {
	return target{address: strings.TrimPrefix(h.URL, "http://"), path: "/Webhooks/Events", key: h.publisher, events: events}
}

// tables is another connection to the daemon's tables.
func (h *house) tables(b *testing.B, o sqlite.Options) *sqlite.Conn {
	b.Helper()
	o.BusyTimeout = patience
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}

// count is the number that a statement gives.
func (h *house) count(b *testing.B, statement string) int {
	b.Helper()
	conn := h.tables(b, sqlite.Options{ReadOnly: true})
	defer conn.Close()
	s, err := conn.Prepare(statement)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		b.Fatal(err)
	}
	return int(s.Int(0))
}

// settled waits until nothing is open.
func (h *house) settled(b *testing.B) {
	b.Helper()
	for began := time.Now(); h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL") > 0; {
		if time.Since(began) > patience {
			b.Fatal("messages stay open")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// cpu is the CPU time that a process uses while f runs.
func cpu(b *testing.B, pid int, f func()) time.Duration {
	b.Helper()
	before, err := cpuTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	f()
	after, err := cpuTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	return after - before
}

// canMeasure reports whether this system tells what a process uses.
func (t *table) canMeasure(b *testing.B) bool {
	_, err := cpuTime(os.Getpid())
	if err != nil {
		t.skipped(b, err.Error())
	}
	return err == nil
}
