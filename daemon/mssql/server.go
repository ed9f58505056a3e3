// Package mssql is a thin layer over the SQL Server driver: a pool whose
// connections can be aborted without harm, statements whose parameters are
// declared as the columns are, and rows read without an allocation of ours.
package mssql

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// Config says which server is used.
type Config struct {
	DSN         string // sqlserver://..., as the driver reads it
	Connections int    // largest number at once; 0 for no limit
}

// Connections beyond these are closed when they come back, and these when they
// were not used for a while.
const (
	maxIdle  = 16
	idleTime = 5 * time.Minute
)

// Server is a pool of connections to one server.
type Server struct {
	db        *sql.DB
	connector *connector
}

// Open makes a pool. It does not connect.
func Open(c Config) (*Server, error) {
	connector, err := newConnector(c.DSN)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(c.Connections)
	db.SetMaxIdleConns(maxIdle)
	db.SetConnMaxIdleTime(idleTime)
	return &Server{db, connector}, nil
}

// DB is the pool for statements that need no speed, such as those on our own
// tables. A statement whose context ends costs its connection, no more.
func (s *Server) DB() *sql.DB { return s.db }

// Ping asks the server for an answer.
func (s *Server) Ping(ctx context.Context) error { return wrap(s.db.PingContext(ctx)) }

// Close closes the pool. Connections that are lent are closed as they come back.
func (s *Server) Close() error { return s.db.Close() }

// Get lends a connection, and waits for one while all are lent out.
func (s *Server) Get(ctx context.Context) (*Conn, error) {
	c := &Conn{server: s}
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// MissingRights lists those of the rights on a table that the login does not have.
// A server that cannot tell is believed to have given them.
func MissingRights(ctx context.Context, db *sql.DB, table string, rights ...string) (missing []string, err error) {
	asked := make([]string, len(rights))
	has := make([]sql.NullInt64, len(rights))
	into := make([]any, len(rights))
	for i, right := range rights {
		asked[i], into[i] = "HAS_PERMS_BY_NAME(@Table, 'OBJECT', '"+right+"')", &has[i]
	}
	err = db.QueryRowContext(ctx, "SELECT "+strings.Join(asked, ", "), sql.Named("Table", table)).Scan(into...)
	if _, refused := errors.AsType[*Error](err); refused {
		return nil, nil
	}
	for i, h := range has {
		if err == nil && h.Valid && h.Int64 == 0 {
			missing = append(missing, rights[i])
		}
	}
	return missing, err
}
