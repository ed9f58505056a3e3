package changes

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Op is the kind of a change.
type Op string

// The operations, as in bodies and as the end of an event's name.
const (
	Created Op = "created"
	Updated Op = "updated"
	Deleted Op = "deleted"
)

// Change is a recorded change.
type Change struct {
	ID    int64 // ascends within the kind, without gaps
	Op    Op
	Key   string // at most 128 characters, see KeyText
	Body  []byte // JSON, the body of the event too
	Entry []byte // the row's entry after the change, see Entry.Encode
}

// Entry is the memory of a row in the shadow.
type Entry struct {
	Number  int64    // number of the row in the shadow, from 1; new rows get the next numbers
	Key     []byte   // encoding of the key's values, exactly as they were read
	Scheme  int64    // the fields and the kind of hashes, see Scheme
	Hash    [16]byte // hash of all captured fields
	Fields  []byte   // 4 bytes for each captured field; nil for kinds with more than 128
	Stamp   []byte   // the value of the stamp field as read; nil if there is none
	Kept    []byte   // JSON object of the values that are kept for Before; nil if there are none
	Deleted bool     // the row is gone: the shadow removes it
}

// Source reads the rows of record kinds for capture. Its methods fail with a fault of kind
// Unavailable if the database cannot be reached or a row is locked for too long: then
// nothing is known about the rows.
type Source interface {
	// Table describes the table or view of a kind as it is now.
	Table(ctx context.Context, kind *record.Kind) (Table, error)
	// Read reads some rows. Their cells are valid until the next Read.
	Read(ctx context.Context, r Read) (Page, error)
	// Database identifies the database and its clock.
	Database(ctx context.Context) (Database, error)
}

// Table is the table or view of a kind.
type Table struct {
	Key      []int    // indexes of the fields that identify a row; nil if no key is proven
	Fields   []int    // fields that can be captured, in the order of the kind
	Omitted  []string // "FIELD: reason" for each of the others
	Stamp    int      // index of the stamp field; -1 if none is declared
	Version  bool     // the stamp is a rowversion
	Pollable bool     // changed rows can be found by the stamp: an index leads with it
	Obstacle string   // why a stamp that is declared is not pollable
	Content  string   // the same only if no row has changed; empty if that is unknown
	Rows     int64    // approximately; -1 if unknown
	Wide     []string // fields of columns that can have more than 4 KiB: not kept for conditions
	Stored   bool     // all values are stored: none depends on the time of its reading

	Collations map[string]string // known names of the collations of text columns, by field
}

// Read selects rows. Of After, Keys and Since at most one is set: without them, the rows
// are the first ones in the order of the key.
type Read struct {
	Kind   *record.Kind
	Fields []int        // to read, in this order, including the fields of the key
	Key    []int        // the key's fields
	After  []row.Cell   // continues after this key, in the database's order
	Keys   [][]row.Cell // the rows with these keys, at most MaxKeys
	Since  *Since       // the rows with these stamps, by stamp and key
	Limit  int          // maximum number of rows
}

// Since selects rows by their stamp. From is inclusive, unless Key is set: then the rows
// follow the row with this stamp and key.
type Since struct {
	From row.Cell
	Key  []row.Cell
}

// Limits of a Read.
const (
	MaxRows  = 1000    // of a page of a sweep
	MaxPoll  = 10_000  // of a poll
	MaxKeys  = 500     // of a look-up
	MaxBytes = 1 << 20 // of the values of a page: it ends after the row that exceeds them
)

// Page is the result of a Read.
type Page struct {
	Rows [][]row.Cell
	More bool // rows follow
}

// Database identifies a database.
type Database struct {
	Identity string    // "NAME created TIME", which differs after a restore from another one
	Group    string    // group_database_id, which the replicas of an availability group share; empty outside of groups
	Latest   []byte    // the highest rowversion that was assigned (@@DBTS); nil if there are none
	Active   []byte    // the lowest rowversion that a transaction may still commit; nil if there are none
	Now      time.Time // the server's clock, without a zone, as stamps of time are
}

// Publisher writes changes and their events into the service's own store, and knows which
// daemon captures. delivery.Engine implements it.
type Publisher interface {
	// PublishCaptured writes a group of changes in one transaction, with the messages of
	// their events. It fails with delivery.ErrCaptureLost if the kind's capture has another
	// fence or position than the group expects.
	PublishCaptured(ctx context.Context, c *delivery.Captured) error
	// Coordinator returns the lease under which this daemon captures; ok is false if
	// another daemon does.
	Coordinator() (lease delivery.Lease, ok bool)
	// Matching returns the number of subscriptions that an event would be sent to.
	Matching(event string) int
	// Posting reports whether other events are published now. They wait for groups that
	// are written.
	Posting() bool
}

// Store is the state of capture and the recorded changes, in the service's own store. Methods
// fail with a fault of kind Unavailable if the store cannot be used, and with
// delivery.ErrCaptureLost under a fence that is not the kind's any more.
type Store interface {
	// Begin makes fence the fence of a kind, unless it has a higher one, appends an epoch, and
	// returns the kind's capture; a new one has Next 1. Changes that the shadow lacks are applied
	// to it.
	Begin(ctx context.Context, kind string, fence int64) (Capture, error)
	// Save stores the state.
	Save(ctx context.Context, kind string, fence int64, s State) error
	// Captures returns all captures, by kind.
	Captures(ctx context.Context) ([]Capture, error)
	// Changes returns up to limit changes with IDs above after, in order, and at most about
	// MaxBytes of bodies.
	Changes(ctx context.Context, kind string, after int64, limit int) ([]Change, error)
	// Epochs returns the epochs of a kind, the oldest first.
	Epochs(ctx context.Context, kind string) ([]Epoch, error)
	// Reset removes the entries of a kind's shadow; followers of earlier changes have to
	// resynchronize.
	Reset(ctx context.Context, kind string, fence int64) error
	// Remove removes a kind's capture with its shadow and changes.
	Remove(ctx context.Context, kind string) error
	// Prune removes up to limit changes that were recorded before a time, and the oldest
	// ones while all bodies together exceed size bytes. hasMore reports whether there are
	// more to remove.
	Prune(ctx context.Context, before time.Time, size int64, limit int) (hasMore bool, err error)

	// Note stores keys that are to be read again; see Recheck. An empty key notes that a
	// follower needs the kind's changes.
	Note(ctx context.Context, kind string, keys [][]byte) error
	// Noted returns up to limit notes of a kind.
	Noted(ctx context.Context, kind string, limit int) ([]Recheck, error)
	// Unnote removes notes.
	Unnote(ctx context.Context, kind string, notes []Recheck) error

	Shadow
}

// Epoch is a period between two starts of a kind's capture.
type Epoch struct {
	ID    uint64 // random
	First int64  // ID of its first change
}

// Recheck notes that a row of a copy differed from the shadow, and has to be read again.
type Recheck struct {
	ID  int64
	Key []byte
}

// Shadow remembers the rows of a kind. One capture uses it at a time, and copies read it.
type Shadow interface {
	// Find returns the entries of keys, nil for those it does not have. It is fastest for
	// keys in the order of the last Put or of their numbers.
	Find(ctx context.Context, kind string, keys [][]byte) ([]*Entry, error)
	// Put stores entries by their numbers, and removes deleted ones. position is the ID of
	// the last change with an included entry. A store in which PublishCaptured has written
	// the entries of changes already may write them again.
	Put(ctx context.Context, kind string, fence int64, position int64, entries []Entry) error
	// Unseen returns up to limit entries with numbers above after that the set does not
	// contain, by number.
	Unseen(ctx context.Context, kind string, seen *Bitmap, after int64, limit int) ([]Entry, error)
	// Size returns the number of entries and the highest number.
	Size(ctx context.Context, kind string) (rows, highest int64, err error)
}

// Bitmap is a set of numbers from 0.
type Bitmap struct{ words []uint64 }

// Set adds a number.
func (b *Bitmap) Set(n int64) {
	word := int(n >> 6)
	if word >= len(b.words) {
		missing := word + 1 - len(b.words)
		reserve := len(b.words) / 2 // numbers ascend: the next ones need no copy
		b.words = append(b.words, make([]uint64, missing+reserve)...)
	}
	b.words[word] |= 1 << (n & 63)
}

// Has reports whether the set contains a number.
func (b *Bitmap) Has(n int64) bool {
	word := int(n >> 6)
	return word < len(b.words) && b.words[word]&(1<<(n&63)) != 0
}
