package executor

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// tableFacts are the facts about a table in the catalogue of a SQLite file. They are shared by
// requests, and must not be changed.
type tableFacts struct {
	schema  int64 // the version of the schema; SQLite increments it whenever the schema changes
	columns []sqlite.Column
	keys    []mssql.KeyColumn
	leading []string // see FileLeading
}

// facts returns the facts about a kind's table. They are read from the catalogue again only
// after its schema has changed, since reading them takes longer than reading a short page.
func (f *File) facts(conn *sqlite.Conn, kind *record.Kind) (*tableFacts, error) {
	schema, _, err := conn.QueryInt("PRAGMA schema_version")
	if err != nil {
		return nil, err
	}
	cached, ok := f.tables.Load(kind)
	if ok && cached.(*tableFacts).schema == schema {
		return cached.(*tableFacts), nil
	}

	// If the schema changes between these statements, the version read before it no longer
	// applies, and the next request reads the facts again.
	name := f.Name(kind)
	t := &tableFacts{schema: schema}
	t.columns, err = conn.Columns(name)
	if err != nil {
		return nil, err
	}
	t.keys, err = FileKeys(conn, name)
	if err != nil {
		return nil, err
	}
	t.leading, err = FileLeading(conn, name)
	if err != nil {
		return nil, err
	}
	f.tables.Store(kind, t)
	return t, nil
}
