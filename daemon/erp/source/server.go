package source

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/row"
)

// server is a database on a server. It reads from the main server, never from a
// replica, which is behind it, and with little of its resources.
type server struct {
	*executor.Server

	mu    sync.Mutex
	known []serverFact // nil until detected
}

// serverFact is a fact about the database: an expression, and the member that it sets.
type serverFact struct {
	expression string
	valueType  record.Type
	set        func(*changes.Database, row.Cell)
}

// boundOfVersions is the expression without which rows cannot be polled by a rowversion: it
// would miss those of open transactions. Babelfish does not have it.
const boundOfVersions = "MIN_ACTIVE_ROWVERSION()"

// serverFacts are in the order of the statement: the bound of rowversions is read before
// any rows are.
var serverFacts = []serverFact{
	{
		expression: boundOfVersions,
		valueType:  record.Bytes,
		set:        func(d *changes.Database, c row.Cell) { d.Active = bytes.Clone(c.Data) },
	},
	{
		expression: "@@DBTS",
		valueType:  record.Bytes,
		set:        func(d *changes.Database, c row.Cell) { d.Latest = bytes.Clone(c.Data) },
	},
	{
		expression: "DB_NAME()",
		valueType:  record.Text,
		set:        func(d *changes.Database, c row.Cell) { d.Identity = string(c.Data) + d.Identity },
	},
	{
		expression: "(SELECT CONVERT(varchar(30), create_date, 126) FROM sys.databases WHERE name = DB_NAME())",
		valueType:  record.Text,
		set:        func(d *changes.Database, c row.Cell) { d.Identity += " created " + string(c.Data) },
	},
	{
		expression: "(SELECT CONVERT(nvarchar(36), group_database_id) FROM sys.databases WHERE name = DB_NAME())",
		valueType:  record.Text,
		set:        func(d *changes.Database, c row.Cell) { d.Group = string(c.Data) },
	},
	{
		expression: "SYSDATETIME()",
		valueType:  record.DateTime,
		set: func(d *changes.Database, c row.Cell) {
			d.Now, _ = time.Parse(wire.DateLayout, string(c.Data)) // the form of all dates
		},
	},
}

// Database returns the facts about the database, without those that the server does not know.
func (s *server) Database(ctx context.Context) (d changes.Database, err error) {
	err = s.with(ctx, func(conn *mssql.Conn) error {
		known, err := s.detect(ctx, conn)
		if err != nil {
			return err
		}
		cells, err := s.selectFacts(ctx, conn, known)
		for i, c := range cells {
			if !c.Null {
				known[i].set(&d, c)
			}
		}
		return err
	})
	return d, err
}

// detect returns the facts that the server knows, and remembers them.
func (s *server) detect(ctx context.Context, conn *mssql.Conn) ([]serverFact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil {
		return s.known, nil
	}
	var known []serverFact
	for _, fact := range serverFacts {
		if _, err := s.selectFacts(ctx, conn, []serverFact{fact}); err == nil {
			known = append(known, fact)
		} else if !refused(err) {
			return nil, err
		}
	}
	s.known = known
	return known, nil
}

// refused reports whether the server has refused a statement, and would again.
func refused(err error) bool {
	e, ok := errors.AsType[*mssql.Error](err)
	return ok && !e.Unavailable() && !e.Busy()
}

// selectFacts selects facts as one row.
func (s *server) selectFacts(ctx context.Context, conn *mssql.Conn, facts []serverFact) ([]row.Cell, error) {
	q := mssql.Query{Lock: s.LockTimeout}
	var list []string
	for _, fact := range facts {
		list = append(list, fact.expression)
		q.Types = append(q.Types, fact.valueType)
	}
	q.SQL = "SELECT " + strings.Join(list, ", ")
	return first(ctx, conn, q)
}

// first returns the first row of a statement.
func first(ctx context.Context, conn *mssql.Conn, q mssql.Query) ([]row.Cell, error) {
	rows, err := conn.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Next()
}

func (s *server) facts(ctx context.Context, kind *record.Kind) (f tableFacts, err error) {
	err = s.with(ctx, func(conn *mssql.Conn) error {
		f, err = s.readFacts(ctx, conn, kind)
		return err
	})
	return f, err
}

// readFacts reads the facts about a kind's table from the catalogue.
func (s *server) readFacts(ctx context.Context, conn *mssql.Conn, kind *record.Kind) (tableFacts, error) {
	table := s.Table(kind)
	table.Forget() // the table may have changed
	live, err := s.Describe(ctx, conn, kind)
	if err != nil {
		return tableFacts{}, err
	}
	f := factsOfColumns(kind, live.ByField)
	f.foreign = table.Name.Database != "" || table.Name.Server != ""
	if f.version {
		known, err := s.detect(ctx, conn)
		if err != nil {
			return f, err
		}
		f.unbounded = !slices.ContainsFunc(known, func(fact serverFact) bool {
			return fact.expression == boundOfVersions
		})
	}
	if f.missing {
		return f, nil
	}

	f.leading, err = conn.Leading(ctx, table.Name)
	if err != nil {
		return f, err
	}
	f.rows, err = conn.Size(ctx, table.Name)
	if err != nil {
		return f, err
	}
	if f.rows == 0 {
		f.rows = -1 // some servers list 0 for all tables
	}
	f.stored, err = conn.IsStored(ctx, table.Name)
	if err != nil && !refused(err) { // an old server lacks some columns of the catalogue
		return f, err
	}
	return f, s.probe(ctx, conn, table, f.denied)
}

// factsOfColumns returns the facts that follow from the columns of a kind's table, by field.
func factsOfColumns(kind *record.Kind, columns []mssql.Column) tableFacts {
	f := tableFacts{
		missing:    true,
		long:       make(map[int]bool),
		wide:       make(map[int]bool),
		denied:     make(map[int]string),
		collations: make(map[string]string),
	}
	for field, c := range columns {
		f.missing = f.missing && c.Name == ""
		f.long[field] = c.Length < 0 || c.Unordered()
		isLongUnicode := strings.HasPrefix(c.Type, "n") && 2*c.Length > maxCompared
		f.wide[field] = f.long[field] || c.Length > maxCompared || isLongUnicode
		if c.Collation != "" {
			f.collations[kind.Fields[field].Name] = c.Collation
		}
		if c.Name == "" {
			f.denied[field] = "the table has no such column, or the service's login may not read it"
		}
	}
	if stamp, isDeclared := kind.Column(kind.Stamp); isDeclared {
		f.version = columns[stamp].Type == "timestamp" || columns[stamp].Type == "rowversion"
	}
	return f
}

// probe notes the columns that may not be read, one by one if not all may be:
// HAS_PERMS_BY_NAME does not know rights on columns on every server.
func (s *server) probe(ctx context.Context, conn *mssql.Conn, table *executor.Table, denied map[int]string) error {
	var fields []int
	for field := range table.Kind.Fields {
		if denied[field] == "" {
			fields = append(fields, field)
		}
	}
	err := s.read(ctx, conn, table, fields)
	if !refused(err) {
		return err
	}
	for _, field := range fields {
		fieldErr := s.read(ctx, conn, table, []int{field})
		if refused(fieldErr) {
			denied[field] = "the service's login may not read it"
		} else if fieldErr != nil {
			return fieldErr
		}
	}
	if len(denied) == len(table.Kind.Fields) {
		return err
	}
	return nil
}

// read reads no rows of fields.
func (s *server) read(ctx context.Context, conn *mssql.Conn, table *executor.Table, fields []int) error {
	q := mssql.Query{Lock: s.LockTimeout}
	columns := make([]string, len(fields))
	for i, field := range fields {
		f := table.Kind.Fields[field]
		columns[i] = mssql.Quote(f.ColumnName())
		q.Types = append(q.Types, f.Type)
	}
	q.SQL = "SELECT TOP 0 " + strings.Join(columns, ", ") + " FROM " + table.Name.Quoted()
	_, err := first(ctx, conn, q)
	return err
}

// with calls work with a connection.
func (s *server) with(ctx context.Context, work func(*mssql.Conn) error) error {
	conn, err := s.Pool.Get(ctx)
	if err != nil {
		return executor.Classify(err)
	}
	defer conn.Close()
	return executor.Classify(work(conn))
}
