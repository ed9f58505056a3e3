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
	hint        int64 // ID at which searches begin; 0 for none
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
	s := timeSearch{
		conn:   b.conn,
		time:   searchText(at),
		before: b.first - 1,
		from:   b.last + 1,
	}
	if b.hint > s.before && b.hint < s.from {
		err := s.leap(b.hint)
		if err != nil {
			return 0, err
		}
	}
	for s.from-s.before > 1 {
		err := s.probe(s.before + (s.from-s.before)/2)
		if err != nil {
			return 0, err
		}
	}
	return s.from, nil
}

// searchText returns the text of a time, which stored times are compared with. That of a year with
// five digits, which the lag after the last time of a filter has, would be before all of them.
func searchText(at time.Time) string {
	if at.Year() > maxYear {
		return afterTimes
	}
	return appdb.Timestamp(at)
}

const (
	maxYear    = 9999
	afterTimes = "~" // sorts after all digits
)

// timeSearch is a search for a time between two IDs.
type timeSearch struct {
	conn   *sqlite.Conn
	time   string
	before int64 // the last row up to it is before the time, or there is none
	from   int64 // the first row from it on is not, or there is none
}

// probe compares the time of the first row from an ID on, which is between the two.
func (s *timeSearch) probe(id int64) error {
	row, isBefore := s.from, false
	err := s.conn.Query(probeTime, func(stmt *sqlite.Stmt) error {
		row = stmt.Int(0)
		isBefore = stmt.Text(1) < s.time
		return nil
	}, id)
	if err != nil {
		return err
	}
	if isBefore && row < s.from {
		s.before = row
	} else {
		s.from = id
	}
	return nil
}

// leap probes IDs around one, at growing distances, until the time is between two of them.
func (s *timeSearch) leap(hint int64) error {
	const (
		firstLeap = 64
		growth    = 8
	)
	start := *s
	err := s.probe(hint)
	if err != nil {
		return err
	}
	isBelow := s.from != start.from // the time is at a lower ID
	for leap := int64(firstLeap); s.before == start.before || s.from == start.from; leap *= growth {
		next := s.before + leap
		if isBelow {
			next = s.from - leap
		}
		if next <= s.before || next >= s.from {
			return nil
		}
		err := s.probe(next)
		if err != nil {
			return err
		}
	}
	return nil
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
