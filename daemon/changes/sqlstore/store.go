// Package sqlstore stores the state of change capture, the recorded changes and the shadow
// in the service's own tables. On SQL Server the shadow is one of these tables. In the
// embedded store it is a file of its own, shadow.db, which is written after whd.db: entries
// of changes that it lacks are applied by Begin.
//
// A shadow has a random ID, which the row of its kind in WH_Capture names. If shadow.db is
// missing or damaged, of another store, older than the changes that are kept, or newer than
// whd.db, as after the restore of a backup, then the shadow is lost. Begin replaces it by
// an empty one, sets the phase FirstLook, and moves Capture.FirstKept to Capture.Next:
// capture looks at all rows again without publishing anything, and followers have to
// resynchronize.
package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Store is the storage of change capture.
type Store struct {
	shadow
	db     *appdb.DB
	resets sync.Mutex // held while a kind gets another shadow
}

var _ changes.Store = (*Store)(nil)

// shadow is the shadow of all kinds, in a file or on SQL Server.
type shadow interface {
	// attach prepares the shadow of a kind for the daemon that captures it. ok is false if
	// it is lost.
	attach(ctx context.Context, c *capture) (ok bool, err error)
	// create creates the empty shadow of a kind.
	create(ctx context.Context, c *capture) error
	// sync makes the stored entries durable.
	sync(ctx context.Context) error
	// clean removes up to limit entries that belong to no kind.
	clean(ctx context.Context, limit int) (hasMore bool, err error)
	// numbered returns the entries with the given numbers, which ascend.
	numbered(ctx context.Context, kind string, numbers []int64) ([]changes.Entry, error)
	// Close closes shadow.db. The database stays open.
	Close() error

	// These implement changes.Shadow. The entries that Find returns refer to the keys.
	Find(ctx context.Context, kind string, keys [][]byte) ([]*changes.Entry, error)
	Put(ctx context.Context, kind string, fence, position int64, entries []changes.Entry) error
	Size(ctx context.Context, kind string) (rows, highest int64, err error)
}

// Open returns the storage of change capture in db. path is the path of shadow.db, which is created
// with the first capture; it is not used on SQL Server.
func Open(db *appdb.DB, path string) *Store {
	if db.IsServer() {
		return &Store{db: db, shadow: &serverShadow{db}}
	}
	return &Store{db: db, shadow: &fileShadow{db: db, path: path, kinds: make(map[string]*kindShadow)}}
}

// capture is a row of WH_Capture.
type capture struct {
	changes.Capture
	shadowID int64
}

const captureColumns = `c.Kind, c.Fence, c.NextChangeID, c.FirstChangeID, c.ShadowID, c.State`

func scanCapture(row appdb.Row) (capture, error) {
	var c capture
	var state string
	err := row.Scan(&c.Kind, &c.Fence, &c.Next, &c.FirstKept, &c.shadowID, &state)
	if err != nil {
		return c, err
	}
	err = json.Unmarshal([]byte(state), &c.State)
	return c, err
}

// read returns the row of a kind; it fails with ErrCaptureLost if there is none.
func read(ctx context.Context, db *appdb.DB, kind string) (*capture, error) {
	const statement = `SELECT ` + captureColumns + ` FROM whd.WH_Capture c WHERE c.Kind = @Kind`
	c, err := appdb.QueryOne(ctx, db, scanCapture, statement, sql.Named("Kind", kind))
	if err == nil && c == nil {
		return nil, delivery.ErrCaptureLost
	}
	return c, db.Fault(err, "reading a capture")
}

func stateArg(s changes.State) sql.NamedArg {
	text, err := json.Marshal(s)
	if err != nil {
		panic("changes: " + err.Error()) // texts, numbers and times can always be encoded
	}
	return sql.Named("State", string(text))
}

// The statements of Begin.
const (
	insertCapture = `INSERT INTO whd.WH_Capture (Kind, Fence, NextChangeID, FirstChangeID, Bytes, ShadowID, State)
SELECT @Kind, @Fence, n.Next, n.Next, 0, 0, @State FROM (SELECT COALESCE(MAX(Next), 1) AS Next FROM whd.WH_Number WHERE Name = 'ChangeID') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Capture c WHERE c.Kind = @Kind)`
	takeOverCapture = `UPDATE whd.WH_Capture SET Fence = @Fence WHERE Kind = @Kind AND Fence <= @Fence`
	removeOldEpochs = `DELETE FROM whd.WH_CaptureEpoch WHERE Kind = @Kind AND Number < (SELECT MAX(n.Number) FROM whd.WH_CaptureEpoch n
	JOIN whd.WH_Capture c ON c.Kind = n.Kind WHERE n.Kind = @Kind AND n.FirstChangeID < c.FirstChangeID)`
)

// Begin takes a capture over for a fence. An epoch is removed when all its changes are.
func (s *Store) Begin(ctx context.Context, kind string, fence int64) (changes.Capture, error) {
	s.resets.Lock()
	defer s.resets.Unlock()
	kindArg := sql.Named("Kind", kind)
	fenceArg := sql.Named("Fence", fence)
	err := s.run(ctx, "beginning a capture",
		appdb.Statement(insertCapture, kindArg, fenceArg, stateArg(changes.State{Phase: changes.FirstLook})),
		appdb.MustAffect(takeOverCapture, kindArg, fenceArg),
		appdb.Statement(removeOldEpochs, kindArg),
		newEpoch(kind, randomID()))
	if err != nil {
		return changes.Capture{}, err
	}
	c, err := read(ctx, s.db, kind)
	if err != nil {
		return changes.Capture{}, err
	}
	ok, err := s.attach(ctx, c)
	if err == nil && !ok {
		err = s.replace(ctx, c, fence)
	}
	return c.Capture, err
}

// newEpoch appends an epoch to those of a kind.
func newEpoch(kind string, id int64) appdb.Step {
	return appdb.MustAffect(`INSERT INTO whd.WH_CaptureEpoch (Kind, Number, EpochID, FirstChangeID)
SELECT c.Kind, COALESCE((SELECT MAX(n.Number) FROM whd.WH_CaptureEpoch n WHERE n.Kind = @Kind), 0) + 1, @EpochID, c.NextChangeID
FROM whd.WH_Capture c WHERE c.Kind = @Kind`, sql.Named("Kind", kind), sql.Named("EpochID", id))
}

// run runs steps that fail with ErrCaptureLost if one that must affect a row does not.
func (s *Store) run(ctx context.Context, doing string, steps ...appdb.Step) error {
	affected, err := s.db.Run(ctx, steps...)
	if err == nil && !affected {
		return delivery.ErrCaptureLost
	}
	return s.db.Fault(err, doing)
}

func randomID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return cmp.Or(int64(binary.NativeEndian.Uint64(b[:])), 1)
}

// replace creates an empty shadow for a kind, and an epoch before which no token is valid.
// The state has its ID first: an interrupted replacement is completed by the next Begin.
func (s *Store) replace(ctx context.Context, c *capture, fence int64) error {
	epoch := randomID()
	c.shadowID = randomID()
	c.FirstKept = c.Next
	c.State = changes.State{
		Phase:    changes.FirstLook,
		Epoch:    uint64(epoch),
		Database: c.State.Database,
		Needed:   c.State.Needed,
	}
	const statement = `UPDATE whd.WH_Capture SET ShadowID = @ShadowID, FirstChangeID = NextChangeID, State = @State
WHERE Kind = @Kind AND Fence = @Fence AND NextChangeID = @Next`
	err := s.run(ctx, "resetting a shadow",
		appdb.MustAffect(statement,
			sql.Named("ShadowID", c.shadowID),
			stateArg(c.State),
			sql.Named("Kind", c.Kind),
			sql.Named("Fence", fence),
			sql.Named("Next", c.Next)),
		newEpoch(c.Kind, epoch))
	if err != nil {
		return err
	}
	return s.create(ctx, c)
}

// Save stores a state. Entries that were put before are durable before the state.
func (s *Store) Save(ctx context.Context, kind string, fence int64, state changes.State) error {
	if err := s.sync(ctx); err != nil {
		return err
	}
	return s.run(ctx, "saving the state of a capture",
		appdb.MustAffect(`UPDATE whd.WH_Capture SET State = @State WHERE Kind = @Kind AND Fence = @Fence`,
			stateArg(state), sql.Named("Kind", kind), sql.Named("Fence", fence)))
}

func (s *Store) Captures(ctx context.Context) ([]changes.Capture, error) {
	const statement = `SELECT ` + captureColumns + ` FROM whd.WH_Capture c ORDER BY c.Kind`
	scan := func(row appdb.Row) (changes.Capture, error) {
		c, err := scanCapture(row)
		return c.Capture, err
	}
	captures, err := appdb.QueryAll(ctx, s.db, scan, statement)
	return captures, s.db.Fault(err, "reading captures")
}

// keptFromTimeout limits the look-up of a capture for KeptFrom.
const keptFromTimeout = 5 * time.Second

// KeptFrom returns since when the values before changes of a kind's fields are known.
func (s *Store) KeptFrom(kind *record.Kind) (map[string]time.Time, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keptFromTimeout)
	defer cancel()
	stored, err := s.Captures(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range stored {
		if c.Kind == kind.Name {
			return c.State.KeptFrom, nil
		}
	}
	return nil, nil
}

func (s *Store) Changes(ctx context.Context, kind string, after int64, limit int) ([]changes.Change, error) {
	statement := `SELECT c.ChangeID, c.Op, c.RecordKey, c.Body, e.Body, c.Entry FROM whd.WH_RecordChange c
LEFT JOIN whd.WH_Event e ON e.EventID = c.EventID WHERE c.Kind = @Kind AND c.ChangeID > @After ORDER BY c.ChangeID` + s.db.Limit
	var list []changes.Change
	scan := func(rows *sql.Rows) error {
		list = nil // the statement may be repeated
		size := 0
		for size < changes.MaxBytes && rows.Next() {
			c, err := scanChange(rows)
			if err != nil {
				return err
			}
			size += len(c.Body)
			list = append(list, c)
		}
		return nil
	}
	err := s.db.Query(ctx, scan, statement,
		sql.Named("Kind", kind), sql.Named("After", after), sql.Named("Limit", limit))
	return list, s.db.Fault(err, "reading changes")
}

// scanChange reads a change. If it has published an event, the event has its body.
func scanChange(row appdb.Row) (changes.Change, error) {
	var c changes.Change
	var eventBody []byte
	err := row.Scan(&c.ID, &c.Op, &c.Key, &c.Body, &eventBody, &c.Entry)
	if c.Body == nil {
		c.Body = eventBody
	}
	return c, err
}

func (s *Store) Epochs(ctx context.Context, kind string) ([]changes.Epoch, error) {
	const statement = `SELECT e.EpochID, e.FirstChangeID FROM whd.WH_CaptureEpoch e
WHERE e.Kind = @Kind ORDER BY e.Number`
	scan := func(row appdb.Row) (changes.Epoch, error) {
		var id, first int64
		err := row.Scan(&id, &first)
		return changes.Epoch{ID: uint64(id), First: first}, err
	}
	epochs, err := appdb.QueryAll(ctx, s.db, scan, statement, sql.Named("Kind", kind))
	return epochs, s.db.Fault(err, "reading epochs")
}

// Reset starts an empty shadow of a kind. The phase is FirstLook afterwards.
func (s *Store) Reset(ctx context.Context, kind string, fence int64) error {
	s.resets.Lock()
	defer s.resets.Unlock()
	c, err := read(ctx, s.db, kind)
	if err != nil {
		return err
	}
	return s.replace(ctx, c, fence)
}

func (s *Store) Note(ctx context.Context, kind string, keys [][]byte) error {
	const statement = `INSERT INTO whd.WH_Recheck (Kind, ShadowKey) VALUES (@Kind, @Key)`
	var steps []appdb.Step
	for _, key := range keys {
		steps = append(steps, appdb.Statement(statement, sql.Named("Kind", kind), sql.Named("Key", key)))
	}
	return s.run(ctx, "noting keys", steps...)
}

func (s *Store) Noted(ctx context.Context, kind string, limit int) ([]changes.Recheck, error) {
	statement := `SELECT r.RecheckID, r.ShadowKey FROM whd.WH_Recheck r
WHERE r.Kind = @Kind ORDER BY r.RecheckID` + s.db.Limit
	scan := func(row appdb.Row) (changes.Recheck, error) {
		var r changes.Recheck
		err := row.Scan(&r.ID, &r.Key)
		return r, err
	}
	notes, err := appdb.QueryAll(ctx, s.db, scan, statement,
		sql.Named("Kind", kind), sql.Named("Limit", limit))
	return notes, s.db.Fault(err, "reading noted keys")
}

func (s *Store) Unnote(ctx context.Context, kind string, notes []changes.Recheck) error {
	ids := make([]int64, len(notes))
	for i, n := range notes {
		ids[i] = n.ID
	}
	statement := `DELETE FROM whd.WH_Recheck WHERE Kind = @Kind AND RecheckID IN ` + s.db.InList
	_, err := s.db.Exec(ctx, statement, sql.Named("Kind", kind), s.db.ListArg(ids))
	return s.db.Fault(err, "removing noted keys")
}

// maxLookUp is how many numbers Unseen looks up at a time.
const maxLookUp = 1000

// Unseen returns entries that no sweep has seen. Nearly all numbers are seen, so it looks up the
// others.
func (s *Store) Unseen(
	ctx context.Context, kind string, seen *changes.Bitmap, after int64, limit int,
) ([]changes.Entry, error) {
	_, highest, err := s.Size(ctx, kind)
	if err != nil {
		return nil, err
	}
	var unseen []changes.Entry
	for len(unseen) < limit {
		numbers := unseenNumbers(seen, after, highest)
		if len(numbers) == 0 {
			break
		}
		after = numbers[len(numbers)-1]
		entries, err := s.numbered(ctx, kind, numbers)
		if err != nil {
			return nil, err
		}
		missing := limit - len(unseen)
		unseen = append(unseen, entries[:min(len(entries), missing)]...)
	}
	return unseen, nil
}

// unseenNumbers returns up to maxLookUp numbers above after, up to highest, that are not in a set.
func unseenNumbers(seen *changes.Bitmap, after, highest int64) []int64 {
	var numbers []int64
	for n := after + 1; n <= highest && len(numbers) < maxLookUp; n++ {
		if !seen.Has(n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// isKnown reports whether an error needs no wrapping.
func isKnown(err error) bool {
	if err == nil || errors.Is(err, delivery.ErrCaptureLost) {
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
