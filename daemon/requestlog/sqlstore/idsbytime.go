package sqlstore

import (
	"math"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/sqlite"
)

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
