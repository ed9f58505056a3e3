package appdb

import (
	"cmp"
	"context"
	"database/sql"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
)

// MissingRights returns the rights on the service's tables that the login lacks, the tables
// that are missing although the schema is up to date, and the statements that grant these
// rights. If the tables are outdated, it checks the rights that a migration needs instead.
func (m *Migrator) MissingRights(ctx context.Context, outdated bool) (problems, grants []string, err error) {
	if m.db.Schema == "" {
		return nil, nil, nil // the files belong to the service
	}
	if outdated {
		var c creation
		grants, err = c.read(ctx, m.db)
		return nil, grants, err
	}
	tables, err := tablesAfter(serverMigrations)
	if err != nil {
		return nil, nil, err
	}
	for _, table := range tables {
		problem, grant, err := m.tableRights(ctx, table)
		if err != nil {
			return nil, nil, err
		}
		if problem != "" {
			problems = append(problems, problem)
		}
		if grant != "" {
			grants = append(grants, grant)
		}
	}
	return problems, grants, nil
}

// tableRights returns the problem of one of the service's tables, and the statement that
// grants the missing rights on it. Both are empty if nothing is missing.
func (m *Migrator) tableRights(ctx context.Context, table string) (problem, grant string, err error) {
	exists, err := m.hasTable(ctx, table)
	if err != nil {
		return "", "", err
	}
	target := mssql.Table{Schema: m.db.Schema, Name: table}
	missing, grant, err := mssql.MissingRights(ctx, m.db.Pool, target, "SELECT", "INSERT", "UPDATE", "DELETE")
	if err != nil {
		return "", "", err
	}

	name := m.db.InSchema("whd.") + table
	if !exists {
		problem = name + ": the table does not exist, or the login has no permission on it"
		return problem, grant, nil
	}
	if len(missing) > 0 {
		problem = name + ": the login lacks the permissions " + strings.Join(missing, ", ")
	}
	return problem, grant, nil
}

// creation holds the rights of a login to create objects in a schema. A right is NULL if the
// server does not know it.
type creation struct {
	user         sql.NullString
	hasSchema    bool
	babelfish    bool // the owner of a schema needs no other right, and rights are not reported
	createSchema sql.NullBool
	alterSchema  sql.NullBool
	createTable  sql.NullBool
	createView   sql.NullBool
}

// creationQuery selects the fields of a creation in their order.
const creationQuery = `SELECT USER_NAME(),
	CASE WHEN SCHEMA_ID(@Schema) IS NULL THEN 0 ELSE 1 END,
	CASE WHEN SERVERPROPERTY('BabelfishVersion') IS NULL THEN 0 ELSE 1 END,
	HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE SCHEMA'),
	HAS_PERMS_BY_NAME(QUOTENAME(@Schema), 'SCHEMA', 'ALTER'),
	HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE TABLE'),
	HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE VIEW')`

// read reads the rights and returns the statements that grant those that are missing.
func (c *creation) read(ctx context.Context, db *DB) ([]string, error) {
	result := db.Pool.QueryRowContext(ctx, creationQuery, sql.Named("Schema", db.Schema))
	err := result.Scan(
		&c.user,
		&c.hasSchema,
		&c.babelfish,
		&c.createSchema,
		&c.alterSchema,
		&c.createTable,
		&c.createView,
	)
	if err != nil {
		return nil, err
	}
	return c.grants(mssql.Quote(db.Schema)), nil
}

// grants returns the statements that an administrator has to run before the login can create
// the service's tables in a schema; its name is quoted.
func (c *creation) grants(schema string) []string {
	if c.user.String == "dbo" {
		return nil // owns the database
	}
	user := mssql.Quote(cmp.Or(c.user.String, mssql.DefaultUser))

	var statements []string
	if !c.hasSchema && denied(c.createSchema) {
		statements = append(statements, "CREATE SCHEMA "+schema+" AUTHORIZATION "+user+";")
	}
	if c.babelfish {
		return statements
	}
	if c.hasSchema && denied(c.alterSchema) {
		statements = append(statements,
			"GRANT ALTER, SELECT, INSERT, UPDATE, DELETE, REFERENCES ON SCHEMA::"+schema+" TO "+user+";")
	}
	if denied(c.createTable) || denied(c.createView) {
		statements = append(statements, "GRANT CREATE TABLE, CREATE VIEW TO "+user+";")
	}
	return statements
}

// denied reports whether the server has reported that a right is missing.
func denied(right sql.NullBool) bool { return right.Valid && !right.Bool }
