package sqlstore

import "github.com/bizhook/whd/daemon/sqlite"

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
