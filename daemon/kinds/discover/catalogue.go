// Package discover proposes record kinds for the tables and views of a database, and
// compares record kinds with them.
package discover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Object is a table or view in the catalogue of a database.
type Object struct {
	Schema, Name string // without a schema in an embedded file
	View         bool
	Columns      []Column
	Unique       []mssql.KeyColumn // columns of the primary key, then of unique indexes
	Problem      string            // why it cannot be read; empty if it can, or for lack of rights
}

// Column is a column in the catalogue.
type Column struct {
	Name      string
	Type      string // lower case, without length
	Nullable  bool
	Forbidden bool // no permission to read it
	Blobs     bool // blobs of 16 bytes, which may be GUIDs, are in the first rows of an embedded file
}

// Read reads the catalogue, in the order of names. A login sees only objects that it has
// a right on.
func Read(ctx context.Context, c erp.Config) ([]Object, error) {
	if c.DSN == "" {
		return readFile(c.Path)
	}
	server, err := mssql.Open(mssql.Config{DSN: c.DSN, Connections: 1})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	return readServer(ctx, server.DB())
}

// The statements for objects, their columns, and unique indexes on all rows. They are not
// joined, because a server without statistics of a new database may join them slowly.
const (
	objectsSQL = `SELECT TABLE_SCHEMA, TABLE_NAME, CASE TABLE_TYPE WHEN 'VIEW' THEN 1 ELSE 0 END,
	COALESCE(OBJECT_ID(QUOTENAME(TABLE_SCHEMA) + N'.' + QUOTENAME(TABLE_NAME)), 0)
FROM INFORMATION_SCHEMA.TABLES
WHERE COALESCE(OBJECTPROPERTY(OBJECT_ID(QUOTENAME(TABLE_SCHEMA) + N'.' + QUOTENAME(TABLE_NAME)), 'IsMSShipped'), 0) = 0
ORDER BY TABLE_SCHEMA, TABLE_NAME`

	columnsSQL = `SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, LOWER(DATA_TYPE),
	CASE IS_NULLABLE WHEN 'YES' THEN 1 ELSE 0 END
FROM INFORMATION_SCHEMA.COLUMNS ORDER BY ORDINAL_POSITION`

	indexesSQL = `SELECT object_id, index_id FROM sys.indexes
WHERE is_unique = 1 AND has_filter = 0 AND is_disabled = 0 AND is_hypothetical = 0
ORDER BY object_id, is_primary_key DESC, index_id`

	keysSQL = `SELECT object_id, index_id, column_id FROM sys.index_columns
WHERE key_ordinal > 0 ORDER BY object_id, index_id, key_ordinal`

	numbersSQL = "SELECT object_id, column_id, name, CAST(is_nullable AS int) FROM sys.columns"
)

func readServer(ctx context.Context, db *sql.DB) ([]Object, error) {
	objects, byID, err := readObjects(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := readColumns(ctx, db, objects); err != nil {
		return nil, err
	}
	if err := readUnique(ctx, db, byID); err != nil {
		return nil, err
	}
	list := make([]Object, len(objects))
	for i, o := range objects {
		if err := o.probe(ctx, db); err != nil {
			return nil, err
		}
		list[i] = *o
	}
	return list, nil
}

// readObjects reads the tables and views without their columns.
func readObjects(ctx context.Context, db *sql.DB) (objects []*Object, byID map[int64]*Object, err error) {
	byID = make(map[int64]*Object)
	var row struct {
		schema, name string
		isView       bool
		id           int64
	}
	add := func() {
		o := &Object{Schema: row.schema, Name: row.name, View: row.isView}
		objects = append(objects, o)
		byID[row.id] = o
	}
	err = query(ctx, db, objectsSQL, add, &row.schema, &row.name, &row.isView, &row.id)
	return objects, byID, err
}

// readColumns reads the columns of objects.
func readColumns(ctx context.Context, db *sql.DB, objects []*Object) error {
	type name struct{ schema, object string }
	byName := make(map[name]*Object)
	for _, o := range objects {
		byName[name{o.Schema, o.Name}] = o
	}
	var object name
	var column Column
	add := func() {
		if o := byName[object]; o != nil {
			o.Columns = append(o.Columns, column)
		}
	}
	return query(ctx, db, columnsSQL, add, &object.schema, &object.object, &column.Name, &column.Type, &column.Nullable)
}

// readUnique reads the columns of the unique indexes of objects, which are known by numbers.
func readUnique(ctx context.Context, db *sql.DB, objects map[int64]*Object) error {
	type part struct{ object, number int64 } // a column or an index of an object
	var id, columnNumber, indexNumber int64

	var column mssql.KeyColumn
	columns := make(map[part]mssql.KeyColumn)
	addColumn := func() { columns[part{id, columnNumber}] = column }
	err := query(ctx, db, numbersSQL, addColumn, &id, &columnNumber, &column.Name, &column.Nullable)
	if err != nil {
		return err
	}

	keys := make(map[part][]mssql.KeyColumn)
	addKey := func() {
		index := part{id, indexNumber}
		key := columns[part{id, columnNumber}]
		key.Index = indexNumber
		keys[index] = append(keys[index], key)
	}
	if err := query(ctx, db, keysSQL, addKey, &id, &indexNumber, &columnNumber); err != nil {
		return err
	}

	addIndex := func() {
		if o := objects[id]; o != nil {
			o.Unique = append(o.Unique, keys[part{id, indexNumber}]...)
		}
	}
	return query(ctx, db, indexesSQL, addIndex, &id, &indexNumber)
}

// probe reads no rows of all columns. If the right on a column is missing, it tries them one
// by one: HAS_PERMS_BY_NAME does not know rights on columns on every server.
func (o *Object) probe(ctx context.Context, db *sql.DB) error {
	problem, forbidden, err := o.read(ctx, db, "*")
	o.Problem = problem
	if err != nil || !forbidden {
		return err
	}
	for i := range o.Columns {
		c := &o.Columns[i]
		problem, c.Forbidden, err = o.read(ctx, db, mssql.Quote(c.Name))
		if err != nil {
			return err
		}
		if problem == "" {
			o.Problem = ""
		}
	}
	return nil
}

// read reads no rows of columns. problem is the reason if that fails.
func (o *Object) read(ctx context.Context, db *sql.DB, columns string) (problem string, forbidden bool, err error) {
	table := mssql.Table{Schema: o.Schema, Name: o.Name}
	err = query(ctx, db, "SELECT TOP 0 "+columns+" FROM "+table.Quoted(), nil)
	if refused, ok := errors.AsType[*mssql.Error](err); ok && !refused.Unavailable() && !refused.Busy() {
		return refused.Message, refused.Forbidden(), nil
	}
	return "", false, err
}

// query scans each row of a statement into targets, and calls each after it.
func query(ctx context.Context, db *sql.DB, text string, each func(), targets ...any) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		each()
	}
	return rows.Err()
}

// readFile reads the schema of an embedded file.
func readFile(path string) ([]Object, error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	const tables = `SELECT name, type FROM sqlite_schema
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite[_]%' ORDER BY name`
	var objects []Object
	err = conn.Query(tables, func(s *sqlite.Stmt) error {
		objects = append(objects, Object{Name: s.Text(0), View: s.Text(1) == "view"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range objects {
		if err := objects[i].describe(conn); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// describe reads the columns and unique indexes of a table.
func (o *Object) describe(conn *sqlite.Conn) error {
	unique, err := executor.FileKeys(conn, o.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	o.Unique = unique
	columns, err := conn.Columns(o.Name)
	if err != nil {
		return err
	}
	for _, declared := range columns {
		name, _, _ := strings.Cut(strings.ToLower(declared.Type), "(")
		isRowID := slices.Contains(o.Unique, mssql.KeyColumn{Index: executor.RowID, Name: declared.Name})
		c := Column{
			Name:     declared.Name,
			Type:     strings.TrimSpace(name),
			Nullable: declared.Nullable && !isRowID,
		}
		if f, _ := c.field(false); f.Type == record.Guid && !o.View {
			c.Blobs, err = o.hasBlobs(conn, c.Name)
			if err != nil {
				return fmt.Errorf("%s, column %s: %w", o.Name, c.Name, err)
			}
		}
		o.Columns = append(o.Columns, c)
	}
	return nil
}

// sampledRows is the number of rows that are read to learn how a table stores GUIDs.
const sampledRows = 1000

// hasBlobs reports whether a column has blobs of the size of a GUID in the first rows.
func (o *Object) hasBlobs(conn *sqlite.Conn, column string) (bool, error) {
	sample := fmt.Sprintf("SELECT %s AS g FROM %s LIMIT %d", sqlite.Quote(column), sqlite.Quote(o.Name), sampledRows)
	n, _, err := conn.QueryInt("SELECT COUNT(*) FROM (" + sample + ") WHERE typeof(g) = 'blob' AND length(g) = 16")
	return n > 0, err
}
