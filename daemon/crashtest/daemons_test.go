package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// With two daemons, attempts are limited by attemptLimit. Leases are as short as that
// allows, and a freeze is longer than both.
const (
	attemptLimit = 4 * time.Second
	leaseTerm    = 3 * attemptLimit
	freezeSpan   = leaseTerm + attemptLimit + time.Second
)

// shortLogin is the validity of logins: less than the clock difference.
const shortLogin = 30 * time.Minute

// cluster is two daemons on one server, with publishers and a receiver.
type cluster struct {
	dsn          string
	nodes        []*node
	receiver     *recordingReceiver
	publishers   *failoverPublishers
	clients      []*client.Client // an administrator's client for each daemon, if a test needs them
	disturbances disturbances
}

// TestDeliveryGuaranteesOfTwoDaemons kills one of two daemons at random moments, or
// suspends it for longer than its lease.
func TestDeliveryGuaranteesOfTwoDaemons(t *testing.T) {
	p := newCluster(t, daemontest.Program{}, daemontest.Program{})
	p.disturb(t, *rounds)
	p.finish(t)
}

// newCluster starts a daemon of each program on a shared, new database. A program
// without a path is this test binary.
func newCluster(t *testing.T, programs ...daemontest.Program) *cluster {
	t.Helper()
	p := &cluster{dsn: mssqltest.Database(t), receiver: newRecordingReceiver(t)}
	args := slices.Concat(settings, []string{
		"--store", p.dsn,
		"--migrate",
		"--auth-session", shortLogin.String(),
		"--webhooks-connect-timeout", attemptLimit.String(),
		"--webhooks-attempt-timeout", attemptLimit.String(),
		"--webhooks-lease", leaseTerm.String(),
	})
	for _, program := range programs {
		p.nodes = append(p.nodes, &node{
			Service: daemontest.Service{Dir: t.TempDir(), Program: program, Args: args},
		})
	}
	key := p.prepare(t)
	for _, post := range p.nodes {
		post.Launch(t)
	}
	p.await(t)
	p.publishers = startFailoverPublishers(t, key, p.nodes)
	return p
}

// await waits until both daemons listen.
func (p *cluster) await(t *testing.T) {
	t.Helper()
	for _, post := range p.nodes {
		post.AwaitRestarting(t)
	}
}

// prepare subscribes the receiver's addresses and returns a key for publishers.
func (p *cluster) prepare(t *testing.T) (key string) {
	t.Helper()
	ctx := context.Background()
	d, err := daemontest.Open(p.nodes[0].Dir, p.nodes[0].Args...)
	if err != nil {
		t.Fatal(err)
	}
	c := signedIn(t, d.URL)
	name := "all"
	subscriber, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ address, event, order string }{
		{addressPlain, "*", "none"},
		{addressFailing, concurrentEvent, "none"},
		{addressOrdered, orderedEvent, "subscription"},
		{addressKeyed, concurrentEvent, "key"},
	} {
		request := wire.SubscriptionRequest{URL: new(p.receiver.url + s.address), EventName: &s.event, OrderBy: &s.order}
		if _, err := c.AddSubscription(ctx, subscriber.RecID, request); err != nil {
			t.Fatal(err)
		}
	}
	made, err := c.AddAPIKey(ctx, wire.APIKeyRequest{Name: "callers", Role: "publisher"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}
	return made.Key
}

func signedIn(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Login(context.Background(), "admin", daemontest.AdminPassword); err != nil {
		t.Fatal(err)
	}
	return c
}

// deliveriesPerRound is the number of deliveries between two rounds, so that each
// disturbs running work.
const deliveriesPerRound = 20

// disturb kills and freezes daemons.
func (p *cluster) disturb(t *testing.T, rounds int) {
	t.Helper()
	for n := range rounds {
		p.receiver.setFailing(n%3 == 1)
		if n%4 != 1 { // otherwise a daemon may be killed before it listens
			p.await(t)
		}
		if !p.receiver.await(deliveriesPerRound) {
			t.Fatalf("no deliveries after %d rounds;\n%s", n, p.lastLogs(t))
		}
		<-time.After(rand.N(maxLifetime))
		victim := p.nodes[rand.IntN(len(p.nodes))]
		if daemontest.CanFreeze && n%5 == 2 {
			p.disturbances = append(p.disturbances, victim.freeze(t, p.receiver, freezeSpan))
			continue
		}
		p.disturbances = append(p.disturbances, victim.kill(t, p.receiver))
		victim.Launch(t)
	}
	p.receiver.setFailing(false)
}

// finish waits until all messages are delivered, stops the daemons and evaluates the
// records.
func (p *cluster) finish(t *testing.T) {
	t.Helper()
	p.await(t)
	p.publishers.stop()
	p.awaitNothingOpen(t)
	var taken []time.Time
	for _, post := range p.nodes {
		post.Stop(t)
		for _, logged := range post.LogTimes(t, "took over partitions") {
			taken = append(taken, logged.Add(-post.clockOffset))
		}
	}
	t.Logf("messages were taken over %d times", len(taken))
	expectCounted(t, "of both daemons", func(statement string) int64 { return p.count(t, statement) })
	p.receiver.evaluate(p.disturbances, taken, p.publishers.accepted).report(t, p.disturbances, p.publishers)
}

// lastLogs returns the end of the daemons' logs.
func (p *cluster) lastLogs(t *testing.T) string {
	t.Helper()
	const enough = 2000
	var all string
	for n, post := range p.nodes {
		text := post.ReadLog(t)
		all += fmt.Sprintf("daemon %d: %s\n", n, text[max(0, len(text)-enough):])
	}
	return all
}

// awaitNothingOpen waits until all messages are delivered.
func (p *cluster) awaitNothingOpen(t *testing.T) {
	t.Helper()
	began := time.Now()
	for p.count(t, "SELECT COUNT(*) FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL") > 0 {
		if time.Since(began) > recoveryTimeout {
			t.Fatalf("messages are open %v after the last round;\n%s", recoveryTimeout, p.lastLogs(t))
		}
		<-time.After(200 * time.Millisecond)
	}
	// One statement, since an event without a response may be stored between two.
	if failed := p.count(t, "SELECT COUNT(*) FROM whd.SY_WebhookMessage WHERE Status <> 1 AND NextAttemptDateTime IS NULL"); failed > 0 {
		t.Errorf("%d messages were not delivered", failed)
	}
	t.Logf("all messages were delivered %v after the last round", time.Since(began).Round(100*time.Millisecond))
}

// count returns the result of a statement on the server.
func (p *cluster) count(t *testing.T, statement string) int64 {
	t.Helper()
	return mssqltest.Count(t, p.dsn, statement)
}
