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
	t.Run("the store in files", func(t *testing.T) {
		newOutboxCrash(t, shifted, "").run(*rounds)
	})
	t.Run("the store in another database", func(t *testing.T) {
		newOutboxCrash(t, shifted, mssqltest.Database(t)).run(*rounds / 3)
	})
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
	next       int            // number of the last body
}

// newOutboxCrash prepares the outbox and a store with a subscription to all events.
func newOutboxCrash(t *testing.T, shifted daemontest.Program, store string) *outboxCrash {
	t.Helper()
	o := &outboxCrash{
		T:        t,
		programs: [2]daemontest.Program{{Path: daemontest.Executable(t)}, shifted},
		dir:      t.TempDir(),
		store:    store,
		dsn:      mssqltest.Database(t),
		arrived:  make(chan struct{}, 1),
		rows:     make(map[string]int),
	}
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
	o.args = append([]string{
		"--erp", o.dsn,
		"--erp-outbox", "whd.WH_Outbox",
		"--webhooks-outbox-poll", "20ms",
	}, settings...)
	if store != "" {
		o.args = append(o.args,
			"--store", store,
			"--migrate",
			"--webhooks-connect-timeout", "1s",
			"--webhooks-attempt-timeout", "1s",
			"--webhooks-lease", "3s")
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
	_, err = c.Login(ctx, "admin", daemontest.AdminPassword)
	if err != nil {
		o.Fatal(err)
	}
	subscriber, event := "all", "*"
	s, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &subscriber})
	if err != nil {
		o.Fatal(err)
	}
	request := wire.SubscriptionRequest{URL: &receiver.URL, EventName: &event}
	_, err = c.AddSubscription(ctx, s.RecID, request)
	if err != nil {
		o.Fatal(err)
	}
	if err := d.Stop(); err != nil {
		o.Fatal(err)
	}
}

// run kills daemons while programs insert rows, and compares the events with the committed rows.
func (o *outboxCrash) run(kills int) {
	kills = max(kills, 2)
	stop := make(chan struct{})
	var programs sync.WaitGroup
	for range 2 {
		programs.Go(func() { o.insertUntil(stop) })
	}
	// These are numbers of kills.
	var marked, shifted, emptied int
	for n := range kills {
		program := o.programs[0]
		if n%4 == 3 {
			program = o.programs[1]
			shifted++
		}
		if n%2 == 1 {
			o.killAtArrival(program)
		} else {
			o.killAtRandom(program)
		}
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
	o.Logf("%d kills, %d of them between publishing and deleting rows; %d times the clock was 25 hours ahead and %d times the table was emptied",
		kills, marked, shifted, emptied)
	o.compare()
}

// compare checks that each committed row has become one event.
func (o *outboxCrash) compare() {
	o.Helper()
	totalEvents, totalRows := 0, 0
	events := o.events()
	for _, body := range slices.Sorted(maps.Keys(o.rows)) {
		totalEvents += events[body]
		totalRows += o.rows[body]
		if events[body] != o.rows[body] {
			o.Errorf("%q has %d events, want %d, as many as committed rows", body, events[body], o.rows[body])
		}
		delete(events, body)
	}
	if len(events) > 0 {
		o.Errorf("there are events without rows: %v", events)
	}
	o.Logf("%d committed rows, %d events", totalRows, totalEvents)
}

// killAtRandom starts a daemon and kills it after a while.
func (o *outboxCrash) killAtRandom(program daemontest.Program) {
	o.Helper()
	p, err := program.Launch(o.dir, o.args...)
	if err != nil {
		o.Fatal(err)
	}
	time.Sleep(rand.N(maxLifetime))
	if err := p.Kill(); err != nil {
		o.Fatal(err)
	}
}

// killAtArrival starts a daemon and kills it when up to three messages have arrived.
func (o *outboxCrash) killAtArrival(program daemontest.Program) {
	o.Helper()
	p, err := program.Launch(o.dir, o.args...)
	if err != nil {
		o.Fatal(err)
	}
	if err := p.Await(); err != nil {
		o.Fatal(err)
	}
	for range 1 + rand.N(3) {
		o.awaitMessage()
	}
	time.Sleep(rand.N(10 * time.Millisecond))
	if err := p.Kill(); err != nil {
		o.Fatal(err)
	}
}

// awaitMessage waits until another message arrives.
func (o *outboxCrash) awaitMessage() {
	o.Helper()
	select {
	case <-o.arrived: // earlier
	default:
	}
	select {
	case <-o.arrived:
	case <-time.After(recoveryTimeout):
		o.Errorf("no message arrives within %v", recoveryTimeout)
	}
}

// insertUntil inserts rows in transactions of several kinds.
func (o *outboxCrash) insertUntil(stop <-chan struct{}) {
	inserts := []func() error{
		func() error { return o.insert((*sql.Tx).Commit, o.body()) },
		func() error { return o.insert((*sql.Tx).Commit, o.body(), o.body(), o.body()) },
		func() error { return o.insert((*sql.Tx).Rollback, rolledBack) },
		func() error { return o.insert(o.commitAfterAnother, o.body()) },
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

// commitAfterAnother commits a transaction after another one with a higher ID.
func (o *outboxCrash) commitAfterAnother(tx *sql.Tx) error {
	err := o.insert((*sql.Tx).Commit, o.body())
	if err != nil {
		return err
	}
	time.Sleep(rand.N(100 * time.Millisecond))
	return tx.Commit()
}

// rolledBack is the body of rows that are never committed.
const rolledBack = "rolled back"

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
		_, err := tx.Exec(`INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', @Body)`,
			sql.Named("Body", body))
		if err != nil {
			return err
		}
	}
	err = end(tx)
	if err != nil {
		return err
	}
	o.count(bodies...)
	return nil
}

// count counts committed rows.
func (o *outboxCrash) count(bodies ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range bodies {
		if body != rolledBack {
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
	if o.store == "" {
		return o.storedInFile(statement)
	}
	return o.storedOnServer(statement)
}

func (o *outboxCrash) storedInFile(statement string) map[string]int {
	o.Helper()
	options := sqlite.Options{Existing: true, BusyTimeout: recoveryTimeout}
	conn, err := sqlite.Open(filepath.Join(o.dir, "whd.db"), options)
	if err != nil {
		o.Fatal(err)
	}
	defer conn.Close()
	numbers := make(map[string]int)
	inFile := strings.NewReplacer("whd.", "", "nvarchar(100)", "TEXT").Replace(statement)
	err = conn.Query(inFile, func(s *sqlite.Stmt) error {
		numbers[s.Text(0)] = int(s.Int(1))
		return nil
	})
	if err != nil {
		o.Fatal(err)
	}
	return numbers
}

func (o *outboxCrash) storedOnServer(statement string) map[string]int {
	o.Helper()
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
	numbers := make(map[string]int)
	for rows.Next() {
		var text string
		var n int
		if err := rows.Scan(&text, &n); err != nil {
			o.Fatal(err)
		}
		numbers[text] = n
	}
	if err := rows.Err(); err != nil {
		o.Fatal(err)
	}
	return numbers
}

// empty empties the table, so that IDs start again. It then inserts the bodies of rows that
// were not published, some of those that were, and others.
func (o *outboxCrash) empty(marks map[string]bool) {
	o.Helper()
	o.truncating.Lock()
	defer o.truncating.Unlock()
	published, unpublished := o.outbox(marks)
	_, err := o.erp.Exec(`TRUNCATE TABLE whd.WH_Outbox`)
	if err != nil {
		o.Fatal(err)
	}
	inserted := slices.Concat(published[len(published)/2:], unpublished)
	err = o.insert((*sql.Tx).Commit, append(inserted, o.body(), o.body())...)
	if err != nil {
		o.Fatal(err)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range unpublished { // inserted twice, and removed once before it was published
		o.rows[body]--
	}
}

// outbox returns the bodies of the rows in the table, with and without marks.
func (o *outboxCrash) outbox(marks map[string]bool) (published, unpublished []string) {
	o.Helper()
	rows, err := o.erp.Query(`SELECT CAST(EventGUID AS nvarchar(36)), Body FROM whd.WH_Outbox ORDER BY OutboxID`)
	if err != nil {
		o.Fatal(err)
	}
	defer rows.Close()
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
	return published, unpublished
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
	for start := time.Now(); ; <-tick.C {
		rows := mssqltest.Count(o, o.dsn, "SELECT COUNT(*) FROM whd.WH_Outbox")
		marks := o.countMarks()
		if rows == 0 && marks == 0 {
			break
		}
		if time.Since(start) > recoveryTimeout {
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
