package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// Of two daemons each attempt may last as long as attemptLimit. Their leases are
// as short as that allows, and a freeze is longer than both.
const (
	attemptLimit = 4 * time.Second
	leaseTerm    = 3 * attemptLimit
	freezeSpan   = leaseTerm + attemptLimit + time.Second
)

// shortLogin is how long logins last: less than clocks may differ.
const shortLogin = 30 * time.Minute

// pair is two daemons on one server, with callers and a bureau.
type pair struct {
	dsn     string
	posts   []*post
	bureau  *bureau
	callers *callers
	clients []*client.Client // one of an admin at each daemon, where a test needs them
	met     disturbances
}

// TestTwoDaemonsKeepTheirPromises kills one of two daemons at random moments, or
// has it stand still for longer than its lease.
func TestTwoDaemonsKeepTheirPromises(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	p := openPair(t, daemontest.Program{}, daemontest.Program{})
	p.trouble(t, *rounds)
	p.conclude(t)
}

// openPair starts a daemon of each program on a database of their own. Where a
// program has no path it is this one.
func openPair(t *testing.T, programs ...daemontest.Program) *pair {
	t.Helper()
	p := &pair{dsn: mssqltest.Database(t), bureau: openBureau(t)}
	args := append([]string{"--store", p.dsn, "--migrate", "--auth-session", shortLogin.String(),
		"--webhooks-attempt-timeout", attemptLimit.String(), "--webhooks-lease", leaseTerm.String()}, settings...)
	for _, program := range programs {
		if program.Path == "" {
			program.Path = ownPath(t)
		}
		p.posts = append(p.posts, &post{dir: t.TempDir(), program: program, args: args})
	}
	key := p.prepare(t)
	for _, post := range p.posts {
		post.launch(t)
		t.Cleanup(func() { _ = post.process.Kill() }) // of a test that has failed
	}
	p.await(t)
	p.callers = call(t, key, p.posts)
	return p
}

// await waits until both daemons listen.
func (p *pair) await(t *testing.T) {
	t.Helper()
	for _, post := range p.posts {
		post.await(t)
	}
}

func ownPath(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// prepare subscribes the bureau's addresses and gives a key for publishers.
func (p *pair) prepare(t *testing.T) (key string) {
	t.Helper()
	ctx := context.Background()
	d, err := daemontest.Open(p.posts[0].dir, p.posts[0].args...)
	if err != nil {
		t.Fatal(err)
	}
	c := signedIn(t, d.URL)
	name := "everybody"
	subscriber, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for address, event := range map[string]string{plain: "*", failing: ofMany, inOrder: ofOne} {
		url, ordered := p.bureau.url+address, address == inOrder
		if _, err := c.AddSubscription(ctx, subscriber.RecID, wire.SubscriptionRequest{URL: &url, EventName: &event, Ordered: &ordered}); err != nil {
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

// workBetween is how many deliveries lie between two rounds, so that each meets
// work.
const workBetween = 20

// trouble kills and freezes daemons.
func (p *pair) trouble(t *testing.T, rounds int) {
	t.Helper()
	for n := range rounds {
		p.bureau.breakDown(n%3 == 1)
		if n%4 != 1 { // else one that was just launched may be killed before it listens
			p.await(t)
		}
		if !p.bureau.await(workBetween) {
			t.Fatalf("nothing is delivered any more after %d rounds;\n%s", n, p.said(t))
		}
		<-time.After(rand.N(longest))
		victim := p.posts[rand.IntN(len(p.posts))]
		if canFreeze && n%5 == 2 {
			p.met = append(p.met, victim.freeze(t, p.bureau, freezeSpan))
			continue
		}
		p.met = append(p.met, victim.kill(t, p.bureau))
		victim.launch(t)
	}
	p.bureau.breakDown(false)
}

// conclude waits until nothing is open, ends the daemons and judges.
func (p *pair) conclude(t *testing.T) {
	t.Helper()
	p.await(t)
	p.callers.disperse()
	p.awaitNothingOpen(t)
	var taken []time.Time
	for _, post := range p.posts {
		post.stop(t)
		for _, at := range post.logged(t, "took over messages") {
			taken = append(taken, at.Add(-post.ahead))
		}
	}
	t.Logf("messages were taken over %d times", len(taken))
	p.bureau.judge(p.met, taken, p.callers.accepted).report(t, p.met, p.callers)
}

// log is all that the post's daemons have logged.
func (p *post) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "process.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// said is what the daemons have logged last.
func (p *pair) said(t *testing.T) string {
	t.Helper()
	const enough = 2000
	var all string
	for n, post := range p.posts {
		text := post.log(t)
		all += fmt.Sprintf("daemon %d: %s\n", n, text[max(0, len(text)-enough):])
	}
	return all
}

// awaitNothingOpen waits until every message was delivered.
func (p *pair) awaitNothingOpen(t *testing.T) {
	t.Helper()
	began := time.Now()
	for p.count(t, "SELECT COUNT(*) FROM whd.SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL") > 0 {
		if time.Since(began) > bound {
			t.Fatalf("messages are open %v after the last round;\n%s", bound, p.said(t))
		}
		<-time.After(200 * time.Millisecond)
	}
	// One statement, since an event whose caller went without an answer may be stored between two.
	if failed := p.count(t, "SELECT COUNT(*) FROM whd.SY_WebhookMessage WHERE Status <> 1 AND NextAttemptDateTime IS NULL"); failed > 0 {
		t.Errorf("%d messages were not delivered", failed)
	}
	t.Logf("nothing was open %v after the last round", time.Since(began).Round(100*time.Millisecond))
}

// count is the number that a statement gives on the server.
func (p *pair) count(t *testing.T, statement string) int64 {
	t.Helper()
	return mssqltest.Count(t, p.dsn, statement)
}
