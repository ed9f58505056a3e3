package erp

import (
	"context"
	"errors"

	"github.com/bizhook/whd/daemon/sqlite"
)

// fileBills is a billSession on an embedded file.
type fileBills struct {
	billDialect
	ctx           context.Context
	backend       *fileRecords
	conn          *sqlite.Conn
	stopInterrupt func()
}

func (s *fileBills) rows(statement billStatement, args ...billArg) ([][]*string, error) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.text
	}
	var rows [][]*string
	read := func(stmt *sqlite.Stmt) error {
		rows = append(rows, texts(stmt))
		return nil
	}
	err := s.conn.Query(s.write(statement), read, values...)
	return rows, s.failed(err)
}

// texts returns the current row of a statement.
func texts(stmt *sqlite.Stmt) []*string {
	row := make([]*string, stmt.Columns())
	for i := range row {
		if !stmt.Null(i) {
			text := stmt.Text(i)
			row[i] = &text
		}
	}
	return row
}

func (s *fileBills) exec(statement billStatement, args ...billArg) error {
	_, err := s.rows(statement, args...)
	return err
}

func (s *fileBills) lockValue(Lock, string, string) error { return nil }

// column accepts any text: SQLite does not limit lengths.
func (s *fileBills) column(string) billColumn {
	return billColumn{
		declared:     "TEXT",
		fits:         func(string) bool { return true },
		mayLoseChars: func(string) bool { return false },
	}
}

func (s *fileBills) commit() error { return s.failed(s.conn.Exec("COMMIT")) }

// close returns the connection to the pool, which rolls back an open transaction.
func (s *fileBills) close() {
	s.stopInterrupt()
	s.backend.Pool.Put(s.conn)
}

// failed returns err, or the error of the context if that has interrupted a statement.
func (s *fileBills) failed(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Interrupted() && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return err
}
