// Package erp reads the ERP's business records, reads and changes the custom fields of
// bills, and takes events from an outbox. The records are in tables of a SQL Server
// database or in an embedded SQLite file, which has no outbox.
package erp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Config configures the source of the records and the reading of them.
type Config struct {
	Path          string        // embedded file, used if DSN is empty
	DSN           string        // SQL Server
	ReadDSN       string        // server for reading records, if it differs from DSN
	Schema        string        // default schema on a server; DefaultSchema if empty
	LockTimeout   time.Duration // lock timeout of statements on a server; 0 for no limit
	VersionSource string        // table and column of the ERP's version; empty if unknown
	Outbox        string        // table of events on a server; empty for none

	Registry    *record.Registry       // kinds with tables that Open creates in an embedded file
	Kinds       *record.Registry       // kinds that Check checks; nil for Registry
	Sources     map[string]string      // record kind -> table or view, if it differs from the kind's name
	Connections int                    // maximum number of concurrent queries
	Limits      func() executor.Limits // limits of statements that read records, called for each
}

// DefaultSchema is the schema of the records on a server if none is configured.
const DefaultSchema = "dbo"

// Records is an open source of ERP records.
type Records struct {
	backend
	config Config
	Outbox *Outbox // nil if none is configured
}

// Open opens the records. It creates missing tables in an embedded file. It does
// not connect to a server, which may be down when the daemon starts.
func Open(c Config) (*Records, error) {
	c.Schema = cmp.Or(c.Schema, DefaultSchema)
	if c.DSN != "" {
		server, err := newServerRecords(c)
		if err != nil {
			return nil, err
		}
		return &Records{backend: server, config: c, Outbox: server.outbox}, nil
	}
	file, err := newFileRecords(c)
	if err != nil {
		return nil, executor.OpenError(fmt.Errorf("%s: %w", filepath.Base(c.Path), err))
	}
	return &Records{backend: file, config: c}, nil
}

// The connections of capture: one reads, and others look for the reasons of a problem.
const (
	captureConnections = 2
	captureName        = "whd-capture" // program name on a server
)

// OnServer reports whether the records are on a server, not in a file.
func (r *Records) OnServer() bool { return r.config.DSN != "" }

// OpenServerCapture opens records on a server again for the capture of changes: on
// connections of their own, to the main server, with few of its resources.
func (r *Records) OpenServerCapture() (*executor.Server, error) {
	c := r.config
	pool, err := mssql.Open(mssql.Config{
		DSN:         c.DSN,
		Connections: captureConnections,
		AppName:     captureName,
		Primary:     true,
	})
	if err != nil {
		return nil, err
	}
	return executor.NewServer(executor.ServerConfig{
		Pool:        pool,
		LockTimeout: c.LockTimeout,
		Option:      "MAXDOP 1",
		Limits:      c.Limits,
		Names:       c.serverTable,
	}), nil
}

// OpenFileCapture opens records in a file again for the capture of changes: on connections
// of their own, without hiding fields from the planner, since all reads are by a key or in
// its order.
func (r *Records) OpenFileCapture() (*executor.File, error) {
	c := r.config
	pool, err := sqlite.NewPool(c.Path, recordOptions(), captureConnections)
	if err != nil {
		return nil, executor.OpenError(err)
	}
	return executor.NewFile(pool, c.fileTable, nil, nil), nil
}

// recordOptions are those of every connection to the records: a small cache, and temporary
// files on disk for large sorts.
func recordOptions() sqlite.Options {
	return sqlite.Options{
		BusyTimeout: 5 * time.Second,
		Pragmas:     []string{"cache_size = -2000", "synchronous = NORMAL"},
	}
}

// identify stores a random number in a new file, by which the capture of changes recognizes it.
func identify(conn *sqlite.Conn) error {
	id, _, err := conn.QueryInt("PRAGMA application_id")
	if err != nil || id != 0 {
		return err
	}
	return conn.Exec(fmt.Sprintf("PRAGMA application_id = %d", 1+rand.Int32N(math.MaxInt32)))
}

// Limits returns the limits of statements that read records.
func (r *Records) Limits() executor.Limits { return r.config.Limits() }

// Server returns the server that holds the records, or nil if they are in a file.
func (r *Records) Server() *executor.Server {
	if s, ok := r.backend.(*serverRecords); ok {
		return s.Server
	}
	return nil
}

// backend is a database with ERP records.
type backend interface {
	executor.Database
	// Ping returns an error if records cannot be read.
	Ping(ctx context.Context) error
	// Forget removes a kind that is no longer used from caches.
	Forget(kind *record.Kind)
	// CreateIndexes creates the missing indexes that a kind declares on its table in an
	// embedded file, if there is one.
	CreateIndexes(ctx context.Context, kind *record.Kind) error
	// Empty reports whether no kind has a row.
	Empty(ctx context.Context) (bool, error)
	// Load inserts rows of the kinds into their tables in one transaction and
	// returns their number.
	Load(ctx context.Context, kinds []*record.Kind, rows Rows) (int64, error)
	// Seed inserts rows into empty tables and, on a server, creates missing
	// tables. It is used for demo records and tests only: the tables on a server
	// belong to the ERP, and the service does not write to them otherwise.
	Seed(ctx context.Context, kinds []*record.Kind, rows Rows) (Seeded, error)
	// describe returns the display name of a kind's table or view, and its
	// columns; none if the table does not exist.
	describe(ctx context.Context, kind *record.Kind) (table string, columns []Column, err error)
	// probe reads no rows of the columns; problem is the reason if they
	// cannot be read.
	probe(ctx context.Context, kind *record.Kind, names []string) (problem string, err error)
	typeCompatibility() compatibilities
	// columnValues returns up to maxVersions values of a column, given as table.column,
	// as text. problem is the reason if the column cannot be read.
	columnValues(ctx context.Context, source string) (texts []string, problem string, err error)
	// billSession opens a session: for single reads, or with a transaction to write.
	billSession(ctx context.Context, access billAccess) (billSession, error)
	// writeProblem returns the reason why values of custom fields cannot be written, as
	// far as it can be found without writing; nil if there is none. A missing right is a
	// warning: everything else works without it.
	writeProblem(ctx context.Context) (*Finding, error)
	// grant returns the statement that grants all rights on a kind's table that the service
	// lacks; empty if it has them.
	grant(ctx context.Context, kind *record.Kind) (string, error)
	// Close closes the connections.
	Close() error
}
