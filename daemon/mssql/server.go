// Package mssql is a thin layer on the SQL Server driver. It provides a pool whose
// connections can be aborted safely, parameters declared with the types of the columns, and
// rows that are read without allocations of its own.
package mssql

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// Config configures a pool.
type Config struct {
	DSN         string // sqlserver:// URL with the driver's options
	Connections int    // maximum number of connections; 0 for no limit
}

// Limits of idle connections in a pool.
const (
	maxIdle  = 16
	idleTime = 5 * time.Minute
)

// Server is a pool of connections to one server.
type Server struct {
	db        *sql.DB
	connector *connector
}

// Open opens a pool. It does not connect.
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

// DB returns the pool for statements that are not performance-critical, such as those on
// the daemon's own tables. A statement that is cancelled closes its connection.
func (s *Server) DB() *sql.DB { return s.db }

// Ping checks that the server responds.
func (s *Server) Ping(ctx context.Context) error { return wrap(s.db.PingContext(ctx)) }

// Close closes the pool. Connections in use are closed when they are returned.
func (s *Server) Close() error { return s.db.Close() }

// Get returns a connection of the pool. It waits while all of them are in use.
func (s *Server) Get(ctx context.Context) (*Conn, error) {
	c := &Conn{server: s}
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// MissingRights returns which of the permissions on a table the login lacks, such as SELECT
// or UPDATE (Column). If the server cannot check permissions, they are assumed to be
// granted.
func MissingRights(ctx context.Context, db *sql.DB, table string, rights ...string) (missing []string, err error) {
	expressions := make([]string, len(rights))
	has := make([]sql.NullInt64, len(rights))
	into := make([]any, len(rights))
	for i, right := range rights {
		right, column, of := strings.Cut(strings.TrimSuffix(right, ")"), " (")
		if of {
			right += "', '" + column + "', 'COLUMN"
		}
		expressions[i], into[i] = "HAS_PERMS_BY_NAME(@Table, 'OBJECT', '"+right+"')", &has[i]
	}
	err = db.QueryRowContext(ctx, "SELECT "+strings.Join(expressions, ", "), sql.Named("Table", table)).Scan(into...)
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
