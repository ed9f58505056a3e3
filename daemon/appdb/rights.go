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
		exists, err := m.hasTable(ctx, table)
		if err != nil {
			return nil, nil, err
		}
		missing, grant, err := mssql.MissingRights(ctx, m.db.Pool, mssql.Table{Schema: m.db.Schema, Name: table}, "SELECT", "INSERT", "UPDATE", "DELETE")
		if err != nil {
			return nil, nil, err
		}
		if grant != "" {
			grants = append(grants, grant)
		}
		if name := m.db.InSchema("whd.") + table; !exists {
			problems = append(problems, name+": the table does not exist, or the login has no permission on it")
		} else if missing != nil {
			problems = append(problems, name+": the login lacks the permissions "+strings.Join(missing, ", "))
		}
	}
	return problems, grants, nil
}

// creation holds the rights of a login to create objects in a schema. A right is NULL if the server does not
// know it.
type creation struct {
	user                           sql.NullString
	hasSchema                      bool
	babelfish                      bool // the owner of a schema needs no other right, and rights are not reported
	createSchema, alter, makeTable sql.NullBool
	makeView                       sql.NullBool
}

// read reads it, and returns the statements that grant the missing rights.
func (c *creation) read(ctx context.Context, db *DB) ([]string, error) {
	err := db.Pool.QueryRowContext(ctx, `SELECT USER_NAME(), CASE WHEN SCHEMA_ID(@Schema) IS NULL THEN 0 ELSE 1 END, CASE WHEN SERVERPROPERTY('BabelfishVersion') IS NULL THEN 0 ELSE 1 END,
HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE SCHEMA'), HAS_PERMS_BY_NAME(QUOTENAME(@Schema), 'SCHEMA', 'ALTER'), HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE TABLE'), HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE VIEW')`,
		sql.Named("Schema", db.Schema)).Scan(&c.user, &c.hasSchema, &c.babelfish, &c.createSchema, &c.alter, &c.makeTable, &c.makeView)
	if err != nil {
		return nil, err
	}
	return c.grants(mssql.Quote(db.Schema)), nil
}

func (c *creation) grants(schema string) (all []string) {
	lacks := func(right sql.NullBool) bool { return right.Valid && !right.Bool }
	user := mssql.Quote(cmp.Or(c.user.String, mssql.DefaultUser))
	switch {
	case c.user.String == "dbo":
		return nil
	case !c.hasSchema && lacks(c.createSchema):
		all = append(all, "CREATE SCHEMA "+schema+" AUTHORIZATION "+user+";")
	case c.hasSchema && lacks(c.alter) && !c.babelfish:
		all = append(all, "GRANT ALTER, SELECT, INSERT, UPDATE, DELETE, REFERENCES ON SCHEMA::"+schema+" TO "+user+";")
	}
	if (lacks(c.makeTable) || lacks(c.makeView)) && !c.babelfish {
		all = append(all, "GRANT CREATE TABLE, CREATE VIEW TO "+user+";")
	}
	return all
}
