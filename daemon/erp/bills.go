package erp

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
)

// Bills reads and writes the values of custom fields of bill stages.
type Bills struct {
	records *Records
	lock    Lock
	zone    *time.Location
}

// Lock locks a key until the returned function is called. Only a backend on a server uses
// it: a SQLite file has one writer at a time.
type Lock func(ctx context.Context, key string) (unlock func(), err error)

// NewBills returns Bills. lock serializes changes with changes by other daemons. zone is the
// time zone of the times in the ERP's tables.
func NewBills(records *Records, lock Lock, zone *time.Location) *Bills {
	local := newKeyLock()
	return &Bills{records: records, lock: lockBoth(local.lock, lock), zone: zone}
}

// lockBoth returns a Lock that takes the inner lock under the outer one.
func lockBoth(outer, inner Lock) Lock {
	return func(ctx context.Context, key string) (func(), error) {
		unlockOuter, err := outer(ctx, key)
		if err != nil {
			return nil, err
		}
		unlockInner, err := inner(ctx, key)
		if err != nil {
			unlockOuter()
			return nil, err
		}
		unlock := func() {
			unlockInner()
			unlockOuter()
		}
		return unlock, nil
	}
}

// keyLock serializes the changes of this process: each element locks the keys that hash
// to it.
type keyLock struct {
	seed  maphash.Seed
	taken [64]chan struct{}
}

func newKeyLock() *keyLock {
	l := &keyLock{seed: maphash.MakeSeed()}
	for i := range l.taken {
		l.taken[i] = make(chan struct{}, 1)
	}
	return l
}

func (l *keyLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	taken := l.taken[maphash.String(l.seed, key)%uint64(len(l.taken))]
	select {
	case taken <- struct{}{}:
		return func() { <-taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tables returns the tables of the ERP's database: those of the record kinds and of bills.
func (c Config) tables() []*record.Kind {
	tables := slices.Clone(c.Registry.Kinds())
	for _, table := range BillTables().Kinds() {
		if _, isKind := c.Registry.Lookup(table.Name); !isKind {
			tables = append(tables, table)
		}
	}
	return tables
}

// billSession is a connection, with a transaction if it writes. close rolls back an
// uncommitted transaction.
type billSession interface {
	rows(statement billStatement, args ...billArg) ([][]*string, error)
	exec(statement billStatement, args ...billArg) error
	// changeTime returns the argument for the time of a change, none if the database
	// sets it.
	changeTime(t time.Time) []billArg
	// lockValue locks a value of a stage until the session is closed.
	lockValue(lock Lock, stage, field string) error
	// column describes a column of the table of values.
	column(name string) billColumn
	commit() error
	close()
}

// billColumn describes a column to write.
type billColumn struct {
	declared     string                 // type to display
	maxLength    int                    // maximum length in characters, 0 if unlimited
	fits         func(text string) bool // reports whether text is not too long
	mayLoseChars func(text string) bool // reports whether characters may be lost
}

// Value returns the value of one field of a stage. Contents is nil if the field has no
// value. Ids are compared as in the ERP's database: ignoring letter case and
// trailing spaces.
func (b *Bills) Value(ctx context.Context, field StageField) (v wire.CustomFieldValue, err error) {
	if err := field.validateIDs(); err != nil {
		return v, err
	}
	err = b.run(ctx, readOnly, func(s billSession) error {
		found, err := find(s, field)
		if err == nil {
			v = found.value()
		}
		return err
	})
	return v, err
}

// Values returns all fields of a stage, including those without a value, whose Contents
// are nil, so that a form can show every field. They are in the display order of
// the ERP.
func (b *Bills) Values(ctx context.Context, billID, stageID string) (values []wire.CustomFieldValue, err error) {
	stage := StageField{BillID: billID, StageID: stageID}
	if err := stage.validateIDs(); err != nil {
		return nil, err
	}
	err = b.run(ctx, readOnly, func(s billSession) error {
		rows, err := s.rows(findValues, billIDArg(billID), stageIDArg(stageID))
		if err != nil {
			return err
		}
		values, err = stage.values(rows)
		return err
	})
	return values, err
}

// values returns the values in the rows of findValues. If the ERP's table has several rows of one
// field, the first one is the newest.
func (p StageField) values(rows [][]*string) ([]wire.CustomFieldValue, error) {
	var values []wire.CustomFieldValue
	lastField := ""
	for _, row := range rows {
		found := scanFound(row)
		if found.Bill == nil || found.Stage == nil {
			return nil, p.missing(found)
		}
		if found.Field == nil {
			continue
		}
		if len(values) == 0 || *found.Field != lastField {
			values = append(values, found.value())
			lastField = *found.Field
		}
	}
	return values, nil
}

// find reads the row of a field. It returns an error that names the missing part.
func find(s billSession, field StageField) (foundValue, error) {
	rows, err := s.rows(findValue,
		billIDArg(field.BillID), stageIDArg(field.StageID), fieldIDArg(field.SettingID))
	if err != nil {
		return foundValue{}, err
	}
	found := scanFound(rows[0]) // the statement always returns a row
	return found, field.missing(found)
}

func scanFound(row []*string) foundValue {
	return foundValue{
		Bill:       row[0],
		Stage:      row[1],
		Field:      row[2],
		Name:       row[3],
		PluginID:   row[4],
		PluginName: row[5],
		ValueID:    row[6],
		Contents:   row[7],
	}
}

// billAccess is the access of a session to bills.
type billAccess bool

const (
	readOnly  billAccess = false
	readWrite billAccess = true // in a transaction
)

// run calls work in a session and retries it after retryable errors. If the session
// could not even be opened, reads and writes are both safe to retry: the pool only
// detects that the server has closed a connection by using it.
func (b *Bills) run(ctx context.Context, access billAccess, work func(billSession) error) error {
	hasOpened := false
	isRetryable := func(err error) bool {
		mayReadAgain := access == readOnly || !hasOpened
		if mayReadAgain && executor.IsReadRetryable(err) {
			return true
		}
		return access == readWrite && isWriteRetryable(err)
	}
	err := executor.Retry(ctx, isRetryable, func(ctx context.Context) error {
		s, err := b.records.billSession(ctx, access)
		if err != nil {
			return err
		}
		defer s.close()
		hasOpened = true
		if err := work(s); err != nil {
			return err
		}
		if access == readOnly {
			return nil
		}
		return s.commit()
	})
	return b.explain(ctx, err)
}

// isWriteRetryable reports whether a transaction may be retried. A duplicate key means that
// the ERP has inserted the row concurrently: the next attempt updates it.
func isWriteRetryable(err error) bool { return executor.IsDeadlock(err) || executor.IsDuplicate(err) }

// Set writes the value of a field of a stage and returns it as stored. Empty contents
// clear it; nil is an error. Concurrent changes are serialized: the last one wins, and
// no second row is inserted. The lock key consists of the ids as stored, so that two
// spellings of an id use the same key; the row is read and written under the lock.
func (b *Bills) Set(ctx context.Context, field StageField, contents *string) (v wire.CustomFieldValue, err error) {
	if contents == nil {
		const text = `is required; "" in a JSON body clears the value`
		return v, &fault.Error{
			Kind:    fault.Missing,
			Message: MemberContents + " " + text,
			Fields:  []fault.Field{{Name: MemberContents, Message: text}},
		}
	}
	if err := field.validateIDs(); err != nil {
		return v, err
	}
	changeTime := time.Now().In(b.zone)
	err = b.run(ctx, readWrite, func(s billSession) error {
		found, err := find(s, field)
		if err != nil {
			return err
		}
		change := billChange{
			session:    s,
			lock:       b.lock,
			contents:   *contents,
			changeTime: changeTime,
			stage:      *found.Stage,
			field:      *found.Field,
		}
		if err := change.do(); err != nil {
			return err
		}
		found.Contents = &change.stored
		v = found.value()
		return nil
	})
	return v, err
}

// billChange is one change in progress.
type billChange struct {
	session      billSession
	lock         Lock
	contents     string
	changeTime   time.Time // time of the change, in the ERP's time zone
	stage, field string    // ids as they are stored
	stored       string    // contents as they are stored, after readBack
}

// do updates the row of the value, or inserts it if there is none.
func (c *billChange) do() error {
	if column := c.session.column("Contents"); !column.fits(c.contents) {
		return contentsError(nil,
			fmt.Sprintf("is longer than the column of the database, which is %s", column.declared))
	}
	if err := c.session.lockValue(c.lock, c.stage, c.field); err != nil {
		return err
	}
	args := slices.Concat(c.values(), c.key())
	if err := c.session.exec(updateValue, args...); err != nil {
		return c.writeError(err)
	}
	found, err := c.readBack()
	if err != nil || found {
		return err
	}
	if err := c.insert(); err != nil {
		return err
	}
	_, err = c.readBack()
	return err
}

// values returns the arguments for the written columns.
func (c *billChange) values() []billArg {
	values := []billArg{valueArg("Contents", c.contents)}
	return append(values, c.session.changeTime(c.changeTime)...)
}

// key returns the arguments that identify the row.
func (c *billChange) key() []billArg {
	return []billArg{valueArg("BM_Stages_RecID", c.stage), valueArg("BM_StageCustomFields_RecID", c.field)}
}

// readBack reads the stored contents and reports whether the row exists. The row count
// of the UPDATE cannot be used, because triggers of the ERP may change it.
func (c *billChange) readBack() (found bool, err error) {
	rows, err := c.session.rows(storedValue, c.key()...)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if rows[0][0] != nil {
		c.stored = *rows[0][0]
	}
	column := c.session.column("Contents")
	if column.mayLoseChars(c.contents) && !sameText(c.stored, c.contents) {
		text := fmt.Sprintf("has a character that the column of the database, which is %s, cannot hold",
			column.declared)
		return true, contentsError(nil, text)
	}
	return true, nil
}

// insert inserts a row with a new id.
func (c *billChange) insert() error {
	rows, err := c.session.rows(someIDs)
	if err != nil {
		return err
	}
	var existing []string
	for _, row := range rows {
		if row[0] != nil {
			existing = append(existing, *row[0])
		}
	}
	id, err := newBillID(c.session.column("RecID"), existing)
	if err != nil {
		return err
	}
	args := slices.Concat([]billArg{valueArg("RecID", id)}, c.key(), c.values())
	err = c.session.exec(insertValue, args...)
	return c.writeError(err)
}

// newBillID returns the id of a new row. If the column is unknown, the id is as long as
// the longest of others.
func newBillID(column billColumn, existing []string) (string, error) {
	maxLength := column.maxLength
	if column.declared == "" {
		for _, id := range existing {
			maxLength = max(maxLength, len(id))
		}
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id, ok := newID(random, existing, maxLength)
	if !ok {
		return "", fault.New(fault.Unavailable,
			"the column RecID of %s is %s, which is too short for the id of a new row",
			ValuesTable, column.declared)
	}
	return id, nil
}

// sameText compares ignoring trailing spaces, which columns of a fixed length add.
func sameText(a, b string) bool { return strings.TrimRight(a, " ") == strings.TrimRight(b, " ") }

// Empty reports whether there is no bill.
func (b *Bills) Empty(ctx context.Context) (empty bool, err error) {
	err = b.run(ctx, readOnly, func(s billSession) error {
		rows, err := s.rows(someBills)
		empty = len(rows) == 0
		return err
	})
	return empty && err == nil, err
}
