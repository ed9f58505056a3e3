package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// backend is a database that records are read from.
type backend interface {
	executor.Database
	ping(ctx context.Context) error
	// empty reports whether no kind has a row.
	empty(ctx context.Context) (bool, error)
	// load adds rows, all or none.
	load(ctx context.Context, kinds []*record.Kind, rows Rows) (int64, error)
	// fill adds rows to tables without any, and makes those that are missing.
	fill(ctx context.Context, kinds []*record.Kind, rows Rows) (Filled, error)
	close() error
}

// Rows gives rows of a kind, with values in column order: nil, string, int64
// (also for bools) or []byte, as package wire writes them.
type Rows = func(*record.Kind) iter.Seq[[]any]

// Empty reports whether no record kind has a row.
func (s *Store) Empty(ctx context.Context) (bool, error) { return s.records.empty(ctx) }

// Load adds rows of the kinds to their tables, all or none.
func (s *Store) Load(ctx context.Context, kinds []*record.Kind, rows Rows) (int64, error) {
	return s.records.load(ctx, kinds, rows)
}

// Select starts the plan's statement in the database that has its kind.
func (s *Store) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	return executor.Select(ctx, s.database(plan.Kind), s.config.Limits, plan)
}

// database is the one that a kind's records are in.
func (s *Store) database(kind *record.Kind) executor.Database {
	switch {
	case kind.Database == record.InRecords:
		return s.records
	case kind.Database == record.InLog && s.log != nil:
		return s.log
	}
	return s.own
}

// sqliteRecords is the file of records as a backend.
type sqliteRecords struct {
	*executor.File
	kinds []*record.Kind
}

func newSQLiteRecords(path string, c Config) (*sqliteRecords, error) {
	pool, err := openRecords(path, c)
	if err != nil {
		return nil, err
	}
	kinds, tables := c.tables(), make(map[string]string)
	for _, kind := range kinds {
		tables[kind.Name] = cmp.Or(c.Sources[kind.Name], kind.Name)
	}
	return &sqliteRecords{executor.NewFile(pool, tables, nil), kinds}, nil
}

func (b *sqliteRecords) ping(ctx context.Context) error { return b.Ping(ctx) }

func (b *sqliteRecords) close() error { return b.Close() }

// mssqlRecords is a server's ERP tables as a backend.
type mssqlRecords struct {
	*executor.Server
	config Config
	kinds  []*record.Kind
	pulse  *mssql.Server // see openPulse
	bills  *mssql.Server // apart from those who read, see billConnections
}

// newMSSQLRecords does not connect: a server that is away when the daemon
// starts may come later.
func newMSSQLRecords(c Config) (*mssqlRecords, error) {
	pool, err := mssql.Open(mssql.Config{DSN: cmp.Or(c.ReadDSN, c.DSN), Connections: c.Connections})
	if err != nil {
		return nil, err
	}
	b := &mssqlRecords{Server: executor.NewServer(pool, c.LockTimeout, c.Limits), config: c, kinds: c.tables()}
	for _, kind := range b.kinds {
		name, ok := mssql.ParseTable(cmp.Or(c.Sources[kind.Name], mssql.Quote(kind.Name)), c.ERPSchema)
		if !ok {
			return nil, errors.Join(fmt.Errorf("the source of %s is no name of a table or view: %s", kind.Name, c.Sources[kind.Name]), b.close())
		}
		b.Add(kind, name)
	}
	if b.bills, err = openBills(c); err == nil {
		b.pulse, err = openPulse(c)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// openPulse opens a connection that shows whether records can be read, apart
// from those that slow clients hold. There is none where records are read from
// the server that our own tables are on, since that is asked as well.
func openPulse(c Config) (*mssql.Server, error) {
	if c.ReadDSN == "" || c.ReadDSN == c.DSN {
		return nil, nil
	}
	return mssql.Open(mssql.Config{DSN: c.ReadDSN, Connections: 1})
}

func (b *mssqlRecords) ping(ctx context.Context) error {
	if b.pulse == nil {
		return nil
	}
	return b.pulse.Ping(ctx)
}

func (b *mssqlRecords) close() (err error) {
	for _, server := range []*mssql.Server{b.Pool, b.bills, b.pulse} {
		if server != nil {
			err = errors.Join(err, server.Close())
		}
	}
	return err
}
