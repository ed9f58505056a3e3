package executor

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
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
	rowID   string   // see fileRowID
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
	facts.rowID, err = fileRowID(conn, t, facts)
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

// rowIDs are the names of the row ID of a table. A column with one of them hides it.
var rowIDs = []string{"_rowid_", "rowid", "oid"}

// fileRowID returns the name of the row ID of a table if the fields that complete an order do not
// identify a row. It is empty if they do, or if there is no row ID, as in a view.
func fileRowID(conn *sqlite.Conn, table *fileTable, facts *tableFacts) (string, error) {
	if completesOrder(table.kind, facts.keys) {
		return "", nil
	}
	hasRowID, err := conn.HasRowID(table.name)
	if err != nil || !hasRowID {
		return "", err
	}
	for _, name := range rowIDs {
		isColumn := func(c sqlite.Column) bool { return strings.EqualFold(c.Name, name) }
		if !slices.ContainsFunc(facts.columns, isColumn) {
			return name, nil
		}
	}
	return "", nil
}

// completesOrder reports whether the fields that complete the order of a page identify a row.
func completesOrder(kind *record.Kind, keys []mssql.KeyColumn) bool {
	fields := kind.KeyFields()
	if fields == nil {
		fields = []int{kind.KeyField()}
	}
	strict := slices.Clone(keys)
	for i, c := range keys {
		strict[i].Nullable = c.Nullable || c.Unchecked
	}
	return FindKey(strict, func(column string) (int, bool) {
		field, ok := kind.ByColumn(column)
		return field, ok && slices.Contains(fields, field)
	}) != nil
}
