// Package mssql is a thin layer on the SQL Server driver. It provides a pool of connections
// that can be aborted safely, parameters declared with the types of the columns, and rows that
// are read without allocations of its own.
package mssql

import (
	"cmp"
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
	AppName     string // program name that the server shows; empty for the name in DSN
	Primary     bool   // do not connect to a readable replica, even if DSN requests one
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
	connector, err := newConnector(c.DSN, c.options()...)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(c.Connections)
	db.SetMaxIdleConns(maxIdle)
	db.SetConnMaxIdleTime(idleTime)
	return &Server{db, connector}, nil
}

// options returns the options that replace those of the connection string.
func (c Config) options() (replaced []option) {
	if c.AppName != "" {
		replaced = append(replaced, option{"app name", c.AppName})
	}
	if c.Primary {
		replaced = append(replaced, option{"applicationintent", "ReadWrite"})
	}
	return replaced
}

// DB returns the pool for statements that are not performance-critical, such as those on
// the daemon's own tables. A statement that is cancelled closes its connection.
func (s *Server) DB() *sql.DB { return s.db }

// Ping checks that the server responds.
func (s *Server) Ping(ctx context.Context) error { return wrap(s.db.PingContext(ctx)) }

// Close closes the pool. Connections in use are closed when they are returned.
// Connections that the server or the network has ended are no failure.
func (s *Server) Close() error {
	if err := wrap(s.db.Close()); !errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// Get returns a connection of the pool. It waits while all of them are in use.
func (s *Server) Get(ctx context.Context) (*Conn, error) {
	c := &Conn{server: s}
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// DefaultUser is the name of the service's database user if the server does not know it.
const DefaultUser = "whd"

// MissingRights returns which of the permissions on a table the login lacks, such as SELECT
// or UPDATE (Column), and the statement with which an administrator grants them. On a table
// that does not exist or is not visible to the login, all are missing. If the server cannot
// check permissions, they are assumed to be granted.
func MissingRights(
	ctx context.Context, db *sql.DB, t Table, rights ...string,
) (missing []string, grant string, err error) {
	var user, login sql.NullString
	var id sql.NullInt64
	has := make([]sql.NullInt64, len(rights))
	query := "SELECT USER_NAME(), SUSER_SNAME(), OBJECT_ID(@Table)"
	destinations := []any{&user, &login, &id}
	for i, right := range rights {
		right, column, isColumn := strings.Cut(strings.TrimSuffix(right, ")"), " (")
		if isColumn {
			right += "', '" + column + "', 'COLUMN"
		}
		query += ", HAS_PERMS_BY_NAME(@Table, 'OBJECT', '" + right + "')"
		destinations = append(destinations, &has[i])
	}
	err = db.QueryRowContext(ctx, query, sql.Named("Table", t.Quoted())).Scan(destinations...)
	if _, refused := errors.AsType[*Error](err); refused {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}

	isInvisible := !id.Valid && t.Server == ""
	for i, h := range has {
		isDenied := h.Valid && h.Int64 == 0
		if isDenied || isInvisible {
			missing = append(missing, rights[i])
		}
	}
	name := cmp.Or(user.String, DefaultUser)
	return missing, t.grant(name, cmp.Or(login.String, name), missing), nil
}

// grant returns the statement that grants rights to a user, empty for no rights. A linked
// server has users of its own, and the owner of a database has all rights. In another
// database, the login may have no user.
func (t Table) grant(user, login string, rights []string) string {
	if len(rights) == 0 || t.Server != "" || user == "dbo" {
		return ""
	}
	use := ""
	if t.Database != "" { // GRANT applies to the current database
		userText := "N'" + strings.ReplaceAll(user, "'", "''") + "'"
		use = "USE " + Quote(t.Database) + "; IF USER_ID(" + userText + ") IS NULL " +
			"CREATE USER " + Quote(user) + " FOR LOGIN " + Quote(login) + "; "
		t.Database = ""
	}
	return use + "GRANT " + strings.Join(rights, ", ") + " ON " + t.Quoted() + " TO " + Quote(user) + ";"
}
