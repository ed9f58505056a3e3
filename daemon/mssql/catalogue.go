package mssql

import (
	"context"
	"fmt"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// catalogueSQL selects the columns of a table. It must run in the table's database.
// COLLATIONPROPERTY returns the code page of a collation. varchar parameters use the code
// page of the connection's database.
const catalogueSQL = `SELECT COLUMN_NAME, LOWER(DATA_TYPE), CHARACTER_MAXIMUM_LENGTH,
	CAST(NUMERIC_PRECISION AS int), NUMERIC_SCALE, IS_NULLABLE, COLLATION_NAME,
	CAST(COLLATIONPROPERTY(COLLATION_NAME, 'CodePage') AS int),
	` + parameterCodePageSQL

const parameterCodePageSQL = `CAST(COLLATIONPROPERTY(
	CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)), 'CodePage') AS int)`

// Catalogue returns the columns of a table, view or synonym in their order. There are none
// if the table does not exist or is not accessible.
func (c *Conn) Catalogue(ctx context.Context, t Table) ([]Column, error) {
	columns, err := c.listColumns(ctx, t)
	if err != nil || len(columns) > 0 {
		return columns, err
	}
	return c.describeColumns(ctx, t)
}

// listColumns returns the columns in INFORMATION_SCHEMA, which does not contain synonyms.
func (c *Conn) listColumns(ctx context.Context, t Table) ([]Column, error) {
	name := Column{Type: "nvarchar", Length: 128}
	rows, err := c.Query(ctx, Query{
		SQL: catalogueSQL + " FROM " + t.qualifier() +
			"INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = @p1 AND TABLE_NAME = @p2 ORDER BY ORDINAL_POSITION",
		Params: []Param{Text(name, t.Schema), Text(name, t.Name)},
		Types: []record.Type{
			record.Text, record.Text, record.Int, record.Int, record.Int, record.Text,
			record.Text, record.Int, record.Int,
		},
	})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []Column
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return columns, err
		}
		columns = append(columns, column(cells))
	}
}

// column returns the column of a row of catalogueSQL.
func column(cells []row.Cell) Column {
	return Column{
		Name:              string(cells[0].Data),
		Type:              string(cells[1].Data),
		Length:            int(cells[2].Int),
		Precision:         int(cells[3].Int),
		Scale:             int(cells[4].Int),
		Nullable:          string(cells[5].Data) == "YES",
		Collation:         string(cells[6].Data),
		CodePage:          int(cells[7].Int),
		ParameterCodePage: int(cells[8].Int),
	}
}

// KeyColumn is a column of a unique index.
type KeyColumn struct {
	Index     int64
	Name      string
	Nullable  bool
	Unchecked bool // primary key of a file in which nulls are possible, unlike Nullable
	Texts     bool // the index of a file distinguishes texts of the same decimal
}

// indexColumnsSQL joins the indexes of the table @p1 with their columns. The system schema of
// its database takes the place of the verbs.
const indexColumnsSQL = ` FROM %[1]sindexes i
	JOIN %[1]sindex_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
	JOIN %[1]scolumns c ON c.object_id = i.object_id AND c.column_id = k.column_id
WHERE i.object_id = OBJECT_ID(@p1) AND i.has_filter = 0 AND i.is_disabled = 0`

const keysSQL = `SELECT i.index_id, c.name, CAST(c.is_nullable AS int)` + indexColumnsSQL + `
	AND i.is_unique = 1 AND k.is_included_column = 0
ORDER BY CASE WHEN i.is_primary_key = 1 THEN 0 ELSE 1 END, i.index_id, k.key_ordinal`

// Keys returns the columns of the unique indexes of a table, starting with the primary key. There
// are none for a view, a synonym or a table on another server.
func (c *Conn) Keys(ctx context.Context, t Table) (columns []KeyColumn, err error) {
	types := []record.Type{record.Int, record.Text, record.Int}
	err = facts(ctx, c, t, keysSQL, types, func(cells []row.Cell) {
		columns = append(columns, KeyColumn{
			Index:    cells[0].Int,
			Name:     string(cells[1].Data),
			Nullable: cells[2].Int != 0,
		})
	})
	return columns, err
}

const leadingSQL = `SELECT c.name` + indexColumnsSQL + ` AND k.key_ordinal = 1`

// Leading returns the first columns of the indexes of a table that contain all of its rows.
func (c *Conn) Leading(ctx context.Context, t Table) (names []string, err error) {
	err = facts(ctx, c, t, leadingSQL, []record.Type{record.Text}, func(cells []row.Cell) {
		names = append(names, string(cells[0].Data))
	})
	return names, err
}

// sizeSQL is the largest number of rows of an index: Babelfish lists only the indexes of a
// table, with 0 rows.
const sizeSQL = `SELECT MAX(q.n) FROM (
	SELECT SUM(rows) AS n FROM %[1]spartitions WHERE object_id = OBJECT_ID(@p1) GROUP BY index_id
) q`

// Size returns the approximate number of rows of a table, negative if the catalogue does not
// know it, as for views.
func (c *Conn) Size(ctx context.Context, t Table) (n int64, err error) {
	n = -1
	err = facts(ctx, c, t, sizeSQL, []record.Type{record.Long}, func(cells []row.Cell) {
		if !cells[0].Null {
			n = cells[0].Int
		}
	})
	return n, err
}

// storedSQL selects the table if all its values are stored. A mask can be a random number.
const storedSQL = `SELECT 1 FROM %[1]stables t WHERE t.object_id = OBJECT_ID(@p1) AND t.is_external = 0
	AND NOT EXISTS (SELECT 1 FROM %[1]scolumns c
		WHERE c.object_id = t.object_id AND (c.is_computed = 1 OR c.is_masked = 1))`

// IsStored reports whether an object is a table that stores all its values. The values of a view, or
// of a computed column, can depend on the time of reading.
func (c *Conn) IsStored(ctx context.Context, t Table) (isStored bool, err error) {
	err = facts(ctx, c, t, storedSQL, []record.Type{record.Int}, func([]row.Cell) { isStored = true })
	return isStored, err
}

// facts reads facts about a table from the catalogue of its database. There are none for a
// table on another server.
func facts(
	ctx context.Context, c *Conn, t Table, query string, types []record.Type, add func([]row.Cell),
) error {
	if t.Server != "" {
		return nil
	}
	system := "sys."
	if t.Database != "" {
		system = Quote(t.Database) + ".sys."
	}
	rows, err := c.Query(ctx, Query{
		SQL:    fmt.Sprintf(query, system),
		Params: []Param{Text(Column{Type: "nvarchar", Length: 1000}, t.Quoted())},
		Types:  types,
	})
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return err
		}
		add(cells)
	}
}
