package sqlstore

import (
	"time"

	"github.com/bizhook/whd/client/wire"
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
