package sqlstore

import (
	"math"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

// The rows of a file are nearly in the order of their times: requests that end at the same time are
// added in any order, and the clock may be set back. Queries find times through IDs as long as the
// file has the limits of this disorder, which Append and Prune keep. An index on DateTime would
// have to be maintained by every request.

// minLag is the lag of rows that is not stored: that of requests which end at the same time. With a
// lag of maxLag or more, rows are not found through their IDs.
const (
	minLag = 128 * time.Millisecond
	maxLag = minLag << 26 // about 100 days
)

// lags keeps the lag of rows: how much the time of a row is before that of a row with a lower ID.
type lags struct {
	known  bool      // latest is set
	latest time.Time // no row has a later time
}

// add stores the lag of entries that are going to be added, if it is not that of most.
func (l *lags) add(conn *sqlite.Conn, entries []requestlog.Entry) (err error) {
	if !l.known {
		l.latest, err = latestTime(conn)
		if err != nil {
			return err
		}
		l.known = true
	}

	lag := time.Duration(0)
	for i := range entries {
		lag = max(lag, l.latest.Sub(entries[i].At))
		if entries[i].At.After(l.latest) {
			l.latest = entries[i].At
		}
	}
	if lag <= minLag {
		return nil
	}
	stored := minLag
	for stored < min(lag, maxLag) {
		stored *= 2 // there are few different ones
	}
	return conn.Query(storeLag, nil, stored.Milliseconds(), int64(len(entries)))
}

const storeLag = `INSERT INTO WH_RequestLogLag (Lag, LastId)
SELECT ?1, COALESCE(MAX(Id), 0) + ?2 FROM WH_RequestLog WHERE true
ON CONFLICT (Lag) DO UPDATE SET LastId = excluded.LastId`

// latestTime returns a time that no row is after.
func latestTime(conn *sqlite.Conn) (latest time.Time, err error) {
	lag, err := lagOf(conn)
	if err != nil {
		return time.Time{}, err
	}
	const lastRow = "SELECT DateTime FROM WH_RequestLog ORDER BY Id DESC LIMIT 1"
	err = conn.Query(lastRow, func(row *sqlite.Stmt) error {
		at, err := time.Parse(wire.DateLayout, row.Text(0))
		latest = at.Add(lag)
		return err
	})
	return latest, err
}

// lagOf returns the greatest lag of the rows.
func lagOf(conn *sqlite.Conn) (time.Duration, error) {
	ms, _, err := conn.QueryInt(readLag)
	return max(minLag, time.Duration(ms)*time.Millisecond), err
}

const (
	readLag = `SELECT COALESCE(MAX(Lag), 0) FROM WH_RequestLogLag
WHERE LastId >= (SELECT MIN(Id) FROM WH_RequestLog)`
	forgetLags = `DELETE FROM WH_RequestLogLag WHERE LastId < (SELECT MIN(Id) FROM WH_RequestLog)`
)

// missing keeps the number of IDs that no row has, while rows are deleted. The last row is never
// deleted.
type missing struct {
	first   int64 // ID of the first row before
	deleted int64
	last    int64 // ID of the last deleted row
}

const firstRow = "SELECT COALESCE(MIN(Id), 0) FROM WH_RequestLog"

func newMissing(conn *sqlite.Conn) (m missing, err error) {
	m.first, _, err = conn.QueryInt(firstRow)
	return m, err
}

// add adds a deleted row.
func (m *missing) add(id int64) {
	m.deleted++
	m.last = max(m.last, id)
}

// store stores the number, and forgets the lag of deleted rows.
func (m *missing) store(conn *sqlite.Conn) error {
	if m.deleted == 0 {
		return nil
	}
	first, _, err := conn.QueryInt(firstRow)
	if err != nil {
		return err
	}
	change := m.deleted - (first - m.first)
	if err := conn.Query(storeMissing, nil, change, m.last); err != nil {
		return err
	}
	return conn.Exec(forgetLags)
}

const storeMissing = `UPDATE WH_RequestLogMissing SET Number = Number + ?1, LastId = MAX(LastId, ?2)`

// idsByTime finds IDs by times.
type idsByTime struct {
	conn        *sqlite.Conn
	first, last int64 // IDs of the rows
	lag         time.Duration
}

func newIDsByTime(conn *sqlite.Conn) (b *idsByTime, err error) {
	b = &idsByTime{conn: conn}
	b.first, _, err = conn.QueryInt(firstRow)
	if err != nil {
		return nil, err
	}
	b.last, _, err = conn.QueryInt("SELECT COALESCE(MAX(Id), 0) FROM WH_RequestLog")
	if err != nil {
		return nil, err
	}
	b.lag, err = lagOf(conn)
	return b, err
}

// search returns an ID: the last row before it is before a time, and the first row from it on is
// not. Without such a row it returns the ID after the last one.
func (b *idsByTime) search(at time.Time) (int64, error) {
	text := appdb.Timestamp(at)
	before, from := b.first-1, b.last+1
	for from-before > 1 {
		middle := before + (from-before)/2
		id, isBefore := from, false
		err := b.conn.Query(probeTime, func(row *sqlite.Stmt) error {
			id = row.Int(0)
			isBefore = row.Text(1) < text
			return nil
		}, middle)
		if err != nil {
			return 0, err
		}
		if isBefore && id < from {
			before = id
		} else {
			from = middle
		}
	}
	return from, nil
}

const probeTime = "SELECT Id, DateTime FROM WH_RequestLog WHERE Id >= ?1 ORDER BY Id LIMIT 1"

// allBefore returns an ID before which all rows are before a time.
func (b *idsByTime) allBefore(at time.Time) (int64, error) {
	if b.lag >= maxLag {
		return b.first, nil
	}
	return b.search(at.Add(-b.lag))
}

// allAfter returns an ID from which on all rows are after a time.
func (b *idsByTime) allAfter(at time.Time) (int64, error) {
	if b.lag >= maxLag {
		return b.last + 1, nil
	}
	const tick = 100 * time.Nanosecond // the resolution of stored times
	return b.search(at.Add(b.lag + tick))
}

// idRange are the IDs from first until before end.
type idRange struct{ first, end int64 }

var allIDs = idRange{0, math.MaxInt64}

// period returns the IDs of all rows of a period, and of some others. Its bounds are nil for none.
func (b *idsByTime) period(since, until *time.Time) (r idRange, err error) {
	r = allIDs
	if since != nil {
		r.first, err = b.allBefore(*since)
		if err != nil {
			return r, err
		}
	}
	if until == nil {
		return r, nil
	}
	end, err := b.allAfter(*until)
	if end <= b.last { // otherwise new rows may be in the period
		r.end = end
	}
	return r, err
}

// surePeriod returns IDs that only rows of a period have. Its bounds may be excluded.
func (b *idsByTime) surePeriod(since, until *time.Time) (r idRange, err error) {
	r = allIDs
	if since != nil {
		r.first, err = b.allAfter(*since)
		if err != nil {
			return r, err
		}
		if r.first > b.last { // later rows may be before the time
			return idRange{}, nil
		}
	}
	if until != nil {
		r.end, err = b.allBefore(*until)
	}
	return r, err
}
