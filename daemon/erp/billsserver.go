package erp

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
)

// serverBills is a billSession on a server.
type serverBills struct {
	billDialect
	ctx         context.Context
	backend     *serverRecords
	columnTypes map[string]*executor.Columns // column types by table
	prefix      string                       // prefix of each statement
	tx          *sql.Tx                      // nil if the session only reads
	db          querier
	unlock      func() // ends the lock of a value; nil if there is none
}

// describe reads the column types from the catalogue or its cache.
func (s *serverBills) describe() error {
	conn, err := s.backend.pools.bills.Get(s.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range BillTables().Kinds() {
		columnTypes, err := s.backend.Describe(s.ctx, conn, table)
		if err != nil {
			return err
		}
		s.columnTypes[table.Name] = columnTypes
	}
	return nil
}

func (s *serverBills) liveColumn(table, column string) mssql.Column {
	i, ok := billTable(table).Column(column)
	if !ok {
		return mssql.Column{}
	}
	return s.columnTypes[table].ByField[i]
}

// unusedID is an id that no row has.
const unusedID = "d54bb6ec-0f25-4b9c-9a1f-3c6b7f50a8e1"

// buildCall returns a statement with its arguments, each of the type of its column. Text that
// is not a GUID is replaced by unusedID, because the server would reject the comparison.
func (s *serverBills) buildCall(statement billStatement, args []billArg) (string, []any) {
	params := make([]mssql.Param, len(args))
	for i, a := range args {
		column := s.liveColumn(a.table, a.column)
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
	text, params := mssql.SetContextInfo(s.prefix+s.write(statement), params, executor.ContextInfo(s.ctx))
	return mssql.Call(text, params...)
}

func (s *serverBills) rows(statement billStatement, args ...billArg) ([][]*string, error) {
	text, values := s.buildCall(statement, args)
	rows, err := s.db.QueryContext(s.ctx, text, values...)
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, s.failed(err)
	}
	var texts [][]*string
	for rows.Next() {
		row := make([]*string, len(columns))
		targets := make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, s.failed(err)
		}
		texts = append(texts, row)
	}
	return texts, s.failed(rows.Err())
}

func (s *serverBills) exec(statement billStatement, args ...billArg) error {
	text, values := s.buildCall(statement, args)
	_, err := s.db.ExecContext(s.ctx, text, values...)
	return s.failed(err)
}

// lockValue locks the value among the daemons that share a store, and then the stage
// among all daemons. A unique index may be missing in the table of values. Babelfish
// ignores the hints of the second lock: there, daemons with separate stores can insert two
// rows for one value.
func (s *serverBills) lockValue(lock Lock, stage, field string) (err error) {
	s.unlock, err = lock(s.ctx, stage+"\x00"+field)
	if err != nil {
		return err
	}
	_, err = s.rows(lockStage, stageIDArg(stage))
	return err
}

func (s *serverBills) column(name string) billColumn {
	c := s.liveColumn(ValuesTable, name)
	column := billColumn{
		maxLength:    max(c.Length, 0),
		fits:         c.Fits,
		mayLoseChars: func(text string) bool { return isNarrow(c) && !c.Holds(text) },
	}
	if c.Type != "" {
		column.declared = c.Declared()
	}
	if isNarrow(c) && c.CodePage == codePageUTF8 && c.Length > 0 {
		column.fits = func(text string) bool { return len(text) <= c.Length }
	}
	return column
}

// codePageUTF8 is the code page of columns with a length in bytes of UTF-8.
const codePageUTF8 = 65001

func isNarrow(c mssql.Column) bool {
	return c.Type == "char" || c.Type == "varchar" || c.Type == "text"
}

func (s *serverBills) commit() error { return s.failed(s.tx.Commit()) }

func (s *serverBills) close() {
	if s.tx != nil {
		s.tx.Rollback() // does nothing after Commit
	}
	if s.unlock != nil {
		s.unlock()
	}
}

// failed returns err. If a changed table may be the cause, the next session reads the
// catalogue again.
func (s *serverBills) failed(err error) error {
	if e, ok := errors.AsType[*mssql.Error](err); ok && !e.Deadlock() && !e.LockTimeout() {
		for table := range s.columnTypes {
			s.backend.Table(billTable(table)).Forget()
		}
	}
	return err
}

// Error numbers of SQL Server for writes.
const (
	errTruncated      = 8152 // text longer than its column
	errTruncatedValue = 2628 // the same, of later versions
	errNotNull        = 515  // NULL in a NOT NULL column
	errReadOnly       = 3906 // the database is read-only
)

// writeError converts an error for contents that the database rejects.
func (c *billChange) writeError(err error) error {
	e, ok := errors.AsType[*mssql.Error](err)
	switch {
	case !ok:
		return err
	case e.Number == errTruncated || e.Number == errTruncatedValue:
		return contentsError(err, "is longer than the column of the database")
	case e.Conversion():
		return contentsError(err, "has a character that the database does not support")
	case e.Number == errNotNull:
		return executor.Unavailable(err,
			"the table "+ValuesTable+" has a NOT NULL column that the service does not write; "+
				"add a default to it")
	case e.Number == errReadOnly:
		return executor.Unavailable(err, "the database is read-only")
	case e.Forbidden():
		return fault.Wrap(err, fault.Forbidden,
			"the service's login has no permission to write to the table %s, or a trigger of it lacks one", ValuesTable)
	}
	return err
}
