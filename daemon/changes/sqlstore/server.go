package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// serverShadow is the shadow on SQL Server. Its entries are found by the ID that the row of
// their kind has now, so that it cannot be lost.
type serverShadow struct{ db *appdb.DB }

func (s *serverShadow) attach(_ context.Context, c *capture) (bool, error) {
	return c.shadowID != 0, nil
}

func (s *serverShadow) create(context.Context, *capture) error { return nil }

func (s *serverShadow) sync(context.Context) error { return nil }

// Close closes the shadow.
func (s *serverShadow) Close() error { return nil }

const ofKind = ` FROM whd.WH_Shadow s WHERE s.ShadowID = (SELECT c.ShadowID FROM whd.WH_Capture c WHERE c.Kind = @Kind)`

// entries returns the entries of a kind that meet a condition.
func (s *serverShadow) entries(ctx context.Context, kind, condition string, args ...any) ([]changes.Entry, error) {
	statement := `SELECT s.Number, s.ShadowKey, s.Entry` + ofKind + condition
	args = append(args, sql.Named("Kind", kind))
	entries, err := appdb.QueryAll(ctx, s.db, scanEntry, statement, args...)
	return entries, s.db.Fault(err, "reading the shadow")
}

func scanEntry(row appdb.Row) (changes.Entry, error) {
	var e changes.Entry
	var encoded []byte
	if err := row.Scan(&e.Number, &e.Key, &encoded); err != nil {
		return e, err
	}
	err := changes.DecodeEntry(encoded, &e)
	return e, err
}

func (s *serverShadow) Find(ctx context.Context, kind string, keys [][]byte) ([]*changes.Entry, error) {
	hashes := make([]int64, len(keys))
	for i, key := range keys {
		hashes[i] = delivery.KeyHash(key)
	}
	all, err := s.entries(ctx, kind, ` AND s.KeyHash IN `+s.db.InList, s.db.ListArg(hashes))
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]*changes.Entry, len(all))
	for i := range all {
		byKey[string(all[i].Key)] = &all[i]
	}
	found := make([]*changes.Entry, len(keys))
	for i, key := range keys {
		found[i] = byKey[string(key)]
	}
	return found, nil
}

func (s *serverShadow) numbered(ctx context.Context, kind string, numbers []int64) ([]changes.Entry, error) {
	return s.entries(ctx, kind, ` AND s.Number IN `+s.db.InList+` ORDER BY s.Number`, s.db.ListArg(numbers))
}

const (
	beginPut = `SET XACT_ABORT ON;
DECLARE @Result int;
SET @Result = 0;
BEGIN TRANSACTION;
UPDATE whd.WH_Capture SET Fence = Fence WHERE Kind = @Kind AND Fence = @Fence;
IF @@ROWCOUNT <> 1 SET @Result = 1;
IF @Result = 0
BEGIN
`
	endPut = `END
IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;`
)

// putChunk is the maximum number of entries that one transaction writes.
const putChunk = 1000

// Put writes the entries, each chunk in a transaction. It needs no position: PublishCaptured has
// written the entries of changes into the same database.
func (s *serverShadow) Put(ctx context.Context, kind string, fence, _ int64, entries []changes.Entry) error {
	for chunk := range slices.Chunk(entries, putChunk) {
		rows := shadowRows(chunk)
		if len(rows) == 0 {
			continue
		}
		statement, args := sqlstore.ShadowStatement(kind, rows)
		args = append(args, sql.Named("Fence", fence))
		var result int64
		err := executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) (err error) {
			result, err = s.db.QueryInt(ctx, beginPut+statement+endPut, args...)
			return err
		})
		if err != nil {
			return s.db.Fault(err, "writing the shadow")
		}
		if result != 0 {
			return delivery.ErrCaptureLost
		}
	}
	return nil
}

// shadowRows returns the rows of entries. A later entry replaces an earlier one with its number.
func shadowRows(entries []changes.Entry) []sqlstore.ShadowRow {
	rows := make([]sqlstore.ShadowRow, 0, len(entries))
	index := make(map[int64]int, len(entries)) // indexes of rows, by number
	for _, e := range entries {
		if e.Number == 0 {
			continue
		}
		r := sqlstore.ShadowRow{Number: e.Number, Key: e.Key}
		if !e.Deleted {
			r.Entry = e.Encode()
		}
		if i, ok := index[e.Number]; ok {
			rows[i] = r
			continue
		}
		index[e.Number] = len(rows)
		rows = append(rows, r)
	}
	return rows
}

func (s *serverShadow) Size(ctx context.Context, kind string) (rows, highest int64, err error) {
	scan := func(row appdb.Row) (bool, error) {
		return true, row.Scan(&rows, &highest)
	}
	_, err = appdb.QueryOne(ctx, s.db, scan,
		`SELECT COUNT_BIG(*), COALESCE(MAX(s.Number), 0)`+ofKind, sql.Named("Kind", kind))
	return rows, highest, s.db.Fault(err, "counting the shadow")
}

// clean looks for entries with an ID that no kind has. A kind's row has its ID before there
// are entries with it.
func (s *serverShadow) clean(ctx context.Context, limit int) (hasMore bool, err error) {
	const doing = "removing entries of old shadows"
	used, err := shadowIDs(ctx, s.db)
	if err != nil {
		return false, s.db.Fault(err, doing)
	}
	id := sql.NullInt64{Int64: math.MinInt64, Valid: true}
	scan := func(row appdb.Row) (bool, error) {
		return true, row.Scan(&id)
	}
	for {
		_, err := appdb.QueryOne(ctx, s.db, scan,
			`SELECT MIN(s.ShadowID) FROM whd.WH_Shadow s WHERE s.ShadowID > @After`,
			sql.Named("After", id.Int64))
		if err != nil || !id.Valid {
			return false, s.db.Fault(err, doing)
		}
		if used[id.Int64] {
			continue
		}
		remove := `DELETE FROM whd.WH_Shadow WHERE ShadowID = @ShadowID AND Number IN (
	SELECT s.Number FROM whd.WH_Shadow s WHERE s.ShadowID = @ShadowID ORDER BY s.Number` + s.db.Limit + `)
	AND NOT EXISTS (SELECT 1 FROM whd.WH_Capture c WHERE c.ShadowID = @ShadowID)`
		n, err := s.db.Exec(ctx, remove, sql.Named("ShadowID", id.Int64), sql.Named("Limit", limit))
		if err != nil || n > 0 {
			return err == nil, s.db.Fault(err, doing)
		}
	}
}

// shadowIDs returns the IDs of the shadows in use.
func shadowIDs(ctx context.Context, db *appdb.DB) (map[int64]bool, error) {
	ids, err := appdb.QueryAll(ctx, db, appdb.ScanInt, `SELECT c.ShadowID FROM whd.WH_Capture c`)
	used := make(map[int64]bool, len(ids))
	for _, id := range ids {
		used[id] = true
	}
	return used, err
}
