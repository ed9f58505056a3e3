// Package appdb keeps the service's own tables, in a file or in a schema on a
// server: it opens and migrates them, runs statements on them, and has the users,
// sessions, keys and the audit trail.
package appdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// DefaultSchema is that of our own tables on a server, unless the settings name
// another.
const DefaultSchema = "whd"

// The files of our own tables in the data directory.
const (
	FileName    = "whd.db"
	LogFileName = "requestlog.db"
)

// DB is where our own tables are: a file, or a schema on a server. Its
// statements are the subset of SQL that SQLite and SQL Server share, with
// parameters @Name, which the drivers of both understand, and tables whd.Name.
type DB struct {
	Pool      *sql.DB
	files     openFiles       // see Watch; none on a server
	end       func() error    // closes the pool
	name      string          // for people
	Schema    string          // on a server, else ""
	folder    string          // of the migrations
	prefix    string          // stands before each statement
	before    int64           // version of the tables when they were opened
	Holder    string          // of leases: this process, as others know it
	WriteLock *writeLock      // to write to a file; nil on a server
	Drain     *executor.Drain // of long reads of a file; nil on a server
	Probe     probe

	reader io.Closer         // of the kinds that the service itself keeps
	kinds  executor.Database // the same

	keepSettings func([]StoredSetting) error
}

// Config says where our own tables are.
type Config struct {
	Path        string        // of the file; it is made where it is missing
	DSN         string        // of a server, instead
	Schema      string        // on a server; DefaultSchema if empty
	LockTimeout time.Duration // how long a statement on a server waits for a lock; 0 for no limit
	Migrate     bool          // bring the tables on a server up to date; those of a file always are
	Connections int           // largest number of queries on a file at once
	Limits      func() executor.Limits

	// KeepSettings writes settings that an earlier version kept in the database to
	// a file, before their table is dropped. Without it such tables are not migrated.
	KeepSettings func([]StoredSetting) error
}

// The errors of the file of our own tables.
var (
	ErrDamaged  = errors.New("the file is damaged")
	ErrReplaced = errors.New("the file was deleted or replaced")
)

// Open opens our own tables, those of a file at the version that this program
// needs. They are only migrated on a server where that was asked for: changing a
// server's schema is for its administrators to decide.
func Open(ctx context.Context, c Config) (o *DB, err error) {
	if c.DSN == "" {
		o, err = openAndMigrate(ctx, c)
	} else if o, err = OpenSchema(ctx, c); err != nil {
		err = executor.Unreachable(err)
	} else if err = o.readServer(c); err == nil && c.Migrate {
		o.keepSettings = c.KeepSettings
		err = o.Migrate(ctx)
	}
	if err != nil && o != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, err
}

func openAndMigrate(ctx context.Context, c Config) (*DB, error) {
	o, err := OpenFile(c.Path, rarelyBack, walSize)
	if err != nil {
		return nil, executor.Unreachable(err)
	}
	o.keepSettings = c.KeepSettings
	if err := o.Migrate(ctx); err != nil {
		return o, err
	}
	if err := o.Watch(c.Path, c.Path+"-wal"); err != nil {
		return o, executor.Unreachable(err)
	}
	file, err := OpenReader(c.Path, c.Connections, o.Drain)
	if err != nil {
		return o, executor.Unreachable(err)
	}
	o.reader, o.kinds = file, file
	return o, nil
}

// Session is executor.Database's, for the kinds that the service itself keeps.
func (o *DB) Session(ctx context.Context, kind *record.Kind, several bool) (executor.Session, error) {
	return o.kinds.Session(ctx, kind, several)
}

// OpenReader opens one of our own files for reading.
func OpenReader(path string, connections int, drain *executor.Drain) (*executor.File, error) {
	o := sqlite.Options{ReadOnly: true, BusyTimeout: 5 * time.Second, Pragmas: []string{"cache_size = -2000"}}
	pool, err := sqlite.NewPool(path, o, connections)
	if err != nil {
		return nil, err
	}
	tables := make(map[string]string)
	for _, kind := range record.System().Kinds() {
		tables[kind.Name] = kind.Source()
	}
	return executor.NewFile(pool, tables, drain), nil
}

// systemConnections is how many may read our own tables on a server at once.
// They are apart from those of logins, as the readers of records are.
const systemConnections = 8

// readServer opens our own schema on a server for reading. It does not connect.
func (o *DB) readServer(c Config) error {
	pool, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: systemConnections})
	if err != nil {
		return err
	}
	server := executor.NewServer(pool, c.LockTimeout, c.Limits)
	for _, kind := range record.System().Kinds() {
		server.Add(kind, mssql.Table{Schema: o.Schema, Name: kind.Source()})
	}
	o.reader, o.kinds = server, server
	return nil
}

// OpenFile opens the file of our own tables. One connection writes at a time
// anyway, so a few are enough. The driver comes with package sqlite, and so do
// the collations of the columns. What comes first decides about a new file,
// which can shrink. The file is created here, since a connection that is opened
// later must not create one in the place of a file that was deleted.
func OpenFile(path string, first ...string) (*DB, error) {
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
	return &DB{Pool: db, end: db.Close, name: FileName, folder: FileMigrations, Holder: NewGUID(), WriteLock: newWriteLock(), Drain: new(executor.Drain), Probe: probe{turn: newWriteLock()}}, nil
}

// ownConnections are apart from those that read records, so that slow readers
// of large results keep nobody from signing in. What is asked is small.
const ownConnections = 8

// OpenSchema opens the schema of our own tables on a server.
func OpenSchema(ctx context.Context, c Config) (*DB, error) {
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: ownConnections})
	if err != nil {
		return nil, err
	}
	if err := server.Ping(ctx); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	c.Schema = cmp.Or(c.Schema, DefaultSchema)
	o := &DB{Pool: server.DB(), end: server.Close, Schema: c.Schema, folder: serverMigrations, Holder: NewGUID(), name: "schema " + c.Schema, Probe: probe{turn: newWriteLock()}}
	if c.LockTimeout > 0 {
		o.prefix = fmt.Sprintf("SET LOCK_TIMEOUT %d; ", max(c.LockTimeout.Milliseconds(), 1))
	}
	return o, nil
}

// Close closes the connections.
func (o *DB) Close() error {
	if o.reader == nil {
		return o.end()
	}
	return errors.Join(o.reader.Close(), o.end())
}

// Accounts are the stored users, keys and sessions.
func (o *DB) Accounts() *Accounts { return &Accounts{o} }

// IsServer reports whether the tables are on a server.
func (o *DB) IsServer() bool { return o.Schema != "" }

// Watch has the tables refuse what was written once a file is gone or another
// one has its name.
func (o *DB) Watch(paths ...string) error {
	if o.files == nil {
		o.files = make(openFiles)
	}
	return o.files.note(paths...)
}

// Lost reports whether files were deleted or replaced since they were opened.
func (o *DB) Lost() error { return o.files.lost() }

// Text is a statement with the schema that it works in.
func (o *DB) Text(statement string) string {
	return o.prefix + o.inSchema(statement)
}

// inSchema puts the schema where the text has ours by its usual name.
func (o *DB) inSchema(text string) string {
	if o.Schema == "" {
		return strings.ReplaceAll(text, "whd.", "")
	}
	return strings.ReplaceAll(text, "whd.", mssql.Quote(o.Schema)+".")
}

// Lock waits for the turn to write, where there are turns. leave ends it.
func (o *DB) Lock(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil || o.WriteLock == nil {
		return func() {}, err
	}
	return o.WriteLock.lock(ctx)
}

// Fault is what those who asked may know of an error of our own tables.
func (o *DB) Fault(err error, doing string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if sqlite.IsDamaged(err) {
		return executor.Unavailable(errors.Join(ErrDamaged, err), "the file "+o.name+" is damaged")
	}
	if e, is := errors.AsType[*mssql.Error](err); is && (e.NoTable() || e.NoColumn()) {
		return executor.Unavailable(err, "the service's own tables are missing or of an older version; they need whd migrate")
	}
	return executor.Unavailable(err, "the service's own tables cannot be used at the moment")
}

// Ready reports why the tables cannot be used, if so.
func (o *DB) Ready(ctx context.Context) error {
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
	turn *writeLock
	At   time.Time
	err  error
}

const (
	probeInterval = time.Second     // between two attempts, however many ask
	probeLimit    = 2 * time.Second // that one may take
)

// Writable reports why nothing can be written to the tables, if so. It writes,
// since nothing less shows a disk that is full or a database that is read-only.
func (o *DB) Writable(ctx context.Context) error {
	leave, err := o.Probe.turn.lock(ctx)
	if err != nil {
		return executor.NotReady(err)
	}
	defer leave()
	if time.Since(o.Probe.At) >= probeInterval {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeLimit)
		defer cancel()
		_, err := o.Exec(limited, `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = 'Probe'`)
		o.Probe.err, o.Probe.At = executor.NotReady(err), time.Now()
	}
	return o.Probe.err
}

// ErrBehind is what is wrapped where our own tables are older than this program
// needs them. On a server it is for people to end this, by whd migrate.
var ErrBehind = errors.New("its own tables are behind")

func behind(name string, current, latest int64) *fault.Error {
	return fault.Because(ErrBehind, fault.Unavailable,
		"the tables of %s have version %d and this program needs version %d; they need whd migrate", name, current, latest)
}

// writeLock is the right to write to a file, which one has at a time. SQLite would
// let writers try until one of them is lucky, and those whose next transaction
// follows at once would leave none to the others.
type writeLock struct {
	taken   chan struct{} // whoever has the turn has put something in
	Waiting atomic.Int32
}

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// lock waits for the turn, which leave ends.
func (t *writeLock) lock(ctx context.Context) (leave func(), err error) {
	t.Waiting.Add(1)
	defer t.Waiting.Add(-1)
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wanted reports whether somebody waits for the turn. Who has it and can stop
// anywhere does so then.
func (t *writeLock) Wanted() bool { return t.Waiting.Load() > 0 }

// openFiles are files that are open, by path, as they were then.
type openFiles map[string]os.FileInfo

// note remembers files that are open now.
func (f openFiles) note(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		os.SameFile(info, info) // Windows reads now which file it is
		f[path] = info
	}
	return nil
}

// lost reports whether a file is gone or another one has its name. What was
// written to it then is in no file that can be opened again.
func (f openFiles) lost() error {
	for path, then := range f {
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, then) {
			return fault.Because(ErrReplaced, fault.Unavailable, "%s was deleted or replaced while the service had it open", filepath.Base(path))
		}
	}
	return nil
}

// NewGUID makes a random GUID, the form that ids of records have. Nobody can
// guess one.
func NewGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// rarelyBack has the connections beside the writer's, whose commits hold up the
// batches, leave the log to the writer. They write it back where there are no
// batches.
const rarelyBack = "wal_autocheckpoint(8192)" // pages, as many as walBehind

// walSize truncates the log when it begins again, after a long read had made it
// grow.
const walSize = "journal_size_limit(33554432)"

// logPageSize takes a fifth off the work of adding rows to the request log, which
// only ever stand behind the others.
const logPageSize = "page_size(16384)"

// MigrateLog makes the file of the request log, or brings it to the version that
// this program needs.
func MigrateLog(ctx context.Context, path string) error {
	o, err := OpenFile(path, logPageSize)
	if err != nil {
		return err
	}
	o.name, o.folder = LogFileName, LogMigrations
	return errors.Join(o.Migrate(ctx), o.Close())
}
