package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// FileName is the name of the file of the shadow in the data directory. It may be missing:
// it is rebuilt.
const FileName = "shadow.db"

// fileShadow is the shadow of all kinds in a file. Only one process uses it.
type fileShadow struct {
	db   *appdb.DB
	path string

	mu     sync.Mutex
	conn   *sqlite.Conn           // nil until the first use, and after damage
	kinds  map[string]*kindShadow // kinds that were used since conn was opened
	dirty  bool                   // something was put since the last sync
	closed bool
}

// The ID of an entry is the ID of its shadow, shifted by numberBits, plus its number: the entries of
// a kind are read in the order of their numbers without an index. The index has the keys themselves:
// a sweep inserts them in order, while hashes of them would change pages all over the index.
const (
	shadowSchema = `BEGIN;
CREATE TABLE Shadow (ID INTEGER PRIMARY KEY AUTOINCREMENT, ShadowID INTEGER NOT NULL UNIQUE, Position INTEGER NOT NULL,
	Entries INTEGER NOT NULL, Syncs INTEGER NOT NULL);
CREATE TABLE Entry (ID INTEGER PRIMARY KEY, ShadowKey BLOB NOT NULL, Entry BLOB NOT NULL);
CREATE INDEX EntryKey ON Entry (ShadowKey);
PRAGMA user_version = 1;
COMMIT;`
	shadowVersion = 1
	numberBits    = 40
)

// Close closes the shadow.
func (f *fileShadow) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.conn == nil {
		return nil
	}
	return f.conn.Close()
}

// use calls work with the open file. A damaged file is removed: all kinds have lost their
// shadow then, which their next Begin notices. A transaction that work leaves open is rolled
// back.
func (f *fileShadow) use(ctx context.Context, work func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.run(ctx, work)
	e, ok := errors.AsType[*sqlite.Error](err)
	if ok && e.Interrupted() && ctx.Err() != nil {
		return ctx.Err()
	}
	if sqlite.IsDamaged(err) || errors.Is(err, changes.ErrEntry) {
		return errors.Join(delivery.ErrCaptureLost, err, f.remove())
	}
	if isKnown(err) {
		return err
	}
	return executor.Unavailable(err, "the file "+FileName+" cannot be used")
}

// run opens the file and calls work. The lock is held.
func (f *fileShadow) run(ctx context.Context, work func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	stop := f.conn.InterruptOn(ctx)
	err := work()
	stop()
	if f.conn.InTransaction() {
		clear(f.kinds) // with numbers of entries that are not stored
		err = errors.Join(err, f.conn.Exec("ROLLBACK"))
	}
	return err
}

// open opens the file, unless it is open, and creates its tables if there are none. The lock is
// held.
func (f *fileShadow) open() error {
	if f.closed {
		return sqlite.ErrPoolClosed
	}
	if f.conn != nil {
		return nil
	}
	if err := datadir.Create(f.path); err != nil {
		return err
	}

	conn, err := sqlite.Open(f.path, sqlite.Options{
		Existing:    true,
		BusyTimeout: 5 * time.Second,
		Pragmas:     []string{"synchronous = NORMAL", "cache_size = -4000", "journal_size_limit = 33554432"},
	})
	if err != nil {
		return err
	}
	version, _, err := conn.QueryInt("PRAGMA user_version")
	if err == nil && version == 0 {
		err = conn.Exec(shadowSchema)
		version = shadowVersion
	}
	if err != nil {
		_ = conn.Close() // the next use opens the file and creates the tables again
		return err
	}
	f.conn = conn
	if version == shadowVersion {
		return nil
	}

	// A later whd has written the file.
	if err := f.remove(); err != nil {
		return err
	}
	return f.open()
}

// remove removes the file.
func (f *fileShadow) remove() error {
	clear(f.kinds)
	if f.conn != nil {
		_ = f.conn.Close() // the file is damaged
		f.conn = nil
	}
	var errs []error
	for _, suffix := range [...]string{"", "-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// attach finds the shadow of a kind, and puts the entries of changes that it lacks.
func (f *fileShadow) attach(ctx context.Context, c *capture) (ok bool, err error) {
	var position int64
	isUsable := false
	err = f.use(ctx, func() error {
		delete(f.kinds, c.Kind)
		stored, exists, err := f.conn.QueryInt(`SELECT Position FROM Shadow WHERE ShadowID = ?1`, c.shadowID)
		position = stored
		isUsable = exists && position < c.Next && position >= c.FirstKept-1
		if !isUsable {
			return err
		}
		return f.load(c)
	})
	if errors.Is(err, delivery.ErrCaptureLost) { // damaged
		return false, nil
	}
	if err != nil || !isUsable {
		return false, err
	}
	for position < c.Next-1 {
		entries, last, err := missingEntries(ctx, f.db, c.Kind, position, changes.MaxRows)
		if err != nil {
			return false, err
		}
		if len(entries) == 0 {
			return false, nil // they were removed
		}
		position = last
		if err := f.Put(ctx, c.Kind, c.Fence, position, entries); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (f *fileShadow) create(ctx context.Context, c *capture) error {
	return f.use(ctx, func() error {
		delete(f.kinds, c.Kind)
		err := f.conn.Query(`INSERT INTO Shadow (ShadowID, Position, Entries, Syncs) VALUES (?1, ?2, 0, 0)`,
			nil, c.shadowID, c.Next-1)
		if err != nil {
			return err
		}
		return f.load(c)
	})
}

// load adds the shadow of a kind to f.kinds. It fails with ErrCaptureLost if there is none.
func (f *fileShadow) load(c *capture) error {
	id, found, err := f.conn.QueryInt(`SELECT ID FROM Shadow WHERE ShadowID = ?1`, c.shadowID)
	if err != nil || !found {
		return errors.Join(err, delivery.ErrCaptureLost)
	}
	k := &kindShadow{conn: f.conn, fence: c.Fence, id: id, base: id << numberBits}
	highest, _, err := f.conn.QueryInt(`SELECT MAX(ID) FROM Entry WHERE ID BETWEEN ?1 AND ?2`, k.base, k.end())
	if err != nil {
		return err
	}
	k.highest = max(highest-k.base, 0)
	f.kinds[c.Kind] = k
	return nil
}

// ofKind calls work with the shadow of a kind, which need not be captured now.
func (f *fileShadow) ofKind(ctx context.Context, kind string, work func(*kindShadow) error) error {
	f.mu.Lock()
	isLoaded := f.kinds[kind] != nil
	f.mu.Unlock()
	var c *capture
	if !isLoaded {
		var err error
		c, err = read(ctx, f.db, kind) // not under the lock, which is not held across calls of the database
		if err != nil {
			return err
		}
	}
	return f.use(ctx, func() error {
		if f.kinds[kind] == nil && c == nil {
			return delivery.ErrCaptureLost // it was loaded before the lock was acquired again
		}
		if f.kinds[kind] == nil {
			if err := f.load(c); err != nil {
				return err
			}
		}
		return work(f.kinds[kind])
	})
}

func (f *fileShadow) Find(ctx context.Context, kind string, keys [][]byte) (entries []*changes.Entry, err error) {
	err = f.ofKind(ctx, kind, func(k *kindShadow) (err error) {
		entries, err = k.find(keys)
		return err
	})
	return entries, err
}

func (f *fileShadow) Put(ctx context.Context, kind string, fence, position int64, entries []changes.Entry) error {
	return f.ofKind(ctx, kind, func(k *kindShadow) error {
		if k.fence != fence {
			return delivery.ErrCaptureLost
		}
		f.dirty = true
		return k.put(position, entries)
	})
}

func (f *fileShadow) numbered(ctx context.Context, kind string, numbers []int64) (entries []changes.Entry, err error) {
	err = f.ofKind(ctx, kind, func(k *kindShadow) (err error) {
		entries, err = k.numbered(numbers)
		return err
	})
	return entries, err
}

func (f *fileShadow) Size(ctx context.Context, kind string) (rows, highest int64, err error) {
	err = f.ofKind(ctx, kind, func(k *kindShadow) (err error) {
		highest = k.highest
		rows, _, err = f.conn.QueryInt(`SELECT Entries FROM Shadow WHERE ID = ?1`, k.id)
		return err
	})
	return rows, highest, err
}

// syncedCommit commits a change durably, and with it all commits before.
const syncedCommit = `PRAGMA synchronous = FULL;
BEGIN IMMEDIATE;
UPDATE Shadow SET Syncs = Syncs + 1;
COMMIT;
PRAGMA synchronous = NORMAL`

// sync makes the stored entries durable. Otherwise a state could be saved that relies on entries
// which are lost in a power failure.
func (f *fileShadow) sync(ctx context.Context) error {
	f.mu.Lock()
	dirty := f.dirty
	f.mu.Unlock()
	if !dirty {
		return nil
	}
	return f.use(ctx, func() error {
		err := f.conn.Exec(syncedCommit)
		f.dirty = err != nil
		return err
	})
}

// clean removes shadows that no kind has, and their entries.
func (f *fileShadow) clean(ctx context.Context, limit int) (hasMore bool, err error) {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return false, nil // nothing was ever captured
	}
	used, err := shadowIDs(ctx, f.db)
	if err != nil {
		return false, f.db.Fault(err, "reading captures")
	}
	err = f.use(ctx, func() error {
		hasMore, err = f.removeUnused(used, limit)
		return err
	})
	return hasMore, err
}

// removeUnused removes up to limit entries of shadows that are not used, and the shadows that have
// no entries any more. The lock is held.
func (f *fileShadow) removeUnused(used map[int64]bool, limit int) (hasMore bool, err error) {
	var unused []int64
	err = f.conn.Query(`SELECT ID, ShadowID FROM Shadow`, func(s *sqlite.Stmt) error {
		if !used[s.Int(1)] {
			unused = append(unused, s.Int(0))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, id := range unused {
		first := id << numberBits
		err := f.conn.Query(`DELETE FROM Entry WHERE ID IN (
			SELECT ID FROM Entry WHERE ID BETWEEN ?1 AND ?2 ORDER BY ID LIMIT ?3)`,
			nil, first, first+maxNumber, int64(limit))
		if err != nil {
			return false, err
		}
		if f.conn.Changes() > 0 {
			return true, nil
		}
		if err := f.conn.Query(`DELETE FROM Shadow WHERE ID = ?1`, nil, id); err != nil {
			return false, err
		}
	}
	return false, nil
}
