package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// deleteFile deletes the first rows that meet a condition, but never the newest one, since it
// determines the next ID.
const deleteFile = `DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog%s ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) RETURNING Id, UserAuthId IS NULL, %s`

var (
	deleteOld       = fmt.Sprintf(deleteFile, " WHERE DateTime < ?2 AND Id >= ?3 AND Id < ?4", rowSize)
	deleteOldest    = fmt.Sprintf(deleteFile, "", rowSize)
	deleteAnonymous = fmt.Sprintf(deleteFile, " WHERE UserAuthId IS NULL AND Id >= ?2", rowSize)
	measureSome     = `SELECT SUM(` + rowSize + `) FROM WH_RequestLog` +
		` WHERE Id > ?1 AND Id <= ?2 AND UserAuthId IS NULL`
)

// rowSize is the size of a row as Entry.Size.
var rowSize = func() string {
	size := fmt.Sprint(requestlog.BaseSize)
	for i := range requestlog.Texts {
		size += " + COALESCE(octet_length(" + requestlog.Column(i) + "), 0)"
	}
	return size
}()

// anonymousRows is the number of bytes of anonymous rows. It is measured after each start,
// part by part, since that reads the whole file.
type anonymousRows struct {
	bytes      int64 // size of the rows up to measuredTo
	measuredTo int64 // ID of the last row that has been measured
	complete   bool  // all rows have been measured
	first      int64 // no anonymous row has a lower ID
}

// added counts new rows.
func (a *anonymousRows) added(entries []requestlog.Entry) {
	if !a.complete {
		return
	}
	for i := range entries {
		if e := &entries[i]; e.Anonymous() {
			a.bytes += int64(e.Size())
		}
	}
}

// measure measures some rows, and reports whether there are more.
func (a *anonymousRows) measure(conn *sqlite.Conn) (hasMore bool, err error) {
	if a.complete {
		return false, nil
	}
	oldest, _, err := conn.QueryInt("SELECT MIN(Id) FROM WH_RequestLog")
	if err != nil {
		return false, err
	}
	newest, _, err := conn.QueryInt("SELECT MAX(Id) FROM WH_RequestLog")
	if err != nil {
		return false, err
	}
	start := max(a.measuredTo, oldest-1)
	size, _, err := conn.QueryInt(measureSome, start, start+measureBatch)
	if err != nil {
		return false, err
	}
	a.bytes += size
	a.measuredTo = start + measureBatch
	a.complete = a.measuredTo >= newest
	return !a.complete, nil
}

// removed counts a deleted row.
func (a *anonymousRows) removed(id int64, isAnonymous bool, size int64) {
	isMeasured := a.complete || id <= a.measuredTo
	if isAnonymous && isMeasured {
		a.bytes -= size
	}
}

// exceed reports whether anonymous rows exceed their share of a log of maxBytes.
func (a *anonymousRows) exceed(maxBytes int64) bool {
	return a.bytes > maxBytes/requestlog.AnonymousShare
}

// agePass is a pass over the rows that can be too old, part by part. Old rows are usually the first
// ones. But if the clock was ahead for some time, rows before them have later times, and remain.
type agePass struct {
	next int64 // ID at which the pass continues
}

// part returns the IDs of the next part of the rows that can be before a time.
func (a *agePass) part(conn *sqlite.Conn, before time.Time) (part idRange, hasMore bool, err error) {
	ids, err := newIDsByTime(conn)
	if err != nil {
		return idRange{}, false, err
	}
	end, err := ids.allAfter(before)
	if err != nil {
		return idRange{}, false, err
	}
	part.first = a.next
	if part.first < ids.first || part.first >= end {
		part.first = ids.first
	}
	part.end = min(part.first+agePart, end)
	return part, part.end < end, nil
}

const (
	// reservedShare is the part (1/8) of the maximum size that is reserved for the WAL and
	// for entries until the next pruning.
	reservedShare = 8

	measureBatch   = 20_000 // IDs of rows that are measured at a time
	agePart        = 4096   // IDs of the rows that are compared at a time
	sizeStep       = 8      // rows that are deleted at a time to reduce the size; each may be large
	maxSizeRows    = 4096   // max. rows that one transaction deletes to reduce the size
	maxShrinkPages = 1024   // max. pages to return at a time
)

// Prune deletes the oldest rows that are too old or exceed the size, and returns
// free pages to the file system.
func (f *File) Prune(ctx context.Context, before time.Time, maxBytes int64) (hasMore bool, err error) {
	err = f.write(ctx, func(conn *sqlite.Conn) error {
		var err error
		hasMore, err = f.prune(conn, before, maxBytes)
		return err
	})
	if err != nil {
		f.forgetAnonymous()
		return false, err
	}
	return hasMore, nil
}

// prune prunes the file of the writer's connection.
func (f *File) prune(conn *sqlite.Conn, before time.Time, maxBytes int64) (hasMore bool, err error) {
	size, err := appdb.SizeOf(conn)
	if err != nil {
		return false, err
	}
	maxPages := (maxBytes + size.PageSize - 1) / size.PageSize // 0 means no limit
	if err := conn.Exec(limitWAL(maxPages, size.PageSize) + `; BEGIN IMMEDIATE`); err != nil {
		return false, err
	}
	hasMore, err = f.deleteRows(conn, before, maxPages)
	if err != nil {
		return false, err
	}
	if err := conn.Exec("COMMIT"); err != nil {
		return false, err
	}
	if err := f.lags.forget(conn); err != nil {
		return false, err
	}

	size, err = appdb.SizeOf(conn)
	if err != nil {
		return false, err
	}
	excess := size.FreePages - size.Pages/appdb.MaxFreeShare
	if maxPages > 0 {
		excess = max(excess, size.Pages-maxPages)
	}
	shrunk, err := appdb.Shrink(conn, size, min(maxShrinkPages, excess))
	return hasMore || shrunk, err
}

// deleteRows deletes rows that are too old or exceed maxPages, in an open transaction.
func (f *File) deleteRows(
	conn *sqlite.Conn, before time.Time, maxPages int64,
) (hasMore bool, err error) {
	d, err := newDeletions(conn, &f.anonymous)
	if err != nil {
		return false, err
	}
	hasUnmeasured := false
	if maxPages > 0 {
		hasUnmeasured, err = f.anonymous.measure(conn)
		if err != nil {
			return false, err
		}
	}
	hasOld, err := d.removeOld(&f.ages, before)
	if err != nil {
		return false, err
	}
	isTooLarge := false
	if maxPages > 0 {
		isTooLarge, err = d.reduce(maxPages)
		if err != nil {
			return false, err
		}
	}
	return hasUnmeasured || hasOld || isTooLarge, d.missing.store(conn)
}

// deletions are those of one transaction.
type deletions struct {
	conn      *sqlite.Conn
	anonymous *anonymousRows
	missing   missing
}

func newDeletions(conn *sqlite.Conn, anonymous *anonymousRows) (*deletions, error) {
	missing, err := newMissing(conn)
	if err != nil {
		return nil, err
	}
	return &deletions{conn: conn, anonymous: anonymous, missing: missing}, nil
}

// remove runs a statement that deletes rows, and returns their number and the last ID.
func (d *deletions) remove(statement string, args ...any) (n, last int64, err error) {
	err = d.conn.Query(statement, func(row *sqlite.Stmt) error {
		id := row.Int(0)
		n++
		last = max(last, id)
		d.missing.add(id)
		d.anonymous.removed(id, row.Int(1) != 0, row.Int(2))
		return nil
	}, args...)
	return n, last, err
}

// removeOld deletes a few rows from before a time, in the next part of a pass.
func (d *deletions) removeOld(pass *agePass, before time.Time) (hasMore bool, err error) {
	if before.IsZero() {
		return false, nil
	}
	part, hasNext, err := pass.part(d.conn, before)
	if err != nil {
		return false, err
	}
	n, last, err := d.remove(deleteOld, int64(pruneBatch), appdb.Timestamp(before), part.first, part.end)
	if err != nil {
		return false, err
	}
	if n == pruneBatch {
		pass.next = last + 1
		return true, nil
	}
	pass.next = part.end
	// After a part without old rows, the pass waits for the next pruning: reading many rows that
	// remain would delay writes.
	return n > 0 && hasNext, nil
}

// reduce deletes rows until the file fits into maxPages without the reserved part. It reports
// whether it stopped early, at the limit of one transaction.
func (d *deletions) reduce(maxPages int64) (isTooLarge bool, err error) {
	usable := maxPages - maxPages/reservedShare
	deleted := int64(0)
	for {
		size, err := appdb.SizeOf(d.conn)
		if err != nil {
			return false, err
		}
		exceeds := size.Pages-size.FreePages > usable
		n, err := d.shrink(usable*size.PageSize, exceeds)
		if err != nil || n == 0 {
			return false, err
		}
		if deleted >= maxSizeRows {
			return true, nil
		}
		deleted += n
	}
}

// shrink deletes a few of the oldest anonymous rows if those exceed their share of maxBytes,
// otherwise a few of the oldest rows if the log is too large.
func (d *deletions) shrink(maxBytes int64, tooLarge bool) (n int64, err error) {
	a := d.anonymous
	if a.exceed(maxBytes) {
		n, last, err := d.remove(deleteAnonymous, int64(sizeStep), a.first)
		if n > 0 || err != nil {
			a.first = max(a.first, last)
			return n, err
		}
	}
	if !tooLarge {
		return 0, nil
	}
	n, _, err = d.remove(deleteOldest, int64(sizeStep))
	return n, err
}

// forgetAnonymous has the anonymous rows measured again, after a failure that may have
// rolled deletions back.
func (f *File) forgetAnonymous() {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.anonymous = anonymousRows{}
}

// limitWAL returns pragmas that make the WAL restart once it reaches a small part
// of the maximum size.
func limitWAL(maxPages, pageSize int64) string {
	const defaultSize = 16 << 20
	pages := defaultSize / pageSize
	if maxPages > 0 {
		pages = min(pages, max(1, maxPages/4/reservedShare))
	}
	return fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d", pages, pages*pageSize)
}
