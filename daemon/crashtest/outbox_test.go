package crashtest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestOutboxAfterKills kills a daemon that publishes events of an outbox in another
// database than its store, at random moments and when a message arrives: the events are
// then stored, and their rows are about to be deleted. Concurrently, programs insert rows,
// the clock of the daemon changes by 25 hours, and the table is emptied and filled with
// rows that have the same IDs and bodies. Each committed row becomes exactly one event.
func TestOutboxAfterKills(t *testing.T) {
	if os.Getenv(mssqltest.Variable) == "" {
		t.Skip(mssqltest.Variable + " is not set")
	}
	shifted := buildWithShiftedClock(t)
	shifted.Env = []string{clockOffsetVariable + "=" + fmt.Sprint(int((25 * time.Hour).Seconds()))}
	t.Run("the store in files", func(t *testing.T) { newOutboxCrash(t, shifted, "").run(*rounds) })
	t.Run("the store in another database", func(t *testing.T) { newOutboxCrash(t, shifted, mssqltest.Database(t)).run(*rounds / 3) })
}

// outboxCrash is a daemon with the programs that insert into its outbox.
type outboxCrash struct {
	*testing.T
	programs [2]daemontest.Program // the second one has a shifted clock
	dir      string
	store    string // connection string, empty for files
	dsn      string // of the ERP
	erp      *sql.DB
	args     []string
	arrived  chan struct{} // a message has arrived

	truncating sync.RWMutex // locked while the table is emptied
	mu         sync.Mutex
	rows       map[string]int // committed rows, by body
	next       int
}

func newOutboxCrash(t *testing.T, shifted daemontest.Program, store string) *outboxCrash {
	t.Helper()
	o := &outboxCrash{T: t, programs: [2]daemontest.Program{{Path: ownPath(t)}, shifted}, dir: t.TempDir(), store: store, dsn: mssqltest.Database(t),
		arrived: make(chan struct{}, 1), rows: make(map[string]int)}
	for _, batch := range mssqltest.Batches(t, "../../cmd/daemon/deploy/outbox.sql") {
		if !strings.Contains(batch, "GRANT") {
			mssqltest.Exec(t, o.dsn, batch)
		}
	}
	server, err := mssql.Open(mssql.Config{DSN: o.dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	o.erp = server.DB()
	o.args = append([]string{"--erp", o.dsn, "--erp-outbox", "whd.WH_Outbox", "--webhooks-outbox-poll", "20ms"}, settings...)
	if store != "" {
		o.args = append(o.args, "--store", store, "--migrate", "--webhooks-connect-timeout", "1s", "--webhooks-attempt-timeout", "1s", "--webhooks-lease", "3s")
	}
	o.subscribe()
	return o
}

// subscribe subscribes a receiver to all events.
func (o *outboxCrash) subscribe() {
	o.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case o.arrived <- struct{}{}:
		default:
		}
	}))
	o.Cleanup(receiver.Close)
	d, err := daemontest.Open(o.dir, o.args...)
	if err != nil {
		o.Fatal(err)
	}
	c, err := client.New(client.Options{URL: d.URL})
	if err != nil {
		o.Fatal(err)
	}
	ctx := context.Background()
	name := "all"
	event := "*"
	if _, err := c.Login(ctx, "admin", daemontest.AdminPassword); err != nil {
		o.Fatal(err)
	}
	s, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	if err != nil {
		o.Fatal(err)
	}
	if _, err := c.AddSubscription(ctx, s.RecID, wire.SubscriptionRequest{URL: &receiver.URL, EventName: &event}); err != nil {
		o.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		o.Fatal(err)
	}
}

func (o *outboxCrash) run(kills int) {
	stop := make(chan struct{})
	var programs sync.WaitGroup
	for range 2 {
		programs.Go(func() { o.insertUntil(stop) })
	}
	var marked, shifted, emptied int
	for n := range max(kills, 2) {
		program := o.programs[n%4/3]
		shifted += n % 4 / 3
		o.runAndKill(program, n%2 == 1)
		marks := o.marks()
		if len(marks) > 0 {
			marked++
		}
		if n%5 == 1 {
			o.empty(marks)
			emptied++
		}
	}
	close(stop)
	programs.Wait()
	o.drain()
	events, rows := 0, 0
	got := o.events()
	for _, body := range slices.Sorted(maps.Keys(o.rows)) {
		events += got[body]
		rows += o.rows[body]
		if got[body] != o.rows[body] {
			o.Errorf("%q has %d rows and %d events", body, o.rows[body], got[body])
		}
		delete(got, body)
	}
	if len(got) > 0 {
		o.Errorf("events without rows: %v", got)
	}
	o.Logf("%d kills, %d of them between publishing and deleting rows; %d times the clock was 25 hours ahead and %d times the table was emptied: %d committed rows, %d events",
		max(kills, 2), marked, shifted, emptied, rows, events)
}

// runAndKill starts a daemon and kills it after a while, or when a message has arrived.
func (o *outboxCrash) runAndKill(program daemontest.Program, atArrival bool) {
	o.Helper()
	p, err := program.Launch(o.dir, o.args...)
	if err != nil {
		o.Fatal(err)
	}
	if atArrival {
		if err := p.Await(); err != nil {
			o.Fatal(err)
		}
		for range 1 + rand.N(3) {
			select {
			case <-o.arrived:
			default:
			}
			select {
			case <-o.arrived:
			case <-time.After(recoveryTimeout):
				o.Error("no message arrives")
			}
		}
		time.Sleep(rand.N(10 * time.Millisecond))
	} else {
		time.Sleep(rand.N(maxLifetime))
	}
	if err := p.Kill(); err != nil {
		o.Fatal(err)
	}
}

// insertUntil inserts rows in transactions of several kinds.
func (o *outboxCrash) insertUntil(stop <-chan struct{}) {
	commit := func(tx *sql.Tx) error { return tx.Commit() }
	inserts := []func() error{
		func() error { return o.insert(commit, o.body()) },
		func() error { return o.insert(commit, o.body(), o.body(), o.body()) },
		func() error { return o.insert(func(tx *sql.Tx) error { return tx.Rollback() }, "rolled back") },
		func() error { // a row with a higher ID is committed first
			return o.insert(func(tx *sql.Tx) error {
				if err := o.insert(commit, o.body()); err != nil {
					return err
				}
				time.Sleep(rand.N(100 * time.Millisecond))
				return tx.Commit()
			}, o.body())
		},
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(rand.N(20 * time.Millisecond)):
		}
		insert := inserts[rand.IntN(len(inserts))]
		o.truncating.RLock()
		err := insert()
		o.truncating.RUnlock()
		if err != nil {
			o.Error(err)
			return
		}
	}
}

// body returns a new body.
func (o *outboxCrash) body() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next++
	return fmt.Sprint("event ", o.next)
}

// insert inserts rows in a transaction. They count unless it is rolled back.
func (o *outboxCrash) insert(end func(*sql.Tx) error, bodies ...string) error {
	tx, err := o.erp.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after end
	for _, body := range bodies {
		if _, err := tx.Exec(`INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', @Body)`, sql.Named("Body", body)); err != nil {
			return err
		}
	}
	if err := end(tx); err != nil {
		return err
	}
	o.count(bodies...)
	return nil
}

func (o *outboxCrash) count(bodies ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range bodies {
		if body != "rolled back" {
			o.rows[body]++
		}
	}
}

// marks returns the GUIDs of published rows that may still be in the table.
func (o *outboxCrash) marks() map[string]bool {
	o.Helper()
	marks := make(map[string]bool)
	for guid := range o.stored("SELECT EventGUID, 1 FROM whd.WH_OutboxTaken") {
		marks[guid] = true
	}
	return marks
}

// events returns the numbers of events by body.
func (o *outboxCrash) events() map[string]int {
	o.Helper()
	return o.stored("SELECT CAST(Body AS nvarchar(100)), COUNT(*) FROM whd.WH_Event GROUP BY CAST(Body AS nvarchar(100))")
}

// stored returns the pairs of a text and a number that a statement selects from the store.
// No daemon may run.
func (o *outboxCrash) stored(statement string) map[string]int {
	o.Helper()
	all := make(map[string]int)
	if o.store == "" {
		conn, err := sqlite.Open(filepath.Join(o.dir, "whd.db"), sqlite.Options{Existing: true, BusyTimeout: recoveryTimeout})
		if err != nil {
			o.Fatal(err)
		}
		defer conn.Close()
		err = conn.Query(strings.NewReplacer("whd.", "", "nvarchar(100)", "TEXT").Replace(statement), func(s *sqlite.Stmt) error {
			all[s.Text(0)] = int(s.Int(1))
			return nil
		})
		if err != nil {
			o.Fatal(err)
		}
		return all
	}
	mssqltest.AwaitSessions(o, o.store, 0) // a statement of a killed daemon may go on
	server, err := mssql.Open(mssql.Config{DSN: o.store, Connections: 1})
	if err != nil {
		o.Fatal(err)
	}
	defer server.Close()
	rows, err := server.DB().Query(statement)
	if err != nil {
		o.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var n int
		if err := rows.Scan(&text, &n); err != nil {
			o.Fatal(err)
		}
		all[text] = n
	}
	if err := rows.Err(); err != nil {
		o.Fatal(err)
	}
	return all
}

// empty empties the table, so that IDs start again. It then inserts the bodies of rows that
// were not published, some of those that were, and others.
func (o *outboxCrash) empty(marks map[string]bool) {
	o.Helper()
	o.truncating.Lock()
	defer o.truncating.Unlock()
	rows, err := o.erp.Query(`SELECT CAST(EventGUID AS nvarchar(36)), Body FROM whd.WH_Outbox ORDER BY OutboxID`)
	if err != nil {
		o.Fatal(err)
	}
	defer rows.Close()
	var published, unpublished []string
	for rows.Next() {
		var guid, body string
		if err := rows.Scan(&guid, &body); err != nil {
			o.Fatal(err)
		}
		if marks[strings.ToLower(guid)] {
			published = append(published, body)
		} else {
			unpublished = append(unpublished, body)
		}
	}
	if err := rows.Err(); err != nil {
		o.Fatal(err)
	}
	if _, err := o.erp.Exec(`TRUNCATE TABLE whd.WH_Outbox`); err != nil {
		o.Fatal(err)
	}
	inserted := slices.Concat(published[len(published)/2:], unpublished, []string{o.body(), o.body()})
	if err := o.insert(func(tx *sql.Tx) error { return tx.Commit() }, inserted...); err != nil {
		o.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range unpublished { // inserted twice, and removed once before it was published
		o.rows[body]--
	}
}

// drain runs a daemon until the table is empty.
func (o *outboxCrash) drain() {
	o.Helper()
	p, err := o.programs[0].Launch(o.dir, o.args...)
	if err != nil {
		o.Fatal(err)
	}
	if err := p.Await(); err != nil {
		o.Fatal(err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		rows, marks := mssqltest.Count(o, o.dsn, "SELECT COUNT(*) FROM whd.WH_Outbox"), o.countMarks()
		if rows == 0 && marks == 0 {
			break
		}
		if time.Since(began) > recoveryTimeout {
			o.Errorf("%d rows and %d marks are left %v after the last start", rows, marks, recoveryTimeout)
			break
		}
	}
	if err := p.Stop(); err != nil {
		o.Error(err)
	}
}

// countMarks counts the marks while a daemon runs.
func (o *outboxCrash) countMarks() int64 {
	o.Helper()
	if o.store != "" {
		return mssqltest.Count(o, o.store, "SELECT COUNT(*) FROM whd.WH_OutboxTaken")
	}
	conn, err := sqlite.Open(filepath.Join(o.dir, "whd.db"), sqlite.Options{ReadOnly: true, BusyTimeout: recoveryTimeout})
	if err != nil {
		o.Fatal(err)
	}
	defer conn.Close()
	return count(o.T, conn, "SELECT COUNT(*) FROM WH_OutboxTaken")
}
