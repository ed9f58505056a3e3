package prove

import (
	"cmp"
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
	Options
	ctx     context.Context // context of all checks
	db      *appdb.DB       // creates and drops schemas
	name    string          // name of the schema; empty if there is none
	dbs     [2]*appdb.DB
	stores  [2]*sqlstore.Store
	held    [2]delivery.Lease
	sub     webhook.Subscription
	version int64 // version of the subscriptions
}

// create drops the schemas that killed runs have left, and creates one.
func (s *scratch) create() (figure string, err error) {
	if s.db, err = appdb.OpenSchema(s.ctx, s.Store); err != nil {
		return "", err
	}
	now, err := s.db.QueryInt(s.ctx, "SELECT DATEDIFF(second, '2020-01-01', SYSUTCDATETIME())")
	if err != nil {
		return "", err
	}
	names, err := appdb.QueryAll(s.ctx, s.db, scanText,
		"SELECT name FROM sys.schemas WHERE name LIKE 'whd[_]prove[_]%'")
	dropped := 0
	for _, name := range names {
		if parts := scratchName.FindStringSubmatch(name); parts != nil {
			if created, _ := strconv.ParseInt(parts[1], 10, 64); now-created >= int64(s.MaxAge.Seconds()) {
				err = errors.Join(err, s.drop(s.ctx, name))
				dropped++
			}
		}
	}
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("whd_prove_%d_%s", now, strings.ToLower(rand.Text()[:12]))
	_, err = s.db.Exec(s.ctx, "EXEC(N'CREATE SCHEMA "+mssql.Quote(name)+"')")
	if e, refused := errors.AsType[*mssql.Error](err); refused && !e.Busy() && !e.Unavailable() {
		return "", notChecked("the login cannot create a schema (server error %d)", e.Number)
	}
	figure = fmt.Sprintf("created; %d of earlier runs dropped", dropped)
	if err != nil {
		return figure, err
	}
	s.name = name
	return figure, nil
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
	err = concurrently(2, func(i int) error { return s.open(i, c) })
	if err != nil {
		return "", err
	}
	m, err := s.dbs[0].Migration(s.ctx)
	figure = fmt.Sprintf("version %d", m.After)
	if err != nil {
		return figure, err
	}
	if m.After != m.Latest {
		return figure, failed("version %d of %d", m.After, m.Latest)
	}
	if err := s.subscribe(); err != nil {
		return figure, err
	}
	s.version, err = s.stores[0].Engine.Version(s.ctx)
	return figure, err
}

// open opens the tables and takes a lease, as one of the processes.
func (s *scratch) open(i int, c appdb.Config) (err error) {
	s.dbs[i], err = appdb.Open(s.ctx, c)
	if err != nil {
		return err
	}
	s.stores[i], err = sqlstore.Open(s.dbs[i], "")
	if err != nil {
		return err
	}
	s.held[i], err = s.stores[i].Engine.Lease(s.ctx, leaseTerm)
	return err
}

// subscribe adds the subscription that all messages are for.
func (s *scratch) subscribe() error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	subscriber := admin.Subscriber{Name: "check", Enabled: true}
	subscriber, err := s.stores[0].Admin.AddSubscriber(s.ctx, subscriber, audit.Entry{At: now, Action: "check"})
	if err != nil {
		return err
	}
	s.sub, err = s.stores[0].Admin.AddSubscription(s.ctx, webhook.Subscription{
		Subscriber: subscriber.GUID,
		Pattern:    "*",
		URL:        "https://localhost/",
		Enabled:    true,
		SavedAt:    now,
	}, nil)
	return err
}

// batch returns a batch of n events with a message each, for store i.
func (s *scratch) batch(i, n int) (b delivery.Batch, err error) {
	b.Version = s.version
	b.Leases = s.held[i : i+1]
	first, err := s.stores[i].Engine.AllocateIDs(s.ctx, 2*n)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for id := first; id < first+2*int64(n); id += 2 {
		e := &webhook.Event{ID: id, GUID: appdb.NewGUID(), Name: "debtor.created", Body: []byte("{}"), AddedAt: now}
		b.Events = append(b.Events, e)
		b.Messages = append(b.Messages, &webhook.Message{
			ID:           id + 1,
			GUID:         appdb.NewGUID(),
			Event:        e,
			Partition:    s.held[i].Partition,
			Subscription: s.sub.ID,
			URL:          s.sub.URL,
			State:        webhook.State{Next: now},
		})
	}
	return b, err
}

// race writes n batches concurrently, by both stores in turn, of which some must be
// written. change changes a batch before.
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
	page := delivery.Page{Partition: s.held[0].Partition, Subscription: s.sub.ID, InOrder: true, Limit: 2 * n}
	for _, want := range []int{n, 0} {
		if err := s.stores[0].Engine.Write(s.ctx, b); err != nil {
			return "", err
		}
		open, err := s.stores[0].Engine.OpenMessages(s.ctx, page)
		if err != nil || len(open) != want {
			return "", cmp.Or(err, failed("%d of %d messages are open, want %d", len(open), n, want))
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

func (s *scratch) leases() (figure string, err error) {
	old, err := s.stores[0].Engine.Lease(s.ctx, -time.Minute) // has expired
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
	partitions := map[int64]bool{s.held[0].Partition: true, s.held[1].Partition: true}
	for _, l := range taken {
		partitions[l.Partition] = true
	}
	if len(partitions) < len(s.held)+len(taken) {
		return "", failed("a partition is leased twice")
	}
	if !partitions[old.Partition] {
		return "", failed("an expired lease is not taken over")
	}
	err = s.race(1, 0, func(b *delivery.Batch) {
		b.Leases = []delivery.Lease{old}
		b.Messages[0].Partition = old.Partition
	})
	return fmt.Sprintf("%d leases by two connections", len(taken)), err
}

func (s *scratch) races() (figure string, err error) {
	const writers = 6
	err = s.race(writers, 1, func(b *delivery.Batch) {
		b.Keys = []delivery.Key{{Hash: [32]byte{1}, Event: b.Events[0].GUID, Count: 1, Until: time.Now().Add(time.Hour)}}
	})
	return fmt.Sprintf("a race of %d writers", writers), err
}

// deadlocks has two transactions change two rows in opposite orders. At the first attempt
// each waits until the other has changed its first row.
func (s *scratch) deadlocks() (figure string, err error) {
	names := []string{"ID", "MaxRetries"}
	var attempts atomic.Int64
	changed := [2]chan struct{}{make(chan struct{}), make(chan struct{})} // closed when the first row is changed, or cannot be
	err = concurrently(2, func(i int) error {
		meet := sync.OnceFunc(func() { close(changed[i]) })
		defer meet()
		return s.dbs[i].Transact(s.ctx, func(ctx context.Context, tx *sql.Tx) error {
			attempts.Add(1)
			for n := range names {
				_, err := tx.ExecContext(ctx,
					s.dbs[i].Qualify("UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = @Name"),
					sql.Named("Name", names[(i+n)%2]))
				if err != nil {
					return err
				}
				meet()
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
	const next = "SELECT Next FROM whd.WH_Number WHERE Name = N'ID'"
	before, err := s.dbs[1].QueryInt(s.ctx, next)
	if err != nil {
		return "", err
	}
	errUndone := errors.New("undone")
	err = s.dbs[0].Transact(s.ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.dbs[0].Qualify("UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'ID'")); err != nil {
			return err
		}
		seen, err := s.dbs[1].QueryInt(ctx, mssql.LockTimeout(readerWait)+next)
		e, refused := errors.AsType[*mssql.Error](err)
		switch {
		case refused && e.LockTimeout():
			figure = "a read waits"
		case err != nil:
			return err
		case seen != before:
			return failed("a read returns a value that is not committed")
		default:
			figure = "a read returns the committed values"
		}
		return errUndone
	})
	if errors.Is(err, errUndone) {
		err = nil
	}
	return figure, err
}

func (s *scratch) outbox() (figure string, err error) {
	const insert = "INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.created', N'{}')"
	if _, err := s.dbs[0].Exec(s.ctx, insert); err != nil {
		return "", err
	}
	rows, err := s.stores[0].Engine.ReadOutbox(s.ctx, 2, nil)
	if err != nil || len(rows) != 1 {
		return "", cmp.Or(err, failed("%d rows are read, want 1", len(rows)))
	}
	if err := s.race(2, 1, func(b *delivery.Batch) { b.Outbox = []int64{rows[0].ID} }); err != nil {
		return "", err
	}
	rows, err = s.stores[1].Engine.ReadOutbox(s.ctx, 2, nil)
	if len(rows) > 0 {
		err = failed("the row can be read again")
	}
	return "a row for two writers", err
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
