package prove

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	Options
	ctx     context.Context // context of all checks
	db      *appdb.DB       // creates and drops schemas
	name    string          // name of the schema; empty if there is none
	version int64           // version of the subscriptions

	// The two processes, each with a lease, and the subscription that all messages are for.
	dbs          [2]*appdb.DB
	stores       [2]*sqlstore.Store
	leased       [2]delivery.Lease
	subscription webhook.Subscription
}

// create drops the schemas that killed runs have left, and creates one.
func (s *scratch) create() (figure string, err error) {
	s.db, err = appdb.OpenSchema(s.ctx, s.Store)
	if err != nil {
		return "", err
	}
	now, err := s.db.QueryInt(s.ctx, "SELECT DATEDIFF(second, '2020-01-01', SYSUTCDATETIME())")
	if err != nil {
		return "", err
	}
	dropped, err := s.dropOld(now)
	if err != nil {
		return "", err
	}

	name := fmt.Sprintf("whd_prove_%d_%s", now, strings.ToLower(rand.Text()[:12]))
	_, err = s.db.Exec(s.ctx, "EXEC(N'CREATE SCHEMA "+mssql.Quote(name)+"')")
	if e, refused := errors.AsType[*mssql.Error](err); refused && !e.Busy() && !e.Unavailable() {
		return "", notChecked("the login cannot create a schema (server error %d)", e.Number)
	}
	if err != nil {
		return "", err
	}
	s.name = name
	return fmt.Sprintf("created; %d of earlier runs dropped", dropped), nil
}

// dropOld drops the scratch schemas that are older than MaxAge at a time, in seconds of the
// server's clock, and returns their number.
func (s *scratch) dropOld(now int64) (dropped int, err error) {
	names, err := appdb.QueryAll(s.ctx, s.db, scanText,
		"SELECT name FROM sys.schemas WHERE name LIKE 'whd[_]prove[_]%'")
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, name := range names {
		parts := scratchName.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		createdAt, _ := strconv.ParseInt(parts[1], 10, 64) // digits only
		if now-createdAt >= int64(s.MaxAge.Seconds()) {
			errs = append(errs, s.drop(s.ctx, name))
			dropped++
		}
	}
	return dropped, errors.Join(errs...)
}

func scanText(row appdb.Row) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// drop drops a scratch schema with its views and tables.
func (s *scratch) drop(ctx context.Context, schema string) error {
	const dropsSQL = "SELECT CONCAT(CASE TABLE_TYPE WHEN 'VIEW' THEN 'DROP VIEW ' ELSE 'DROP TABLE ' END, " +
		"QUOTENAME(TABLE_SCHEMA), '.', QUOTENAME(TABLE_NAME)) " +
		"FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = @Schema ORDER BY TABLE_TYPE DESC"
	drops, err := appdb.QueryAll(ctx, s.db, scanText, dropsSQL, sql.Named("Schema", schema))
	if err != nil {
		return err
	}
	for _, statement := range append(drops, "DROP SCHEMA "+mssql.Quote(schema)) {
		if _, err := s.db.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), dropTimeout+s.Slower)
		defer cancel()
		s.drop(ctx, s.name)
	}
	if s.db != nil {
		s.db.Close()
	}
}

// migrations opens the tables as two processes that start at the same time.
func (s *scratch) migrations() (figure string, err error) {
	c := s.Store
	c.Schema = s.name
	c.Migrate = true
	err = concurrently(len(s.dbs), func(i int) error { return s.open(i, c) })
	if err != nil {
		return "", err
	}
	m, err := s.dbs[0].Migration(s.ctx)
	if err != nil {
		return "", err
	}
	if m.After != m.Latest {
		return "", failed("version %d of %d", m.After, m.Latest)
	}
	if err := s.subscribe(); err != nil {
		return "", err
	}
	s.version, err = s.stores[0].Engine.Version(s.ctx)
	return fmt.Sprintf("version %d", m.After), err
}

// open opens the tables and takes a lease, as process i.
func (s *scratch) open(i int, c appdb.Config) (err error) {
	s.dbs[i], err = appdb.Open(s.ctx, c)
	if err != nil {
		return err
	}
	s.stores[i], err = sqlstore.Open(s.dbs[i], "")
	if err != nil {
		return err
	}
	s.leased[i], err = s.stores[i].Engine.Lease(s.ctx, leaseTerm)
	return err
}

// subscribe adds the subscription that all messages are for.
func (s *scratch) subscribe() error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	subscriber, err := s.stores[0].Admin.AddSubscriber(s.ctx,
		admin.Subscriber{Name: "check", Enabled: true},
		audit.Entry{At: now, Action: "check"})
	if err != nil {
		return err
	}
	s.subscription, err = s.stores[0].Admin.AddSubscription(s.ctx, webhook.Subscription{
		Subscriber: subscriber.GUID,
		Pattern:    "*",
		URL:        "https://localhost/",
		Enabled:    true,
		SavedAt:    now,
	}, nil)
	return err
}

// batch returns a batch of n events with a message each, of process i.
func (s *scratch) batch(i, n int) (delivery.Batch, error) {
	id, err := s.stores[i].Engine.AllocateIDs(s.ctx, 2*n)
	if err != nil {
		return delivery.Batch{}, err
	}
	b := delivery.Batch{Version: s.version, Leases: s.leased[i : i+1]}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for range n {
		event := &webhook.Event{
			ID:      id,
			GUID:    appdb.NewGUID(),
			Name:    "debtor.created",
			Body:    []byte("{}"),
			AddedAt: now,
		}
		b.Events = append(b.Events, event)
		b.Messages = append(b.Messages, &webhook.Message{
			ID:           id + 1,
			GUID:         appdb.NewGUID(),
			Event:        event,
			Partition:    s.leased[i].Partition,
			Subscription: s.subscription.ID,
			URL:          s.subscription.URL,
			State:        webhook.State{Next: now},
		})
		id += 2
	}
	return b, nil
}

// race writes n batches concurrently, by both processes in turn. want is the number of
// batches that must succeed. change changes each batch before it is written.
func (s *scratch) race(n int, want int64, change func(*delivery.Batch)) error {
	var written atomic.Int64
	err := concurrently(n, func(i int) error {
		b, err := s.batch(i%2, 1)
		if err != nil {
			return err
		}
		change(&b)
		err = s.stores[i%2].Engine.Write(s.ctx, b)
		isTaken := errors.Is(err, delivery.ErrKeyTaken) || errors.Is(err, delivery.ErrOutboxTaken)
		if isTaken || errors.Is(err, delivery.ErrFenced) {
			return nil
		}
		if err != nil {
			return err
		}
		written.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	if written.Load() != want {
		return failed("%d of %d writers succeeded, want %d", written.Load(), n, want)
	}
	return nil
}

// batches writes and reads messages, and then the results of their delivery.
func (s *scratch) batches() (figure string, err error) {
	const n = 100
	b, err := s.batch(0, n)
	if err != nil {
		return "", err
	}
	page := delivery.Page{
		Partition:    s.leased[0].Partition,
		Subscription: s.subscription.ID,
		InOrder:      true,
		Limit:        2 * n,
	}
	for _, want := range []int{n, 0} {
		if err := s.stores[0].Engine.Write(s.ctx, b); err != nil {
			return "", err
		}
		open, err := s.stores[0].Engine.OpenMessages(s.ctx, page)
		if err != nil {
			return "", err
		}
		if len(open) != want {
			return "", failed("%d of %d messages are open, want %d", len(open), n, want)
		}
		b = delivery.Batch{Version: s.version, Leases: b.Leases}
		for _, m := range open {
			b.Outcomes = append(b.Outcomes, webhook.AttemptResult{
				Message: m,
				After:   webhook.State{Status: webhook.Successful, Attempts: 1},
				Outcome: webhook.Outcome{Code: 200, Began: m.Next},
			})
		}
	}
	return fmt.Sprintf("%d messages", n), nil
}

// leases takes leases concurrently, one of them from a process that lets it expire.
func (s *scratch) leases() (figure string, err error) {
	expired, err := s.stores[0].Engine.Lease(s.ctx, -time.Minute)
	if err != nil {
		return "", err
	}
	var taken [4]delivery.Lease
	err = concurrently(len(taken), func(i int) (err error) {
		taken[i], err = s.stores[i%2].Engine.Lease(s.ctx, leaseTerm)
		return err
	})
	if err != nil {
		return "", err
	}
	partitions := make(map[int64]bool)
	for _, l := range slices.Concat(s.leased[:], taken[:]) {
		if partitions[l.Partition] {
			return "", failed("a partition is leased twice")
		}
		partitions[l.Partition] = true
	}
	if !partitions[expired.Partition] {
		return "", failed("an expired lease is not taken over")
	}
	err = s.race(1, 0, func(b *delivery.Batch) {
		b.Leases = []delivery.Lease{expired}
		b.Messages[0].Partition = expired.Partition
	})
	return fmt.Sprintf("%d leases by two connections", len(taken)), err
}

// races writes the same idempotency key several times.
func (s *scratch) races() (figure string, err error) {
	const writers = 6
	err = s.race(writers, 1, func(b *delivery.Batch) {
		b.Keys = []delivery.Key{{
			Hash:  [32]byte{1},
			Event: b.Events[0].GUID,
			Count: 1,
			Until: time.Now().Add(time.Hour),
		}}
	})
	return fmt.Sprintf("a race of %d writers", writers), err
}

// deadlocks has two transactions change two rows in opposite orders. At the first attempt
// each waits until the other has changed its first row.
func (s *scratch) deadlocks() (figure string, err error) {
	const increment = "UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name"
	names := []string{"ID", "MaxRetries"}
	// Each is closed when a transaction has changed its first row, or cannot change it.
	changed := []chan struct{}{make(chan struct{}), make(chan struct{})}
	var attempts atomic.Int64
	err = concurrently(len(names), func(i int) error {
		markChanged := sync.OnceFunc(func() { close(changed[i]) })
		defer markChanged()
		return s.dbs[i].Transact(s.ctx, func(ctx context.Context, tx *sql.Tx) error {
			attempts.Add(1)
			for n := range names {
				_, err := tx.ExecContext(ctx, s.dbs[i].Qualify(increment),
					sql.Named("Name", names[(i+n)%2]))
				if err != nil {
					return err
				}
				markChanged()
				select {
				case <-changed[1-i]:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	return fmt.Sprintf("2 transactions, %d attempts", attempts.Load()), err
}

// readerWait is the time that a read waits for a row that is being changed.
const readerWait = 100 * time.Millisecond

// readers reads a row that another transaction has changed and does not commit.
func (s *scratch) readers() (figure string, err error) {
	const (
		next      = "SELECT Next FROM whd.WH_Number WHERE Name = N'ID'"
		increment = "UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'ID'"
	)
	before, err := s.dbs[1].QueryInt(s.ctx, next)
	if err != nil {
		return "", err
	}
	errUndone := errors.New("undone")
	err = s.dbs[0].Transact(s.ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.dbs[0].Qualify(increment)); err != nil {
			return err
		}
		seen, err := s.dbs[1].QueryInt(ctx, mssql.LockTimeout(readerWait)+next)
		if e, ok := errors.AsType[*mssql.Error](err); ok && e.LockTimeout() {
			figure = "a read waits"
			return errUndone
		}
		if err != nil {
			return err
		}
		if seen != before {
			return failed("a read returns a value that is not committed")
		}
		figure = "a read returns the committed values"
		return errUndone // rolls the change back
	})
	if errors.Is(err, errUndone) {
		return figure, nil
	}
	return "", err
}

// outbox writes the events of one row of the outbox by both processes.
func (s *scratch) outbox() (figure string, err error) {
	const insert = "INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.created', N'{}')"
	if _, err := s.dbs[0].Exec(s.ctx, insert); err != nil {
		return "", err
	}
	rows, err := s.stores[0].Engine.ReadOutbox(s.ctx, 2, nil)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 {
		return "", failed("%d rows are read, want 1", len(rows))
	}
	err = s.race(2, 1, func(b *delivery.Batch) { b.Outbox = []int64{rows[0].ID} })
	if err != nil {
		return "", err
	}
	remaining, err := s.stores[1].Engine.ReadOutbox(s.ctx, 2, nil)
	if len(remaining) > 0 {
		return "", failed("the row can be read again")
	}
	return "a row for two writers", err
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = work(i) })
	}
	group.Wait()
	return errors.Join(errs...)
}
