package sqlstore

import "github.com/bizhook/whd/daemon/sqlite"

// missing counts the deletions of a transaction, for the stored number of missing IDs: those between
// the first and the last row that no row has. With it, a total is the difference of two IDs less the
// missing ones. Rows are deleted at the start, which moves the first row, and among the others, if
// anonymous ones exceed their share. The last row is never deleted.
type missing struct {
	first   int64 // ID of the first row before the deletions
	deleted int64 // number of deleted rows
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
	// The ID of each deleted row is missing now. Those before the new first row are not between the
	// rows any more, whether they have been missing before or not: all from the old first row on.
	change := m.deleted - (first - m.first)
	if err := conn.Query(storeMissing, nil, change, m.last); err != nil {
		return err
	}
	return conn.Exec(forgetLags)
}

const storeMissing = `UPDATE WH_RequestLogMissing SET Number = Number + ?1, LastId = MAX(LastId, ?2)`
