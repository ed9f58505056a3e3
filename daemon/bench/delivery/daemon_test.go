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

// benchDaemon is a daemon with its own data directory and a subscriber.
type benchDaemon struct {
	*daemontest.Process
	dir        string
	args       []string
	server     string // DSN of the server store; empty for the embedded store
	publisher  string // API key
	manager    string // API key of an administrator
	subscriber string
	admin      *client.Client
}

// event returns the name of an event that the settings of every daemon publish.
func event(n int) string { return fmt.Sprintf("bench.n%d", n) }

const maxEvents = 100

// settings returns arguments that allow local targets and publish the events.
func settings() []string {
	var names []string
	for n := range maxEvents {
		names = append(names, event(n))
	}
	return []string{"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", strings.Join(names, ",")}
}

// erpVariable is the connection string of an ERP's database. The daemons that use it keep
// their own data in files.
const erpVariable = "DELIVERYBENCH_ERP"

// startDaemon starts a daemon without subscriptions.
func startDaemon(b *testing.B, args ...string) *benchDaemon {
	b.Helper()
	if dsn := os.Getenv(erpVariable); dsn != "" {
		args = append(args, "--erp", dsn)
	}
	return (&benchDaemon{dir: b.TempDir(), args: append(settings(), args...)}).open(b)
}

// open prepares the data directory and starts the daemon.
func (h *benchDaemon) open(b *testing.B) *benchDaemon {
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

// prepare creates the keys and the subscriber, with a daemon in this process.
func (h *benchDaemon) prepare(b *testing.B) {
	b.Helper()
	d, err := daemontest.Open(h.dir, h.args...)
	if err != nil {
		b.Fatal(err)
	}
	h.publisher, h.manager = h.addKey(b, "publisher"), h.addKey(b, "admin")
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

// addKey creates an API key with a role.
func (h *benchDaemon) addKey(b *testing.B, role string) string {
	b.Helper()
	var key, stderr bytes.Buffer
	args := []string{"key", "add", role, "--role", role, "--data-dir", h.dir}
	if h.server != "" {
		args = append(args, "--store", h.server)
	}
	if whd.Main(whd.Process{Args: args, Stdout: &key, Stderr: &stderr}) != 0 {
		b.Fatalf("whd key add: %s", &stderr)
	}
	return strings.TrimSpace(key.String())
}

// launch starts the daemon in its own process.
func (h *benchDaemon) launch(b *testing.B) {
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

// subscribe creates a subscription and returns its ID.
func (h *benchDaemon) subscribe(b *testing.B, event, url string) (id string) {
	b.Helper()
	s, err := h.admin.AddSubscription(context.Background(), h.subscriber, wire.SubscriptionRequest{EventName: &event, URL: &url})
	if err != nil {
		b.Fatal(err)
	}
	return s.RecID
}

// enable enables or disables a subscription.
func (h *benchDaemon) enable(b *testing.B, id string, on bool) {
	b.Helper()
	if _, err := h.admin.UpdateSubscription(context.Background(), h.subscriber, id, wire.SubscriptionRequest{IsEnabled: &on}); err != nil {
		b.Fatal(err)
	}
}

// publishTarget returns the target for publishing events with these names, in turn.
func (h *benchDaemon) publishTarget(events ...string) target {
	return target{
		address: strings.TrimPrefix(h.URL, "http://"),
		path:    "/Webhooks/Events",
		key:     h.publisher,
		events:  events,
	}
}

// openTables opens another connection to the daemon's tables.
func (h *benchDaemon) openTables(b *testing.B, o sqlite.Options) *sqlite.Conn {
	b.Helper()
	o.BusyTimeout = testTimeout
	conn, err := sqlite.Open(filepath.Join(h.dir, "whd.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}

// count returns the result of a statement.
func (h *benchDaemon) count(b *testing.B, statement string) int {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{ReadOnly: true})
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

// awaitNothingOpen waits until no message is open.
func (h *benchDaemon) awaitNothingOpen(b *testing.B) {
	b.Helper()
	for began := time.Now(); h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL") > 0; {
		if time.Since(began) > testTimeout {
			b.Fatal("messages stay open")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
