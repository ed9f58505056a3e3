package executor

import (
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// tableFacts are the facts about a table in the catalogue of a SQLite file. They are shared by
// requests, and must not be changed.
type tableFacts struct {
	schema  int64 // the version of the schema; SQLite increments it whenever the schema changes
	columns []sqlite.Column
	decimal map[string]bool // the columns that are compared with the collation DEC
	keys    []mssql.KeyColumn
	leading []string // see FileLeading
}

// read returns the facts about a table. They are read from the catalogue again only after its
// schema has changed, since reading them takes longer than reading a short page.
func (t *fileTable) read(conn *sqlite.Conn) (*tableFacts, error) {
	schema, _, err := conn.QueryInt("PRAGMA schema_version")
	if err != nil {
		return nil, err
	}
	cached := t.facts.Load()
	if cached != nil && cached.schema == schema {
		return cached, nil
	}

	// If the schema changes between these statements, the version read before it no longer
	// applies, and the next request reads the facts again.
	facts := &tableFacts{schema: schema}
	facts.columns, err = conn.Columns(t.name)
	if err != nil {
		return nil, err
	}
	facts.decimal, err = decimalColumns(conn, t.name, facts.columns)
	if err != nil {
		return nil, err
	}
	facts.keys, err = FileKeys(conn, t.name)
	if err != nil {
		return nil, err
	}
	facts.leading, err = FileLeading(conn, t.name)
	if err != nil {
		return nil, err
	}
	t.facts.Store(facts)
	return facts, nil
}

// decimalColumns returns the columns of a table that are compared with the collation DEC. The
// declared type does not prove it: other programs may copy the type without the collation.
func decimalColumns(conn *sqlite.Conn, table string, columns []sqlite.Column) (map[string]bool, error) {
	decimal := make(map[string]bool)
	for _, c := range columns {
		if c.Type != sqlite.DecimalType {
			continue
		}
		collation, err := conn.Collation(table, c.Name)
		if err != nil {
			return nil, err
		}
		decimal[c.Name] = collation == "DEC"
	}
	return decimal, nil
}
