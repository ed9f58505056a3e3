package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/changes"
)

// oldChange is a change to remove.
type oldChange struct {
	kind  string
	id    int64
	event sql.NullInt64 // ID of its event, if it has published one
	size  int64         // bytes of its body
	added appdb.Time
}

func scanOld(row appdb.Row) (c oldChange, err error) {
	return c, row.Scan(&c.kind, &c.id, &c.event, &c.size, &c.added)
}

const oldColumns = `SELECT c.Kind, c.ChangeID, c.EventID, c.Size, c.AddedDateTime FROM whd.WH_RecordChange c`

// Prune removes old changes. It also removes entries of shadows that are not used any
// more.
func (s *Store) Prune(ctx context.Context, before time.Time, size int64, limit int) (hasMore bool, err error) {
	const doing = "removing old changes"
	total, err := appdb.QueryOne(ctx, s.db, appdb.ScanInt, `SELECT COALESCE(SUM(c.Bytes), 0) FROM whd.WH_Capture c`)
	if err != nil {
		return false, s.db.Fault(err, doing)
	}
	oldest, err := appdb.QueryAll(ctx, s.db, scanOld,
		oldColumns+` ORDER BY c.AddedDateTime, c.Kind, c.ChangeID`+s.db.Limit, sql.Named("Limit", limit))
	if err != nil {
		return false, s.db.Fault(err, doing)
	}
	n := countRemovable(oldest, before, *total-size)
	if err := s.removeChanges(ctx, oldest[:n]); err != nil {
		return false, s.db.Fault(err, doing)
	}
	hasMoreChanges := n > 0 && n == limit

	s.resets.Lock()
	defer s.resets.Unlock()
	hasMoreEntries, err := s.clean(ctx, limit)
	return hasMoreChanges || hasMoreEntries, err
}

// countRemovable returns how many of the oldest changes are to be removed: those recorded before a
// time, and more until their bodies have excess bytes.
func countRemovable(oldest []oldChange, before time.Time, excess int64) int {
	for i, c := range oldest {
		if excess <= 0 && !time.Time(c.added).Before(before) {
			return i
		}
		excess -= c.size
	}
	return len(oldest)
}

// errRemoved means that another daemon has removed changes at the same time.
var errRemoved = errors.New("the changes were removed concurrently")

// removeChanges removes changes, kind by kind, and their events if these have no messages.
// The changes go before the events are looked at, as the removal of messages does it.
func (s *Store) removeChanges(ctx context.Context, list []oldChange) error {
	byKind := make(map[string][]oldChange)
	for _, c := range list {
		byKind[c.kind] = append(byKind[c.kind], c)
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if err := s.removeChangesOf(ctx, kind, byKind[kind]); err != nil {
			return err
		}
	}
	return nil
}

// removeChangesOf removes changes of one kind, and moves the start of the kept ones after them.
func (s *Store) removeChangesOf(ctx context.Context, kind string, list []oldChange) error {
	var ids, events []int64
	var first, size int64
	for _, c := range list {
		ids = append(ids, c.id)
		size += c.size
		first = max(first, c.id+1)
		if c.event.Valid {
			events = append(events, c.event.Int64)
		}
	}
	kindArg := sql.Named("Kind", kind)
	return s.db.Transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.db.Qualify(`UPDATE whd.WH_Capture SET Bytes = Bytes - @Size,
	FirstChangeID = CASE WHEN FirstChangeID < @First THEN @First ELSE FirstChangeID END WHERE Kind = @Kind`),
			sql.Named("Size", size), sql.Named("First", first), kindArg)
		if err != nil {
			return err
		}
		removeChanges := `DELETE FROM whd.WH_RecordChange WHERE Kind = @Kind AND ChangeID IN ` + s.db.InList
		n, err := appdb.Affected(tx.ExecContext(ctx, s.db.Qualify(removeChanges), kindArg, s.db.ListArg(ids)))
		if err != nil {
			return err
		}
		if n != int64(len(ids)) {
			return errRemoved
		}
		if len(events) == 0 {
			return nil
		}
		removeEvents := `DELETE FROM whd.WH_Event WHERE EventID IN ` + s.db.InList + `
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = WH_Event.EventID)`
		_, err = tx.ExecContext(ctx, s.db.Qualify(removeEvents), s.db.ListArg(events))
		return err
	})
}

// removeStep is how many changes Remove removes at a time.
const removeStep = 1000

// Remove removes a kind's capture. The kind must not be captured. Prune removes the entries
// of its shadow. Captures that begin later continue with the IDs of its changes, since
// receivers drop changes with lower ones.
func (s *Store) Remove(ctx context.Context, kind string) error {
	if err := s.removeAllChanges(ctx, kind); err != nil {
		return s.db.Fault(err, "removing changes")
	}
	kindArg := sql.Named("Kind", kind)
	s.resets.Lock()
	defer s.resets.Unlock()
	return s.run(ctx, "removing a capture",
		appdb.Statement(`INSERT INTO whd.WH_Number (Name, Next) SELECT 'ChangeID', 1 WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = 'ChangeID')`),
		appdb.Statement(`UPDATE whd.WH_Number SET Next = (SELECT c.NextChangeID FROM whd.WH_Capture c WHERE c.Kind = @Kind)
WHERE Name = 'ChangeID' AND Next < (SELECT c.NextChangeID FROM whd.WH_Capture c WHERE c.Kind = @Kind)`, kindArg),
		appdb.Statement(`DELETE FROM whd.WH_Capture WHERE Kind = @Kind`, kindArg),
		appdb.Statement(`DELETE FROM whd.WH_CaptureEpoch WHERE Kind = @Kind`, kindArg),
		appdb.Statement(`DELETE FROM whd.WH_Recheck WHERE Kind = @Kind`, kindArg))
}

// removeAllChanges removes the changes of a kind in short transactions.
func (s *Store) removeAllChanges(ctx context.Context, kind string) error {
	statement := oldColumns + ` WHERE c.Kind = @Kind ORDER BY c.ChangeID` + s.db.Limit
	for {
		list, err := appdb.QueryAll(ctx, s.db, scanOld, statement,
			sql.Named("Kind", kind), sql.Named("Limit", removeStep))
		if err != nil {
			return err
		}
		if err := s.removeChanges(ctx, list); err != nil {
			return err
		}
		if len(list) < removeStep {
			return nil
		}
	}
}

// missingEntries returns the entries of up to limit changes above a position.
func missingEntries(
	ctx context.Context, db *appdb.DB, kind string, position int64, limit int,
) (entries []changes.Entry, last int64, err error) {
	statement := `SELECT c.ChangeID, c.Number, c.ShadowKey, c.Entry FROM whd.WH_RecordChange c
WHERE c.Kind = @Kind AND c.ChangeID > @After ORDER BY c.ChangeID` + db.Limit
	last = position
	scan := func(rows *sql.Rows) error {
		entries = nil // the statement may be repeated
		last = position
		for rows.Next() {
			var e changes.Entry
			var encoded []byte
			if err := rows.Scan(&last, &e.Number, &e.Key, &encoded); err != nil {
				return err
			}
			e.Deleted = encoded == nil
			if !e.Deleted {
				if err := changes.DecodeEntry(encoded, &e); err != nil {
					return err
				}
			}
			entries = append(entries, e)
		}
		return nil
	}
	err = db.Query(ctx, scan, statement,
		sql.Named("Kind", kind), sql.Named("After", position), sql.Named("Limit", limit))
	return entries, last, db.Fault(err, "reading the entries of changes")
}
