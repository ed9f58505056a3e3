package erp

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
)

// serverBills is a billSession on a server.
type serverBills struct {
	billDialect
	ctx     context.Context
	backend *serverRecords
	known   map[string]*executor.Columns // column types by table
	before  string                       // prefix of each statement
	tx      *sql.Tx                      // nil if the session only reads
	runs    querier
}

// describe reads the column types from the catalogue or its cache.
func (s *serverBills) describe() error {
	conn, err := s.backend.bills.Get(s.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range BillTables().Kinds() {
		known, err := s.backend.Describe(s.ctx, conn, table.Name)
		if err != nil {
			return err
		}
		s.known[table.Name] = known
	}
	return nil
}

func (s *serverBills) live(table, column string) mssql.Column {
	i, ok := s.backend.Table(table).Kind.Column(column)
	if !ok {
		return mssql.Column{}
	}
	return s.known[table].ByField[i]
}

// unusedID is an id that no row has.
const unusedID = "d54bb6ec-0f25-4b9c-9a1f-3c6b7f50a8e1"

// call returns a statement with its arguments, each of the type of its column. Text that
// is not a GUID is replaced by unusedID, because the server would reject the comparison.
func (s *serverBills) call(statement billStatement, args []billArg) (string, []any) {
	params := make([]mssql.Param, len(args))
	for i, a := range args {
		column := s.live(a.table, a.column)
		if column.Type != "uniqueidentifier" {
			params[i] = mssql.Text(column, a.text)
			continue
		}
		id, err := wire.ParseGuid(strings.TrimRight(a.text, " "))
		if err != nil {
			id = unusedID
		}
		params[i] = mssql.Guid(column, id)
	}
	return mssql.Call(s.before+s.write(statement), params...)
}

func (s *serverBills) rows(statement billStatement, args ...billArg) (all [][]*string, err error) {
	text, values := s.call(statement, args)
	rows, err := s.runs.QueryContext(s.ctx, text, values...)
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, s.failed(err)
	}
	for rows.Next() {
		row, into := make([]*string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, s.failed(err)
		}
		all = append(all, row)
	}
	return all, s.failed(rows.Err())
}

func (s *serverBills) exec(statement billStatement, args ...billArg) error {
	text, values := s.call(statement, args)
	_, err := s.runs.ExecContext(s.ctx, text, values...)
	return s.failed(err)
}

// exclude locks the key among all daemons. A unique index may be missing in the table of
// values, and not every server supports hints that lock a key range.
func (s *serverBills) exclude(lock Locker, key string) error {
	return s.failed(lock.LockKey(s.ctx, s.tx, key))
}

func (s *serverBills) column(name string) billColumn {
	c := s.live(ValuesTable, name)
	known := billColumn{room: max(c.Length, 0), fits: c.Fits, mayLose: func(text string) bool { return narrowText(c) && !c.Holds(text) }}
	if c.Type != "" {
		known.declared = c.Declared()
	}
	if narrowText(c) && c.CodePage == utf8Page && c.Length > 0 {
		known.fits = func(text string) bool { return len(text) <= c.Length }
	}
	return known
}

// utf8Page is the code page of columns whose length is in bytes of UTF-8.
const utf8Page = 65001

func narrowText(c mssql.Column) bool {
	return c.Type == "char" || c.Type == "varchar" || c.Type == "text"
}

func (s *serverBills) commit() error { return s.failed(s.tx.Commit()) }

func (s *serverBills) close() {
	if s.tx != nil {
		s.tx.Rollback() // does nothing after Commit
	}
}

// failed returns err. If a changed table may be the cause, the next session reads the
// catalogue again.
func (s *serverBills) failed(err error) error {
	if e, is := errors.AsType[*mssql.Error](err); is && !e.Deadlock() && !e.LockTimeout() {
		for table := range s.known {
			s.backend.Table(table).Forget()
		}
	}
	return err
}

// Error numbers of SQL Server for writes.
const (
	errCut, errCutHere = 8152, 2628 // text longer than its column
	errNeedsValue      = 515        // NULL in a NOT NULL column
	errReadOnly        = 3906       // the database is read-only
)

// refused converts an error for contents that the database rejects.
func (c *billChange) refused(err error) error {
	e, is := errors.AsType[*mssql.Error](err)
	switch {
	case !is:
		return err
	case e.Number == errCut || e.Number == errCutHere:
		return unfitContents(err, "is longer than the column of the database")
	case e.Conversion():
		return unfitContents(err, "has a character that the database does not support")
	case e.Number == errNeedsValue:
		return executor.Unavailable(err, "the table "+ValuesTable+" has a NOT NULL column that the service does not write; add a default to it")
	case e.Number == errReadOnly:
		return executor.Unavailable(err, "the database is read-only")
	case e.Forbidden():
		return executor.Unavailable(err, "the service's login has no permission to write to the table "+ValuesTable)
	}
	return err
}
