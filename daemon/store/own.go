package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// The schemas on a server, unless the settings name others.
const (
	DefaultSchema    = "whd"
	DefaultERPSchema = "dbo"
)

// ownDB is where our own tables are: a file, or a schema on a server. Its
// statements are the subset of SQL that SQLite and SQL Server share, with
// parameters @Name, which the drivers of both understand, and tables whd.Name.
type ownDB struct {
	pool   *sql.DB
	files  openFiles       // none on a server
	end    func() error    // closes the pool
	name   string          // for people
	schema string          // on a server, else ""
	folder string          // of the migrations
	before string          // stands before each statement
	was    int64           // version of the tables when they were opened
	holder string          // of leases: this process, as others know it
	turn   *turn           // to write to a file; nil on a server
	drain  *executor.Drain // of long reads of a file; nil on a server
	probe  probe

	keepSettings func([]StoredSetting) error
}

// openOwn opens the file of our own tables. One connection writes at a time
// anyway, so a few are enough. The driver comes with package sqlite, and so do
// the collations of the columns. What comes first decides about a new file,
// which can shrink. The file is created here, since a connection that is opened
// later must not create one in the place of a file that was deleted.
func openOwn(path string, first ...string) (*ownDB, error) {
	if err := sqlite.RegisterDriver(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	pragmas := url.Values{"mode": {"rw"}, "_pragma": append(append([]string{"auto_vacuum(INCREMENTAL)"}, first...), "busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"), "_txlock": {"immediate"}}
	db, err := sql.Open(sqlite.DriverName, "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, err
	}
	return &ownDB{pool: db, end: db.Close, name: ownFile, folder: fileMigrations, holder: newGUID(), turn: newTurn(), drain: new(executor.Drain), probe: probe{turn: newTurn()}}, nil
}

// ownConnections are apart from those that read records, so that slow readers
// of large results keep nobody from signing in. What is asked is small.
const ownConnections = 8

// openOwnSchema opens the schema of our own tables on a server.
func openOwnSchema(ctx context.Context, c Config) (*ownDB, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: ownConnections})
	if err != nil {
		return nil, err
	}
	if err := server.Ping(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	o := &ownDB{pool: server.DB(), end: server.Close, schema: c.Schema, folder: serverMigrations, holder: newGUID(), name: "schema " + c.Schema, probe: probe{turn: newTurn()}}
	if c.LockTimeout > 0 {
		o.before = fmt.Sprintf("SET LOCK_TIMEOUT %d; ", max(c.LockTimeout.Milliseconds(), 1))
	}
	return o, nil
}

func (o *ownDB) close() error { return o.end() }

// text is a statement with the schema that it works in.
func (o *ownDB) text(statement string) string {
	return o.before + o.inSchema(statement)
}

// inSchema puts the schema where the text has ours by its usual name.
func (o *ownDB) inSchema(text string) string {
	if o.schema == "" {
		return strings.ReplaceAll(text, "whd.", "")
	}
	return strings.ReplaceAll(text, "whd.", mssql.Quote(o.schema)+".")
}

// enter waits for the turn to write, where there are turns. leave ends it.
func (o *ownDB) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil || o.turn == nil {
		return func() {}, err
	}
	return o.turn.enter(ctx)
}

// step is a statement of a transaction. One that must hit a row ends the
// transaction where it hits none.
type step struct {
	sql  string
	args []any
	must bool
}

// run runs the steps in one transaction. It reports whether they hit what they
// must; if not, nothing has changed. The first statement of each transaction
// writes, since SQLite cannot wait for a lock once it has read.
func (o *ownDB) run(ctx context.Context, steps ...step) (hit bool, err error) {
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		hit, err = o.runOnce(ctx, steps)
		return err
	})
	return hit, err
}

func (o *ownDB) runOnce(ctx context.Context, steps []step) (bool, error) {
	leave, err := o.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	tx, err := o.pool.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	for _, s := range steps {
		n, err := affected(tx.ExecContext(ctx, o.text(s.sql), s.args...))
		if err != nil {
			return false, err
		}
		if s.must && n == 0 {
			return false, nil
		}
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	return true, o.files.lost()
}

// exec runs a statement by itself and counts the rows that it hit.
func (o *ownDB) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return o.execText(ctx, o.text(statement), args...)
}

func (o *ownDB) execText(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		leave, err := o.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
		if n, err = affected(o.pool.ExecContext(ctx, text, args...)); err != nil {
			return err
		}
		return o.files.lost()
	})
	return n, err
}

func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// scanner is the row that rows stand at.
type scanner interface{ Scan(into ...any) error }

// list reads the rows of a statement.
func list[T any](ctx context.Context, o *ownDB, scan func(scanner) (T, error), statement string, args ...any) (all []T, err error) {
	err = executor.Retry(ctx, executor.MayReadAgain, func(ctx context.Context) error {
		rows, err := o.pool.QueryContext(ctx, o.text(statement), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for all = nil; rows.Next(); {
			row, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, row)
		}
		return rows.Err()
	})
	return all, err
}

// found is the row of a statement that finds one at most, or nil.
func found[T any](ctx context.Context, o *ownDB, scan func(scanner) (T, error), statement string, args ...any) (*T, error) {
	all, err := list(ctx, o, scan, statement, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// fault is what those who asked may know of an error of our own tables.
func (o *ownDB) fault(err error, doing string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if sqlite.IsDamaged(err) {
		return executor.Unavailable(errors.Join(delivery.ErrDamaged, err), "the file "+o.name+" is damaged")
	}
	if e, is := errors.AsType[*mssql.Error](err); is && (e.NoTable() || e.NoColumn()) {
		return executor.Unavailable(err, "the service's own tables are missing or of an older version; they need whd migrate")
	}
	return executor.Unavailable(err, "the service's own tables cannot be used at the moment")
}

// ready reports why the tables cannot be used, if so.
func (o *ownDB) ready(ctx context.Context) error {
	current, latest, err := o.versions(ctx)
	if err != nil {
		return executor.NotReady(err)
	}
	if current < latest {
		return behind(o.name, current, latest)
	}
	return nil
}

// probe is the last attempt to write to our own tables, and how it ended. The
// turn guards it.
type probe struct {
	turn *turn
	at   time.Time
	err  error
}

const (
	probeInterval = time.Second     // between two attempts, however many ask
	probeLimit    = 2 * time.Second // that one may take
)

// writable reports why nothing can be written to the tables, if so. It writes,
// since nothing less shows a disk that is full or a database that is read-only.
func (o *ownDB) writable(ctx context.Context) error {
	leave, err := o.probe.turn.enter(ctx)
	if err != nil {
		return executor.NotReady(err)
	}
	defer leave()
	if time.Since(o.probe.at) >= probeInterval {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeLimit)
		defer cancel()
		_, err := o.exec(limited, `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = 'Probe'`)
		o.probe.err, o.probe.at = executor.NotReady(err), time.Now()
	}
	return o.probe.err
}

// ErrBehind is what is wrapped where our own tables are older than this program
// needs them. On a server it is for people to end this, by whd migrate.
var ErrBehind = errors.New("its own tables are behind")

func behind(name string, current, latest int64) *fault.Error {
	return fault.Because(ErrBehind, fault.Unavailable,
		"the tables of %s have version %d and this program needs version %d; they need whd migrate", name, current, latest)
}
