package prove

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// scratchName matches the names of scratch schemas. They contain the time of creation,
// in seconds of the server's clock, and a random text.
var scratchName = regexp.MustCompile(`^whd_prove_(\d+)_[a-z0-9]{12}$`)

const (
	leaseTerm   = time.Hour
	dropTimeout = 10 * time.Second
)

// scratch is a schema with the service's own tables, as two processes use them.
type scratch struct {
	ctx    context.Context // of all checks
	store  appdb.Config
	maxAge time.Duration
	slower time.Duration
	tried  bool // to create it
	pool   *mssql.Server
	session
	name    string // of the schema; empty if there is none
	dbs     [2]*appdb.DB
	stores  [2]*sqlstore.Store
	held    [2]delivery.Lease
	sub     webhook.Subscription
	isReady bool // the next check can use it
}

// create drops the schemas that killed runs have left, and creates one.
func (s *scratch) create() (figure string, err error) {
	s.tried = true
	if s.pool, err = mssql.Open(mssql.Config{DSN: s.store.DSN, Connections: 1}); err != nil {
		return "", err
	}
	if s.session, err = connect(s.ctx, s.pool, dropTimeout+s.slower); err != nil {
		return "", err
	}
	clock, err := s.texts(s.ctx, "SELECT CONCAT(DATEDIFF(second, '2020-01-01', SYSUTCDATETIME()), '')")
	if err != nil {
		return "", err
	}
	now, err := strconv.Atoi(clock[0])
	if err != nil {
		return "", err
	}
	names, err := s.texts(s.ctx, "SELECT name FROM sys.schemas WHERE name LIKE 'whd[_]prove[_]%'")
	dropped := 0
	for _, name := range names {
		if parts := scratchName.FindStringSubmatch(name); parts != nil {
			if created, _ := strconv.Atoi(parts[1]); now-created >= int(s.maxAge.Seconds()) {
				err = errors.Join(err, s.drop(s.ctx, name))
				dropped++
			}
		}
	}
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("whd_prove_%d_%s", now, strings.ToLower(rand.Text()[:12]))
	err = s.exec(s.ctx, "EXEC(N'CREATE SCHEMA "+mssql.Quote(name)+"')")
	if e, refused := errors.AsType[*mssql.Error](err); refused && !e.Busy() && !e.Unavailable() {
		return "", notChecked("the login cannot create a schema (server error %d)", e.Number)
	}
	if s.isReady = err == nil; s.isReady {
		s.name = name
	}
	return fmt.Sprintf("created; %d of earlier runs dropped", dropped), err
}

// drop drops a scratch schema with its views and tables.
func (s *scratch) drop(ctx context.Context, schema string) error {
	drops, err := s.texts(ctx, "SELECT CONCAT(CASE TABLE_TYPE WHEN 'VIEW' THEN 'DROP VIEW ' ELSE 'DROP TABLE ' END, QUOTENAME(TABLE_SCHEMA), '.', QUOTENAME(TABLE_NAME)) "+
		"FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = @p1 ORDER BY TABLE_TYPE DESC", textParam(schema))
	for _, statement := range append(drops, "DROP SCHEMA "+mssql.Quote(schema)) {
		if err == nil {
			err = s.exec(ctx, statement)
		}
	}
	return err
}

// close drops the schema, also after the time limit or an interrupt. If it cannot, a
// later run does.
func (s *scratch) close() {
	for _, db := range s.dbs {
		if db != nil {
			db.Close()
		}
	}
	if s.name != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), dropTimeout+s.slower)
		defer cancel()
		s.drop(ctx, s.name)
		s.conn.Close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
}

// migrations opens the tables as two processes that start at the same time.
func (s *scratch) migrations() (figure string, err error) {
	start := time.Now()
	s.isReady = false
	c := s.store
	c.Schema, c.Migrate = s.name, true
	err = concurrently(2, func(i int) (err error) {
		if s.dbs[i], err = appdb.Open(s.ctx, c); err == nil {
			s.stores[i], err = sqlstore.Open(s.dbs[i], "")
		}
		return err
	})
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		return "", err
	}
	m, err := s.dbs[0].Migration(s.ctx)
	if err == nil && m.After != m.Latest {
		err = failed("version %d of %d", m.After, m.Latest)
	}
	if err == nil {
		err = s.subscribe(s.ctx)
	}
	s.isReady = err == nil
	return fmt.Sprintf("version %d in %v", m.After, took), err
}

// subscribe creates a subscription, and a lease for each store.
func (s *scratch) subscribe(ctx context.Context) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	subscriber, err := s.stores[0].AddSubscriber(ctx, admin.Subscriber{Name: "check", Enabled: true}, audit.Entry{At: now, Action: "check"})
	if err == nil {
		s.sub, err = s.stores[0].AddSubscription(ctx, webhook.Subscription{Subscriber: subscriber.GUID, Pattern: "*", URL: "https://localhost/", Enabled: true, SavedAt: now})
	}
	for i, store := range s.stores {
		if err == nil {
			s.held[i], err = store.Lease(ctx, leaseTerm)
		}
	}
	return err
}

// batch returns a batch of n events with a message each, for store i.
func (s *scratch) batch(ctx context.Context, i, n int) (b delivery.Batch, err error) {
	b.Leases = s.held[i : i+1]
	first, err := s.stores[i].AllocateIDs(ctx, 2*n)
	if err == nil {
		b.Version, err = s.stores[i].Version(ctx)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for id := first; id < first+2*int64(n); id += 2 {
		e := &webhook.Event{ID: id, GUID: appdb.NewGUID(), Name: "debtor.created", Body: []byte("{}"), AddedAt: now}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{ID: id + 1, GUID: appdb.NewGUID(), Event: e, Partition: s.held[i].Partition, Subscription: s.sub.ID, URL: s.sub.URL, State: webhook.State{Next: now}})
	}
	return b, err
}

// race writes n batches concurrently, by both stores in turn, and returns how many were
// written. change changes a batch before.
func (s *scratch) race(ctx context.Context, n int, change func(*delivery.Batch)) (written int64, err error) {
	var count atomic.Int64
	err = concurrently(n, func(i int) error {
		b, err := s.batch(ctx, i%2, 1)
		if err != nil {
			return err
		}
		change(&b)
		err = s.stores[i%2].Write(ctx, b)
		if errors.Is(err, delivery.ErrKeyTaken) || errors.Is(err, delivery.ErrOutboxTaken) || errors.Is(err, delivery.ErrFenced) {
			return nil
		}
		if err == nil {
			count.Add(1)
		}
		return err
	})
	return count.Load(), err
}

func (s *scratch) batches() (figure string, err error) {
	const n = 100
	start := time.Now()
	b, err := s.batch(s.ctx, 0, n)
	if err == nil {
		err = s.stores[0].Write(s.ctx, b)
	}
	if err != nil {
		return "", err
	}
	page := delivery.Page{Partition: s.held[0].Partition, Subscription: s.sub.ID, InOrder: true, Limit: 2 * n}
	open, err := s.stores[0].OpenMessages(s.ctx, page)
	done := delivery.Batch{Version: b.Version, Leases: b.Leases}
	for _, m := range open {
		done.Outcomes = append(done.Outcomes, webhook.AttemptResult{Message: m, After: webhook.State{Status: webhook.Successful, Attempts: 1}, Outcome: webhook.Outcome{Code: 200, Began: b.Events[0].AddedAt}})
	}
	if err == nil {
		err = s.stores[0].Write(s.ctx, done)
	}
	if err != nil {
		return "", err
	}
	left, err := s.stores[0].OpenMessages(s.ctx, page)
	if err == nil && (len(open) != n || len(left) > 0) {
		err = failed("%d messages written, %d read, %d left after their delivery", n, len(open), len(left))
	}
	return fmt.Sprintf("%d messages in %v", n, time.Since(start).Round(time.Millisecond)), err
}

func (s *scratch) leases() (figure string, err error) {
	const each = 2
	old, err := s.stores[0].Lease(s.ctx, -time.Minute) // has expired
	if err != nil {
		return "", err
	}
	var holders sync.Map
	err = concurrently(2*each, func(i int) error {
		l, err := s.stores[i%2].Lease(s.ctx, leaseTerm)
		if _, twice := holders.LoadOrStore(l.Partition, true); err == nil && (twice || l.Partition == s.held[0].Partition || l.Partition == s.held[1].Partition) {
			return failed("a partition is leased twice")
		}
		return err
	})
	if _, taken := holders.Load(old.Partition); err == nil && !taken {
		err = failed("an expired lease is not taken over")
	}
	if err != nil {
		return "", err
	}
	written, err := s.race(s.ctx, 1, func(b *delivery.Batch) {
		b.Leases, b.Messages[0].Partition = []delivery.Lease{old}, old.Partition
	})
	if written > 0 {
		err = failed("the earlier holder of a lease can write")
	}
	return fmt.Sprintf("%d leases by two connections", 2*each), err
}

func (s *scratch) races() (figure string, err error) {
	const rounds, writers = 2, 6
	for round := range byte(rounds) {
		written, err := s.race(s.ctx, writers, func(b *delivery.Batch) {
			b.Keys = []delivery.Key{{Hash: [32]byte{1, round}, Event: b.Events[0].GUID, Count: 1, Until: time.Now().Add(time.Hour)}}
		})
		if err == nil && written != 1 {
			err = failed("%d of %d writers of one key succeeded", written, writers)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d races of %d writers", rounds, writers), nil
}

// deadlocks has two transactions change two rows in opposite orders. At the first attempt
// each waits until the other has changed its first row.
func (s *scratch) deadlocks() (figure string, err error) {
	start := time.Now()
	names := []string{"ID", "MaxRetries"}
	var first sync.WaitGroup
	var attempts atomic.Int64
	first.Add(2)
	err = concurrently(2, func(i int) error {
		meet := sync.OnceFunc(func() { first.Done(); first.Wait() })
		return s.dbs[i].Transact(s.ctx, func(ctx context.Context, tx *sql.Tx) error {
			attempts.Add(1)
			for n := range names {
				_, err := tx.ExecContext(ctx, s.dbs[i].Qualify("UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name"), sql.Named("Name", names[(i+n)%2]))
				if meet(); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return fmt.Sprintf("2 transactions, %d attempts, %v", attempts.Load(), time.Since(start).Round(time.Millisecond)), err
}

func (s *scratch) outbox() (figure string, err error) {
	const rows = 3
	for range rows {
		if _, err := s.dbs[0].Exec(s.ctx, "INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.created', N'{}')"); err != nil {
			return "", err
		}
	}
	inserted, err := s.stores[0].ReadOutbox(s.ctx, 2*rows, nil)
	if err != nil {
		return "", err
	}
	written, err := s.race(s.ctx, 2, func(b *delivery.Batch) {
		for _, e := range inserted {
			b.Outbox = append(b.Outbox, e.ID)
		}
	})
	if err != nil {
		return "", err
	}
	left, err := s.stores[1].ReadOutbox(s.ctx, 2*rows, nil)
	if err == nil && (written != 1 || len(inserted) != rows || len(left) > 0) {
		err = failed("%d rows inserted, %d read, %d left; %d of 2 writers succeeded", rows, len(inserted), len(left), written)
	}
	return fmt.Sprintf("%d rows, each one event", rows), err
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = work(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}
