package erp

import (
	"context"
	"errors"

	"github.com/bizhook/whd/daemon/sqlite"
)

func (b *sqliteRecords) billWords() billWords { return sqliteBillWords(b.Table) }

// billSession begins a transaction that writes at once. A file has one writer
// at a time, so there are no others to exclude and no row of WH_Lock to take,
// which is in another file anyway.
func (b *sqliteRecords) billSession(ctx context.Context, write bool) (billSession, error) {
	conn, err := b.Pool.Get(ctx)
	if err != nil {
		return nil, err
	}
	s := &sqliteBills{ctx: ctx, backend: b, conn: conn, unwatch: conn.Watch(ctx)}
	if write {
		if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
			s.close()
			return nil, s.failed(err)
		}
	}
	return s, nil
}

type sqliteBills struct {
	ctx     context.Context
	backend *sqliteRecords
	conn    *sqlite.Conn
	unwatch func()
}

func (s *sqliteBills) rows(statement string, args ...billArg) (all [][]*string, err error) {
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.text
	}
	err = s.conn.Query(statement, func(stmt *sqlite.Stmt) error {
		all = append(all, texts(stmt))
		return nil
	}, values...)
	return all, s.failed(err)
}

// texts is the row that a statement stands at.
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

func (s *sqliteBills) exec(statement string, args ...billArg) error {
	_, err := s.rows(statement, args...)
	return err
}

func (s *sqliteBills) exclude(Locker, string) error { return nil }

// column holds any text: SQLite keeps no lengths.
func (s *sqliteBills) column(string) billColumn {
	return billColumn{declared: "TEXT", fits: func(string) bool { return true }, doubtful: func(string) bool { return false }}
}

func (s *sqliteBills) commit() error { return s.failed(s.conn.Exec("COMMIT")) }

// close gives the connection back, which ends what was not committed.
func (s *sqliteBills) close() {
	s.unwatch()
	s.backend.Pool.Put(s.conn)
}

func (s *sqliteBills) failed(err error) error {
	if e, is := errors.AsType[*sqlite.Error](err); is && e.Interrupted() && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return err
}

func (b *sqliteRecords) mayWrite(ctx context.Context) (string, error) {
	s, err := b.billSession(ctx, false)
	if err != nil {
		return "", err
	}
	defer s.close()
	views, err := s.rows("SELECT name FROM sqlite_schema WHERE type = 'view' AND lower(name) = lower(?1)", billArg{text: b.Name(ValuesTable)})
	if err != nil || len(views) == 0 {
		return "", err
	}
	return "it is a view, and values can only be written to a table", nil
}

// indexBills makes the index by which the values of a stage are found. Nothing
// in it has to be unique: BEGIN IMMEDIATE keeps values from standing twice, and
// an older file may have some that do.
func indexBills(conn *sqlite.Conn, c Config) error {
	if c.Sources[ValuesTable] != "" {
		return nil // somebody else's table
	}
	return conn.Exec("CREATE INDEX IF NOT EXISTS " + sqlite.Quote(ValuesTable+"_Stage") +
		" ON " + sqlite.Quote(ValuesTable) + " (BM_Stages_RecID, BM_StageCustomFields_RecID)")
}
