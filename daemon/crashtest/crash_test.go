package crashtest

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

var (
	rounds         = flag.Int("rounds", 3, "how often the daemon is killed")
	publisherCount = flag.Int("publishers", 12, "how many clients publish events at the same time")
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// settings make the schedule long enough for endpoints that fail for several rounds, and no
// attempt end while a busy machine does not let the receiver respond: it would be repeated.
var settings = []string{
	"--webhooks-allow-targets", "127.0.0.0/8",
	"--webhooks-connect-timeout", "2m",
	"--webhooks-attempt-timeout", "2m",
	"--webhooks-lease", "10m",
	"--webhooks-retry-schedule", strings.Repeat("1s,", 20) + strings.Repeat("3s,", 30) + "3s",
}

// maxLifetime is the maximum lifetime of a daemon. It may be killed before it listens.
const maxLifetime = 2 * time.Second

// recoveryTimeout is the time limit for the last daemon to deliver all messages.
const recoveryTimeout = 2 * time.Minute

// TestDeliveryGuaranteesAfterKills kills daemons at random moments.
func TestDeliveryGuaranteesAfterKills(t *testing.T) {
	dir, office := t.TempDir(), newReceiver(t)
	service := &daemontest.Service{Dir: dir, Args: settings}
	publishers := startPublishers(t, service, subscribe(t, dir, office))
	var kills []time.Time
	for n := range *rounds {
		office.setFailing(n%3 == 1)
		runAndKill(t, service)
		kills = append(kills, office.settle(t))
		expectCountedInFile(t, "after a kill", dir)
	}
	office.setFailing(false)
	service.Launch(t)
	service.Await(t)
	publishers.awaitAccepted() // on a slow machine the killed daemons may never have listened
	publishers.stop()
	awaitNothingOpen(t, dir)
	service.Stop(t)
	expectCountedInFile(t, "at the end", dir)
	evaluate(t, office, publishers, kills)
}

// evaluate compares the accepted events with those received.
func evaluate(t *testing.T, r *receiver, c *publisherPool, kills []time.Time) {
	t.Helper()
	lost := 0
	for _, event := range c.accepted {
		if !r.has(event) {
			lost++
		}
	}
	twice, unexcused := r.duplicates(kills)
	keyed, disordered := r.disordered()
	t.Logf("%d kills: %d events accepted, %d lost; %d ordered by key, %d of them after a later one",
		len(kills), len(c.accepted), lost, keyed, disordered)
	t.Logf("%d messages delivered, %d of them twice, %d without a kill in between",
		len(r.acceptedAt), twice, unexcused)
	unconfirmed := len(r.bodies) - len(c.accepted) + lost
	t.Logf("%d events without confirmation, of which %d were delivered", c.refused, unconfirmed)
	if lost > 0 || unexcused > 0 || disordered > 0 || len(c.accepted) == 0 {
		t.Error("a guarantee was violated")
	}
}

// subscribe prepares a data directory and returns a key for publishers.
func subscribe(t *testing.T, dir string, o *receiver) (key string) {
	t.Helper()
	d, err := daemontest.Open(dir, settings...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{URL: d.URL, Token: d.Key(t, "admin")})
	if err != nil {
		t.Fatal(err)
	}
	name := "all"
	subscriber, err := c.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		url := o.url + address
		event := address
		order := "none"
		if event == allEvents {
			event = "*"
		} else if address == flakyEvent {
			order = "key"
		}
		request := wire.SubscriptionRequest{URL: &url, EventName: &event, OrderBy: &order}
		if _, err := c.AddSubscription(context.Background(), subscriber.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
	key = d.Key(t, "publisher")
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	return key
}

// runAndKill starts a daemon and kills it after a while.
func runAndKill(t *testing.T, service *daemontest.Service) {
	t.Helper()
	end := time.NewTimer(rand.N(maxLifetime))
	service.Launch(t)
	<-end.C
	service.Kill(t)
}

// awaitNothingOpen waits until all messages are delivered.
func awaitNothingOpen(t *testing.T, dir string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: recoveryTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for range tick.C {
		open := count(t, conn, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL")
		if open == 0 {
			break
		}
		if time.Since(began) > recoveryTimeout {
			t.Fatalf("%d messages are open %v after the last start", open, recoveryTimeout)
		}
	}
	if failed := count(t, conn, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE Status <> 1"); failed > 0 {
		t.Errorf("%d messages were not delivered", failed)
	}
	t.Logf("all messages were delivered %v after the last start", time.Since(began).Round(100*time.Millisecond))
}

func count(t *testing.T, conn *sqlite.Conn, statement string) int64 {
	t.Helper()
	s, err := conn.Prepare(statement)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	return s.Int(0)
}
