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
	Problem      string            // why it cannot be read; empty if some of its columns can be read
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
		return readFile(ctx, c.Path)
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

// readServer reads the catalogue of a server.
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
func readObjects(
	ctx context.Context, db *sql.DB,
) (objects []*Object, byID map[int64]*Object, err error) {
	byID = make(map[int64]*Object)
	err = query(ctx, db, objectsSQL, func(rows *sql.Rows) error {
		o := new(Object)
		var id int64
		if err := rows.Scan(&o.Schema, &o.Name, &o.View, &id); err != nil {
			return err
		}
		objects = append(objects, o)
		byID[id] = o
		return nil
	})
	return objects, byID, err
}

// readColumns reads the columns of objects.
func readColumns(ctx context.Context, db *sql.DB, objects []*Object) error {
	type name struct{ schema, object string }
	byName := make(map[name]*Object)
	for _, o := range objects {
		byName[name{o.Schema, o.Name}] = o
	}
	return query(ctx, db, columnsSQL, func(rows *sql.Rows) error {
		var object name
		var c Column
		err := rows.Scan(&object.schema, &object.object, &c.Name, &c.Type, &c.Nullable)
		if err != nil {
			return err
		}
		if o := byName[object]; o != nil {
			o.Columns = append(o.Columns, c)
		}
		return nil
	})
}

// partID identifies a column or an index of an object by its number.
type partID struct{ object, number int64 }

// readUnique reads the columns of the unique indexes of objects, which the catalogue identifies by
// numbers.
func readUnique(ctx context.Context, db *sql.DB, objects map[int64]*Object) error {
	keys, err := readKeys(ctx, db)
	if err != nil {
		return err
	}
	return query(ctx, db, indexesSQL, func(rows *sql.Rows) error {
		var index partID
		if err := rows.Scan(&index.object, &index.number); err != nil {
			return err
		}
		if o := objects[index.object]; o != nil {
			o.Unique = append(o.Unique, keys[index]...)
		}
		return nil
	})
}

// readKeys reads the columns of all indexes.
func readKeys(ctx context.Context, db *sql.DB) (map[partID][]mssql.KeyColumn, error) {
	columns := make(map[partID]mssql.KeyColumn)
	err := query(ctx, db, numbersSQL, func(rows *sql.Rows) error {
		var id partID
		var c mssql.KeyColumn
		if err := rows.Scan(&id.object, &id.number, &c.Name, &c.Nullable); err != nil {
			return err
		}
		columns[id] = c
		return nil
	})
	if err != nil {
		return nil, err
	}

	keys := make(map[partID][]mssql.KeyColumn)
	err = query(ctx, db, keysSQL, func(rows *sql.Rows) error {
		var object, index, column int64
		if err := rows.Scan(&object, &index, &column); err != nil {
			return err
		}
		c := columns[partID{object, column}]
		c.Index = index
		id := partID{object, index}
		keys[id] = append(keys[id], c)
		return nil
	})
	return keys, err
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
func (o *Object) read(
	ctx context.Context, db *sql.DB, columns string,
) (problem string, forbidden bool, err error) {
	table := mssql.Table{Schema: o.Schema, Name: o.Name}
	err = query(ctx, db, "SELECT TOP 0 "+columns+" FROM "+table.Quoted(), nil)
	if refused, ok := errors.AsType[*mssql.Error](err); ok && !refused.Unavailable() && !refused.Busy() {
		return refused.Message, refused.Forbidden(), nil
	}
	return "", false, err
}

// query executes a statement and calls scan for each row. scan is nil for a statement without rows.
func query(ctx context.Context, db *sql.DB, text string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// fileObjects selects the tables and views of an embedded file, without those of SQLite itself.
const fileObjects = `SELECT name, type FROM sqlite_schema
WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name`

// readFile reads the schema of an embedded file.
func readFile(ctx context.Context, path string) ([]Object, error) {
	conn, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer conn.InterruptOn(ctx)()
	var objects []Object
	err = conn.Query(fileObjects, func(s *sqlite.Stmt) error {
		objects = append(objects, Object{Name: s.Text(0), View: s.Text(1) == "view"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := &objects[i]
		err := o.describe(conn)
		if err != nil && o.View {
			o.Problem = viewProblem(conn, o.Name)
		}
		if err != nil && o.Problem == "" {
			return nil, err
		}
	}
	return objects, nil
}

// viewProblem returns why a view cannot be read, such as a table that does not exist any more. It
// is empty for other causes: these concern the whole file.
func viewProblem(conn *sqlite.Conn, name string) string {
	err := conn.Query("SELECT * FROM "+sqlite.Quote(name)+" LIMIT 0", nil)
	if refused, ok := errors.AsType[*sqlite.Error](err); ok && refused.InvalidStatement() {
		return refused.Message
	}
	return ""
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
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	for _, declared := range columns {
		c, err := o.fileColumn(conn, declared)
		if err != nil {
			return fmt.Errorf("%s, column %s: %w", o.Name, declared.Name, err)
		}
		o.Columns = append(o.Columns, c)
	}
	return nil
}

// fileColumn returns a column of an embedded file.
func (o *Object) fileColumn(conn *sqlite.Conn, declared sqlite.Column) (Column, error) {
	typeName, _, _ := strings.Cut(strings.ToLower(declared.Type), "(")
	rowID := mssql.KeyColumn{Index: executor.RowID, Name: declared.Name}
	isRowID := slices.Contains(o.Unique, rowID)
	c := Column{
		Name:     declared.Name,
		Type:     strings.TrimSpace(typeName),
		Nullable: declared.Nullable && !isRowID, // SQLite declares it nullable, but sets it in any case
	}
	f, _ := c.field(false)
	mayHaveBlobs := f.Type == record.Guid && !o.View
	if !mayHaveBlobs {
		return c, nil
	}
	var err error
	c.Blobs, err = o.hasBlobs(conn, c.Name)
	return c, err
}

// sampledRows is the number of rows that are read to learn how a table stores GUIDs.
const sampledRows = 1000

// hasBlobs reports whether a column has blobs of the size of a GUID in the first rows.
func (o *Object) hasBlobs(conn *sqlite.Conn, column string) (bool, error) {
	sample := fmt.Sprintf("SELECT %s AS g FROM %s LIMIT %d",
		sqlite.Quote(column), sqlite.Quote(o.Name), sampledRows)
	n, _, err := conn.QueryInt("SELECT COUNT(*) FROM (" + sample + ")" +
		" WHERE typeof(g) = 'blob' AND length(g) = 16")
	return n > 0, err
}
