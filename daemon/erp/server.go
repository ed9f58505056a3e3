package erp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// serverRecords is a server's ERP tables as a backend.
type serverRecords struct {
	*executor.Server
	config Config
	kinds  []*record.Kind
	pulse  *mssql.Server // see openPulse
	bills  *mssql.Server // apart from those who read, see billConnections
}

// newServerRecords does not connect: a server that is away when the daemon
// starts may come later.
func newServerRecords(c Config) (*serverRecords, error) {
	pool, err := mssql.Open(mssql.Config{DSN: cmp.Or(c.ReadDSN, c.DSN), Connections: c.Connections})
	if err != nil {
		return nil, err
	}
	b := &serverRecords{Server: executor.NewServer(pool, c.LockTimeout, c.Limits), config: c, kinds: c.tables()}
	for _, kind := range b.kinds {
		name, ok := mssql.ParseTable(cmp.Or(c.Sources[kind.Name], mssql.Quote(kind.Name)), c.Schema)
		if !ok {
			return nil, errors.Join(fmt.Errorf("the source of %s is no name of a table or view: %s", kind.Name, c.Sources[kind.Name]), b.Close())
		}
		b.Add(kind, name)
	}
	if b.bills, err = openBills(c); err == nil {
		b.pulse, err = openPulse(c)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
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

// Ping is backend's.
func (b *serverRecords) Ping(ctx context.Context) error {
	if b.pulse == nil {
		return nil
	}
	return b.pulse.Ping(ctx)
}

// Close is backend's.
func (b *serverRecords) Close() (err error) {
	for _, server := range []*mssql.Server{b.Pool, b.bills, b.pulse} {
		if server != nil {
			err = errors.Join(err, server.Close())
		}
	}
	return err
}

// Load refuses: rows are only added to tables that Seed has found empty.
func (b *serverRecords) Load(context.Context, []*record.Kind, Rows) (int64, error) {
	return 0, fault.New(fault.Unavailable, "records of a database server are the ERP's and only read; demo records are put there by whd demo")
}

// Empty is backend's.
func (b *serverRecords) Empty(ctx context.Context) (bool, error) {
	for _, kind := range b.kinds {
		some, err := hasRows(ctx, b.Pool.DB(), b.Table(kind.Name).Name)
		if some || err != nil {
			return false, executor.Classify(err)
		}
	}
	return true, nil
}

// Seed writes to the server itself, also where records are read elsewhere.
func (b *serverRecords) Seed(ctx context.Context, kinds []*record.Kind, rows Rows) (f Seeded, err error) {
	server, err := mssql.Open(mssql.Config{DSN: b.config.DSN, Connections: 1})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	tx, err := server.DB().BeginTx(ctx, nil)
	if err != nil {
		return f, executor.Classify(err)
	}
	defer tx.Rollback() // does nothing after Commit
	for _, kind := range kinds {
		w := &tableWriter{tx: tx, kind: kind, name: b.Table(kind.Name).Name, seeded: &f}
		if err := w.seed(ctx, rows); err != nil {
			return Seeded{}, executor.Classify(fmt.Errorf("filling %s: %w", w.name, err))
		}
	}
	return f, executor.Classify(tx.Commit())
}

func (b *serverRecords) columnTypes() compatibilities { return serverTypes }

func (b *serverRecords) describe(ctx context.Context, kind *record.Kind) (string, []Column, error) {
	table := b.Table(kind.Name).Name
	conn, err := b.home(kind).Get(ctx)
	if err != nil {
		return table.String(), nil, err
	}
	defer conn.Close()
	live, err := conn.Catalogue(ctx, table)
	var columns []Column
	for _, c := range live {
		columns = append(columns, Column{Name: c.Name, Type: c.Type, Declared: c.Declared(), Unordered: c.Unordered()})
	}
	return table.String(), columns, err
}

// home is the pool that a kind is read through.
func (b *serverRecords) home(kind *record.Kind) *mssql.Server {
	if _, is := BillTables().Lookup(kind.Name); is {
		return b.bills
	}
	return b.Pool
}

func (b *serverRecords) attempt(ctx context.Context, kind *record.Kind, fields []string) (string, error) {
	columns := make([]string, len(fields))
	for i, name := range fields {
		columns[i] = mssql.Quote(name)
	}
	rows, err := b.home(kind).DB().QueryContext(ctx, "SELECT TOP 0 "+strings.Join(columns, ", ")+" FROM "+b.Table(kind.Name).Name.Quoted())
	if err == nil {
		defer rows.Close()
		rows.Next()
		err = rows.Err()
	}
	if e, refused := errors.AsType[*mssql.Error](err); refused && e.NoColumn() {
		return "its columns do not have the names of the fields, to the letter: " + e.Message, nil
	}
	return refusal(err)
}

// refusal is why the server does not let something be read, unless that is only
// so at the moment.
func refusal(err error) (problem string, _ error) {
	switch e, refused := errors.AsType[*mssql.Error](err); {
	case !refused || e.Away() || e.Busy():
		return "", err
	case e.Forbidden():
		return "the service's login may not read it: " + e.Message, nil
	default:
		return "it cannot be read: " + e.Message, nil
	}
}

func (b *serverRecords) texts(ctx context.Context, source string) (texts []string, problem string, err error) {
	table, column, _ := mssql.ParseColumn(source, b.config.Schema)
	rows, err := b.Pool.DB().QueryContext(ctx, fmt.Sprintf("SELECT TOP %d COALESCE(CAST(%s AS nvarchar(100)), N'') FROM %s",
		maxVersions, mssql.Quote(column), table.Quoted()))
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return nil, "", err
			}
			texts = append(texts, text)
		}
		err = rows.Err()
	}
	if err != nil {
		problem, err = refusal(err)
	}
	return texts, problem, err
}

// billConnections are apart from those of records and of our own tables, which so
// do not wait for a row that the ERP has locked. They are fewer than the attempts
// that a change has: where a server was restarted, and has dropped them all, one of
// the attempts makes a new one.
const billConnections = executor.MaxAttempts - 1

// openBills makes the pool for bills. It is the store's own server also where
// records are read elsewhere: what was written must be there to be read.
func openBills(c Config) (*mssql.Server, error) {
	return mssql.Open(mssql.Config{DSN: c.DSN, Connections: billConnections})
}

func (b *serverRecords) billSession(ctx context.Context, write bool) (billSession, error) {
	quoted := func(table string) string { return b.Table(table).Name.Quoted() }
	s := &serverBills{billDialect: serverBillDialect(quoted), ctx: ctx, backend: b, known: make(map[string]*executor.Columns), runs: b.bills.DB(), before: mssql.LockTimeout(b.config.LockTimeout)}
	if err := s.describe(); err != nil || !write {
		return s, err
	}
	tx, err := b.bills.DB().BeginTx(ctx, nil)
	s.tx, s.runs = tx, tx
	return s, err
}

// mayWrite asks for the rights of the login.
func (b *serverRecords) mayWrite(ctx context.Context) (string, error) {
	missing, err := mssql.MissingRights(ctx, b.bills.DB(), b.Table(ValuesTable).Name.Quoted(), "INSERT", "UPDATE")
	if err != nil || len(missing) == 0 {
		return "", err
	}
	return "the service's login has no right to " + strings.Join(missing, " and "), nil
}
