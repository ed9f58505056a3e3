// Package erp has the business records of the ERP: it reads the record kinds, and
// reads and changes the custom fields of bills, in the tables of a server or in
// the embedded file.
package erp

import (
	"cmp"
	"context"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
)

// Config says where the records are, and what is read of them.
type Config struct {
	Path          string        // of the embedded file
	DSN           string        // of a server, instead
	ReadDSN       string        // where records are read, if elsewhere
	Schema        string        // of the records on a server; DefaultSchema if empty
	LockTimeout   time.Duration // how long a statement on a server waits for a lock; 0 for no limit
	VersionSource string        // table and column of the ERP's version; empty for none

	Registry    *record.Registry
	Sources     map[string]string      // record kind -> table or view, where not its name
	Connections int                    // largest number of queries at once
	Limits      func() executor.Limits // of statements that read records, asked for each
}

// DefaultSchema is that of the records on a server, unless the settings name
// another.
const DefaultSchema = "dbo"

// Records are the records of the ERP, open.
type Records struct {
	backend
	config Config
}

// Open opens the records. Of a file it creates what is missing; it does not
// connect to a server, which may be away when the daemon starts.
func Open(c Config) (*Records, error) {
	c.Schema = cmp.Or(c.Schema, DefaultSchema)
	if c.DSN != "" {
		server, err := newServerRecords(c)
		if err != nil {
			return nil, err
		}
		return &Records{server, c}, nil
	}
	file, err := newFileRecords(c)
	if err != nil {
		return nil, executor.Unreachable(err)
	}
	return &Records{file, c}, nil
}

// backend is a database that records are read from.
type backend interface {
	executor.Database
	// Ping fails where records cannot be read.
	Ping(ctx context.Context) error
	// Empty reports whether no kind has a row.
	Empty(ctx context.Context) (bool, error)
	// Load adds rows of the kinds to their tables, all or none.
	Load(ctx context.Context, kinds []*record.Kind, rows Rows) (int64, error)
	// Seed adds rows to tables without any, and on a server makes those that are
	// missing. It is for demo records and tests: on a server the tables are the
	// ERP's, which the service never writes.
	Seed(ctx context.Context, kinds []*record.Kind, rows Rows) (Seeded, error)
	// describe gives the name for people of a kind's table or view, and its
	// columns, none where there is no such table.
	describe(ctx context.Context, kind *record.Kind) (table string, columns []Column, err error)
	// attempt says why such fields of a kind cannot be read, if so.
	attempt(ctx context.Context, kind *record.Kind, fields []string) (problem string, err error)
	columnTypes() compatibilities
	// texts reads a column of the ERP's. A problem is one of what was asked for.
	texts(ctx context.Context, source string) (texts []string, problem string, err error)
	// billSession takes a connection: for one statement that reads, or for a
	// transaction that writes.
	billSession(ctx context.Context, write bool) (billSession, error)
	// mayWrite says what keeps the service from writing values, as far as that
	// is known without writing.
	mayWrite(ctx context.Context) (problem string, err error)
	// Close closes the connections.
	Close() error
}
