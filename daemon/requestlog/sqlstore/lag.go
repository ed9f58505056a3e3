package sqlstore

import (
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
//
// Rows without a stored lag are at most minLag before the latest one, so that the latest time
// follows from such a row. While the lag is stored, after the clock has been set back, the latest
// time is stored as well: a greater estimate would keep the lag alive beyond the time at which the
// clock is as late as before.
type lags struct {
	known  bool      // latest is set
	latest time.Time // no row has a later time
	lastID int64     // rows at the latest time have no higher ID; 0 if it is not stored
	later  time.Time // if lastID is set: no row with a higher ID has a later time
}

// add stores the lag of entries that are going to be added, if it is not that of most.
func (l *lags) add(conn *sqlite.Conn, entries []requestlog.Entry) error {
	if !l.known {
		err := l.read(conn)
		if err != nil {
			return err
		}
	}

	lag := time.Duration(0)
	for i := range entries {
		lag = max(lag, l.latest.Sub(entries[i].At))
		l.advance(entries[i].At)
	}
	if lag <= minLag {
		return nil
	}
	return l.store(conn, lag, len(entries))
}

// advance adds the time of a row with a higher ID than those before.
func (l *lags) advance(at time.Time) {
	if at.After(l.latest) {
		l.latest = at
		l.lastID = 0
	}
	if at.After(l.later) {
		l.later = at
	}
}

// store stores the lag of rows that are going to be added, and the latest time.
func (l *lags) store(conn *sqlite.Conn, lag time.Duration, rows int) error {
	lastID, _, err := conn.QueryInt("SELECT COALESCE(MAX(Id), 0) FROM WH_RequestLog")
	if err != nil {
		return err
	}
	lastID += int64(rows)
	stored := minLag
	for stored < min(lag, maxLag) {
		stored *= 2 // there are few different ones
	}
	err = conn.Query(storeLag, nil, stored.Milliseconds(), lastID)
	if err != nil {
		return err
	}
	if l.lastID == 0 { // the latest row is one of these, or an earlier one
		l.lastID = lastID
		l.later = time.Time{}
	}
	return conn.Query(storeLatest, nil, appdb.Timestamp(l.latest), l.lastID, appdb.Timestamp(l.later))
}

const (
	storeLag = `INSERT INTO WH_RequestLogLag (Lag, LastId) VALUES (?1, ?2)
ON CONFLICT (Lag) DO UPDATE SET LastId = excluded.LastId`
	storeLatest = `UPDATE WH_RequestLogLatest SET DateTime = ?1, LastId = ?2, Later = ?3`
)

// read reads the latest time of the rows: the stored one if the last row has a stored lag.
func (l *lags) read(conn *sqlite.Conn) error {
	const lastRow = `SELECT DateTime, EXISTS (SELECT 1 FROM WH_RequestLogLag WHERE LastId >= Id)
FROM WH_RequestLog ORDER BY Id DESC LIMIT 1`
	read := lags{known: true}
	hasLag := false
	err := conn.Query(lastRow, func(row *sqlite.Stmt) error {
		at, err := time.Parse(wire.DateLayout, row.Text(0))
		read.latest = at.Add(minLag)
		hasLag = row.Int(1) != 0
		return err
	})
	if err == nil && hasLag {
		err = read.readStored(conn)
	}
	if err != nil {
		return err
	}
	*l = read
	return nil
}

// readStored reads the stored latest time.
func (l *lags) readStored(conn *sqlite.Conn) error {
	const stored = `SELECT DateTime, LastId, Later FROM WH_RequestLogLatest`
	err := conn.Query(stored, func(row *sqlite.Stmt) (err error) {
		l.latest, err = time.Parse(wire.DateLayout, row.Text(0))
		if err != nil {
			return err
		}
		l.lastID = row.Int(1)
		l.later, err = time.Parse(wire.DateLayout, row.Text(2))
		return err
	})
	if err != nil {
		return err
	}
	return l.forget(conn)
}

// forget forgets the latest time if its row is deleted: the lag of new rows is that behind those
// which are left.
func (l *lags) forget(conn *sqlite.Conn) error {
	if l.lastID == 0 {
		return nil
	}
	first, _, err := conn.QueryInt(firstRow)
	if err != nil {
		return err
	}
	if l.lastID < first {
		l.latest = l.later
		l.lastID = 0
	}
	return nil
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
