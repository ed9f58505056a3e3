package erp

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
)

// Bills reads and writes what the custom fields of bill stages hold.
type Bills struct {
	records *Records
	lock    Locker
	zone    *time.Location
}

// Locker keeps others from writing what a key names until a transaction ends.
// A file needs none, as it has one writer at a time.
type Locker interface {
	LockKey(ctx context.Context, tx *sql.Tx, key string) error
}

// NewBills makes Bills whose changes on a server take a lock. The times in the
// ERP's tables have the zone.
func NewBills(records *Records, lock Locker, zone *time.Location) *Bills {
	return &Bills{records, lock, zone}
}

// tables are those of the ERP's database: of the record kinds, and of bills.
func (c Config) tables() []*record.Kind {
	all := slices.Clone(c.Registry.Kinds())
	for _, table := range BillTables().Kinds() {
		if _, is := c.Registry.Lookup(table.Name); !is {
			all = append(all, table)
		}
	}
	return all
}

// billSession is a connection, and in it a transaction where it writes. What
// was not committed is taken back by close.
type billSession interface {
	rows(statement billStatement, args ...billArg) ([][]*string, error)
	exec(statement billStatement, args ...billArg) error
	// saved is the argument of a time that is written, none where the database
	// has it.
	saved(at time.Time) []billArg
	// exclude keeps others from writing the value that key names until the end.
	exclude(lock Locker, key string) error
	// column is what is known of a column of the table of values.
	column(name string) billColumn
	commit() error
	close()
}

// billColumn is a column that is written, as far as it matters.
type billColumn struct {
	declared string                 // for people
	room     int                    // characters, 0 for any number
	fits     func(text string) bool // reports whether text is not too long
	mayLose  func(text string) bool // reports whether a character may be lost
}

// Value reads what one field of a stage holds. A field without a value has no
// Contents. Ids equal each other as the ERP's database has it: without letter case
// and trailing spaces.
func (b *Bills) Value(ctx context.Context, at StageField) (v wire.CustomFieldValue, err error) {
	if err := at.possible(); err != nil {
		return v, err
	}
	err = b.run(ctx, false, func(s billSession) error {
		found, err := find(s, at)
		if err == nil {
			v = found.value()
		}
		return err
	})
	return v, err
}

// Values reads every field that stages have, also those that this stage stores
// nothing for, which have no Contents: who fills in a form has to know what there
// is to fill in. They are in the order in which the ERP displays them.
func (b *Bills) Values(ctx context.Context, billID, stageID string) (all []wire.CustomFieldValue, err error) {
	at := StageField{BillID: billID, StageID: stageID}
	if err := at.possible(); err != nil {
		return nil, err
	}
	err = b.run(ctx, false, func(s billSession) error {
		rows, err := s.rows(findValues, atBill(billID), atStage(stageID))
		if err != nil {
			return err
		}
		all = nil
		for _, row := range rows {
			found := foundIn(row)
			if found.Bill == nil || found.Stage == nil {
				return at.missing(found)
			}
			// Where the ERP's table has several rows of one field, the first is the newest.
			if last := len(all) - 1; found.Field != nil && (last < 0 || all[last].SettingID != *found.Field) {
				all = append(all, found.value())
			}
		}
		return nil
	})
	return all, err
}

// find reads what is there of a place. Its failure names what is missing.
func find(s billSession, at StageField) (foundValue, error) {
	rows, err := s.rows(findValue, atBill(at.BillID), atStage(at.StageID), atField(at.SettingID))
	if err != nil {
		return foundValue{}, err
	}
	found := foundIn(rows[0]) // the statement always gives one
	return found, at.missing(found)
}

func foundIn(row []*string) foundValue {
	return foundValue{
		Bill: row[0], Stage: row[1], Field: row[2], Name: row[3], PluginID: row[4], PluginName: row[5], ValueID: row[6], Contents: row[7],
	}
}

// run works in a session, again where that is worth it. What did not even begin
// can always be tried again: connections that the server has closed meanwhile
// are found out by using them.
func (b *Bills) run(ctx context.Context, write bool, work func(billSession) error) error {
	begun, worth := false, executor.MayReadAgain
	if write {
		worth = writeAgain
	}
	again := func(err error) bool { return worth(err) || !begun && executor.MayReadAgain(err) }
	err := executor.Retry(ctx, again, func(ctx context.Context) error {
		s, err := b.records.billSession(ctx, write)
		if err != nil {
			return err
		}
		defer s.close()
		begun = true
		if err := work(s); err != nil || !write {
			return err
		}
		return s.commit()
	})
	return b.blame(ctx, err)
}

// writeAgain reports whether a transaction may be tried again. A row that turns
// out to be there already is one that the ERP itself has added at this moment:
// the next attempt finds and changes it.
func writeAgain(err error) bool { return executor.IsDeadlock(err) || executor.IsDuplicate(err) }

// Set changes what a field of a stage holds, or adds it, and reads it back. Empty
// contents clear it; nil is no contents at all. Of several changes at once the last
// wins, and there is never a second row. The ids are looked up before others are
// kept away, since the lock goes by ids as they are stored: two spellings of one id
// must not pass each other. What is written is looked at behind the lock only.
func (b *Bills) Set(ctx context.Context, at StageField, contents *string) (v wire.CustomFieldValue, err error) {
	if contents == nil {
		const text = `is required; "" in a JSON body clears the value`
		return v, &fault.Error{Kind: fault.Missing, Message: MemberContents + " " + text, Fields: []fault.Field{{Name: MemberContents, Message: text}}}
	}
	if err := at.possible(); err != nil {
		return v, err
	}
	saved := time.Now().In(b.zone)
	err = b.run(ctx, true, func(s billSession) error {
		found, err := find(s, at)
		if err != nil {
			return err
		}
		change := billChange{session: s, lock: b.lock, contents: *contents, saved: saved, stage: *found.Stage, field: *found.Field}
		if err := change.do(); err != nil {
			return err
		}
		found.Contents = &change.stored
		v = found.value()
		return nil
	})
	return v, err
}

// billChange is one change on its way.
type billChange struct {
	session      billSession
	lock         Locker
	contents     string
	saved        time.Time // in the zone of the ERP's times; for databases whose clock is not used
	stage, field string    // ids as they are stored
	stored       string    // the contents that came to be
}

func (c *billChange) do() error {
	if column := c.session.column("Contents"); !column.fits(c.contents) {
		return unfitContents(nil, fmt.Sprintf("is longer than the column of the database, which is %s", column.declared))
	}
	if err := c.session.exclude(c.lock, c.stage+"\x00"+c.field); err != nil {
		return err
	}
	if err := c.session.exec(updateValue, append(c.values(), c.key()...)...); err != nil {
		return c.refused(err)
	}
	there, err := c.look()
	if err != nil || there {
		return err
	}
	if err := c.insert(); err != nil {
		return err
	}
	_, err = c.look()
	return err
}

// values are the arguments that are written, and key those that say where.
func (c *billChange) values() []billArg {
	return append([]billArg{inValues("Contents", c.contents)}, c.session.saved(c.saved)...)
}

func (c *billChange) key() []billArg {
	return []billArg{inValues("BM_Stages_RecID", c.stage), inValues("BM_StageCustomFields_RecID", c.field)}
}

// look reads back what is stored now, if anything is. That a row was hit cannot
// be known from the number of rows that a statement reports, to which triggers
// of the ERP may add theirs.
func (c *billChange) look() (there bool, err error) {
	rows, err := c.session.rows(storedValue, c.key()...)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if rows[0][0] != nil {
		c.stored = *rows[0][0]
	}
	column := c.session.column("Contents")
	if column.mayLose(c.contents) && !sameText(c.stored, c.contents) {
		return true, unfitContents(nil, fmt.Sprintf("has a character that the column of the database, which is %s, cannot hold", column.declared))
	}
	return true, nil
}

func (c *billChange) insert() error {
	rows, err := c.session.rows(someIDs)
	if err != nil {
		return err
	}
	var others []string
	for _, row := range rows {
		if row[0] != nil {
			others = append(others, *row[0])
		}
	}
	id, err := newBillID(c.session.column("RecID"), others)
	if err != nil {
		return err
	}
	args := append([]billArg{inValues("RecID", id)}, c.key()...)
	return c.refused(c.session.exec(insertValue, append(args, c.values()...)...))
}

// newBillID makes the id of a new row. Of a column of which nothing is known it
// takes as much as the longest of the others does.
func newBillID(column billColumn, others []string) (string, error) {
	room := column.room
	if column.declared == "" {
		for _, other := range others {
			room = max(room, len(other))
		}
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id, ok := newID(random, others, room)
	if !ok {
		return "", fault.New(fault.Unavailable, "the column RecID of %s is %s, which is too short for the id of a new row", ValuesTable, column.declared)
	}
	return id, nil
}

// sameText compares as columns of a fixed length do, which pad with spaces.
func sameText(a, b string) bool { return strings.TrimRight(a, " ") == strings.TrimRight(b, " ") }

// Empty reports whether there is no bill.
func (b *Bills) Empty(ctx context.Context) (empty bool, err error) {
	err = b.run(ctx, false, func(s billSession) error {
		rows, err := s.rows(someBills)
		empty = len(rows) == 0
		return err
	})
	return empty && err == nil, err
}
