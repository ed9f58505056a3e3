package erp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// serverRecords is the backend for ERP tables on SQL Server.
type serverRecords struct {
	*executor.Server
	config Config
	kinds  []*record.Kind
	pools  *serverPools
	outbox *Outbox // nil if none is configured
}

// serverPools are the pools of connections, by their use.
type serverPools struct {
	records *mssql.Server
	bills   *mssql.Server // see billConnections
	ping    *mssql.Server // for Ping, which must not wait for connections that slow clients hold
	outbox  *mssql.Server // for the outbox; nil if none is configured
}

// newServerRecords opens the pools without connecting, since the server may be down
// when the daemon starts.
func newServerRecords(c Config) (*serverRecords, error) {
	for kind, source := range c.Sources {
		if _, ok := mssql.ParseTable(source, c.Schema); !ok {
			return nil, fmt.Errorf("the source of %s is not the name of a table or view: %s", kind, source)
		}
	}
	pools, err := openPools(c)
	if err != nil {
		return nil, err
	}
	return &serverRecords{
		Server: executor.NewServer(executor.ServerConfig{
			Pool:        pools.records,
			LockTimeout: c.LockTimeout,
			Limits:      c.Limits,
			Names:       c.serverTable,
		}),
		config: c,
		kinds:  c.tables(),
		pools:  pools,
		outbox: newOutbox(c, pools.outbox),
	}, nil
}

// openPools opens the pools. Bills are read and written on the main server, even if records
// are read from another one, so that written values can be read back. The outbox has a
// connection of its own, since readers may wait for slow clients and bill statements for
// locked rows.
func openPools(c Config) (*serverPools, error) {
	var errs []error
	open := func(dsn string, connections int) *mssql.Server {
		pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: connections})
		errs = append(errs, err)
		return pool
	}
	readDSN := cmp.Or(c.ReadDSN, c.DSN)
	pools := &serverPools{
		records: open(readDSN, c.Connections),
		bills:   open(c.DSN, billConnections),
		ping:    open(readDSN, 1),
	}
	if c.Outbox != "" {
		pools.outbox = open(c.DSN, 1)
	}
	if err := cmp.Or(errs...); err != nil {
		return nil, errors.Join(err, pools.close())
	}
	return pools, nil
}

// close closes the pools that are open.
func (p *serverPools) close() (err error) {
	for _, pool := range []*mssql.Server{p.records, p.bills, p.ping, p.outbox} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	return err
}

// serverTable returns the table or view of a kind.
func (c Config) serverTable(kind *record.Kind) mssql.Table {
	source := cmp.Or(c.Sources[kind.Name], kind.Table)
	if kind == outboxKind {
		source = c.Outbox // see CheckOutbox
	}
	table, ok := mssql.ParseTable(source, c.Schema)
	if !ok {
		table = mssql.Table{Schema: c.Schema, Name: kind.Name}
	}
	return table
}

func (b *serverRecords) Ping(ctx context.Context) error { return b.pools.ping.Ping(ctx) }

func (b *serverRecords) Close() error { return b.pools.close() }

// Load always fails: on a server, rows are only added by Seed to empty tables.
func (b *serverRecords) Load(context.Context, []*record.Kind, Rows) (int64, error) {
	return 0, fault.New(fault.Unavailable,
		"records on SQL Server belong to the ERP and cannot be loaded; whd demo fills empty tables with demo records")
}

// CreateIndexes does nothing: the tables on a server belong to the ERP.
func (b *serverRecords) CreateIndexes(context.Context, *record.Kind) error { return nil }

func (b *serverRecords) Empty(ctx context.Context) (bool, error) {
	for _, kind := range b.kinds {
		notEmpty, err := hasRows(ctx, b.Pool.DB(), b.Table(kind).Name)
		if notEmpty || err != nil {
			return false, executor.Classify(err)
		}
	}
	return true, nil
}

// Seed writes to the main server, even if records are read from another one.
func (b *serverRecords) Seed(ctx context.Context, kinds []*record.Kind, rows Rows) (seeded Seeded, err error) {
	server, err := mssql.Open(mssql.Config{DSN: b.config.DSN, Connections: 1})
	if err != nil {
		return seeded, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	tx, err := server.DB().BeginTx(ctx, nil)
	if err != nil {
		return seeded, executor.Classify(err)
	}
	defer tx.Rollback() // does nothing after Commit
	for _, kind := range kinds {
		w := &tableWriter{tx: tx, kind: kind, name: b.Table(kind).Name, seeded: &seeded}
		if err := w.seed(ctx, rows); err != nil {
			return Seeded{}, executor.Classify(fmt.Errorf("seeding %s: %w", w.name, err))
		}
	}
	return seeded, executor.Classify(tx.Commit())
}

func (b *serverRecords) typeCompatibility() compatibilities { return serverTypes }

func (b *serverRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.Table(kind).Name
	conn, err := b.poolFor(kind).Get(ctx)
	if err != nil {
		return table.String(), nil, err
	}
	defer conn.Close()
	listed, err := conn.Catalogue(ctx, table)
	var columns []Column
	for _, c := range listed {
		columns = append(columns, Column{
			Name:      c.Name,
			Type:      c.Type,
			Declared:  c.Declared(),
			Unordered: c.Unordered(),
		})
	}
	return table.String(), columns, err
}

// maxLookup is the number of tables that one statement looks for.
const maxLookup = 1000

// findTables adds the names of the kinds with a table or view that the login sees.
func (b *serverRecords) findTables(
	ctx context.Context, pool *mssql.Server, kinds []*record.Kind, seen map[string]bool,
) error {
	var local []*record.Kind
	for _, kind := range kinds {
		if b.Table(kind).Name.Server == "" {
			local = append(local, kind)
			continue
		}
		name, columns, err := b.describe(ctx, kind) // OBJECT_ID does not know linked servers
		if err != nil {
			return fmt.Errorf("describing %s: %w", name, err)
		}
		seen[kind.Name] = len(columns) > 0
	}
	for chunk := range slices.Chunk(local, maxLookup) {
		if err := b.findLocalTables(ctx, pool, chunk, seen); err != nil {
			return err
		}
	}
	return nil
}

// findLocalTables is findTables for up to maxLookup kinds with tables on the server itself.
func (b *serverRecords) findLocalTables(
	ctx context.Context, pool *mssql.Server, kinds []*record.Kind, seen map[string]bool,
) error {
	values := make([]string, len(kinds))
	names := make([]any, len(kinds))
	for i, kind := range kinds {
		values[i] = fmt.Sprintf("(%d, OBJECT_ID(@p%d))", i, i+1)
		names[i] = b.Table(kind).Name.Quoted()
	}
	statement := "SELECT t.n FROM (VALUES " + strings.Join(values, ", ") + ") t (n, id) WHERE t.id IS NOT NULL"
	rows, err := pool.DB().QueryContext(ctx, statement, names...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return err
		}
		seen[kinds[n].Name] = true
	}
	return rows.Err()
}

// poolFor returns the pool through which a kind is read.
func (b *serverRecords) poolFor(kind *record.Kind) *mssql.Server {
	if kind == outboxKind {
		return b.pools.outbox
	}
	if billTable(kind.Name) == kind {
		return b.pools.bills
	}
	return b.Pool
}

func (b *serverRecords) probe(ctx context.Context, kind *record.Kind, names []string) (string, error) {
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = mssql.Quote(name)
	}
	noRows := "SELECT TOP 0 " + strings.Join(columns, ", ") + " FROM " + b.Table(kind).Name.Quoted()
	rows, err := b.poolFor(kind).DB().QueryContext(ctx, noRows)
	if err == nil {
		defer rows.Close()
		rows.Next()
		err = rows.Err()
	}
	if e, ok := errors.AsType[*mssql.Error](err); ok && e.NoColumn() {
		return "the column names differ from the field names in letter case: " + e.Message, nil
	}
	return readProblem(err)
}

// readProblem converts an error of the server to a problem, unless it is temporary.
func readProblem(err error) (problem string, _ error) {
	e, ok := errors.AsType[*mssql.Error](err)
	if !ok || e.Unavailable() || e.Busy() {
		return "", err
	}
	if e.Forbidden() {
		return "the service's login has no permission to read it: " + e.Message, nil
	}
	return "it cannot be read: " + e.Message, nil
}

func (b *serverRecords) columnValues(ctx context.Context, source string) (texts []string, problem string, err error) {
	table, column, _ := mssql.ParseColumn(source, b.config.Schema)
	statement := fmt.Sprintf("SELECT TOP %d COALESCE(CAST(%s AS nvarchar(100)), N'') FROM %s",
		maxVersions, mssql.Quote(column), table.Quoted())
	rows, err := b.Pool.DB().QueryContext(ctx, statement)
	if err != nil {
		problem, err = readProblem(err)
		return nil, problem, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, "", err
		}
		texts = append(texts, text)
	}
	problem, err = readProblem(rows.Err())
	return texts, problem, err
}

// billConnections is the size of the pool for bills. It is separate from the pools of
// records and of the daemon's own tables, so that these are not exhausted while bill
// statements wait for rows that the ERP has locked. It is smaller than the number of
// attempts for a change: after a server restart has broken all connections, the last
// attempt still gets a new one.
const billConnections = executor.MaxAttempts - 1

func (b *serverRecords) billSession(ctx context.Context, access billAccess) (billSession, error) {
	quoted := func(table string) string { return b.Table(billTable(table)).Name.Quoted() }
	s := &serverBills{
		billDialect: serverBillDialect(quoted),
		ctx:         ctx,
		backend:     b,
		columnTypes: make(map[string]*executor.Columns),
		db:          b.pools.bills.DB(),
		prefix:      mssql.LockTimeout(b.config.LockTimeout),
	}
	if err := s.describe(); err != nil {
		return nil, err
	}
	if access == readOnly {
		return s, nil
	}
	tx, err := b.pools.bills.DB().BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	s.tx = tx
	s.db = tx
	return s, nil
}

// writeProblem returns which permissions on the table of custom field values the login lacks.
func (b *serverRecords) writeProblem(ctx context.Context) (*Finding, error) {
	table := b.Table(billTable(ValuesTable))
	missing, grant, err := mssql.MissingRights(ctx, b.pools.bills.DB(), table.Name, neededRights(table.Kind)...)
	missing = slices.DeleteFunc(missing, func(right string) bool { return right == "SELECT" }) // see checkKind
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return &Finding{
		Problem: "the service's login has no permission to " + strings.Join(missing, " and ") +
			", so bills can only be read",
		Warning: true,
		Grant:   grant,
	}, nil
}

func (b *serverRecords) grant(ctx context.Context, kind *record.Kind) (statement string, err error) {
	_, statement, err = mssql.MissingRights(ctx, b.poolFor(kind).DB(), b.Table(kind).Name, neededRights(kind)...)
	return statement, err
}
