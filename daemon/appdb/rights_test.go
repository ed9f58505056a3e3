package appdb

import (
	"database/sql"
	"slices"
	"testing"
)

// TestCreationGrants checks that a login that may not migrate gets the statements that grant
// the missing rights.
func TestCreationGrants(t *testing.T) {
	const (
		createSchema = "CREATE SCHEMA [whd] AUTHORIZATION [erp]]reader];"
		onSchema     = "GRANT ALTER, SELECT, INSERT, UPDATE, DELETE, REFERENCES ON SCHEMA::[whd] TO [erp]]reader];"
		create       = "GRANT CREATE TABLE, CREATE VIEW TO [erp]]reader];"
		toDefault    = "GRANT CREATE TABLE, CREATE VIEW TO [whd];"
	)
	yes := sql.NullBool{Bool: true, Valid: true}
	no := sql.NullBool{Valid: true}
	user := sql.NullString{String: "erp]reader", Valid: true}
	dbo := sql.NullString{String: "dbo", Valid: true}
	for _, c := range []struct {
		name string
		creation
		want []string
	}{
		{
			"the script was run",
			creation{user: user, hasSchema: true, createSchema: no, alterSchema: yes, createTable: yes},
			nil,
		},
		{
			"an older script was run",
			creation{user: user, hasSchema: true, createSchema: no, alterSchema: yes, createTable: no},
			[]string{create},
		},
		{
			"without views",
			creation{
				user: user, hasSchema: true, createSchema: no, alterSchema: yes, createTable: yes,
				createView: no,
			},
			[]string{create},
		},
		{
			"SELECT only",
			creation{user: user, createSchema: no, createTable: no},
			[]string{createSchema, create},
		},
		{
			"another user's schema",
			creation{user: user, hasSchema: true, createSchema: no, alterSchema: no, createTable: no},
			[]string{onSchema, create},
		},
		{
			"owner of the database",
			creation{user: dbo, createSchema: no, createTable: no},
			nil,
		},
		{
			"Babelfish",
			creation{user: user, babelfish: true, createSchema: no, createTable: no},
			[]string{createSchema},
		},
		{
			"Babelfish with a schema",
			creation{
				user: user, hasSchema: true, babelfish: true, createSchema: no, alterSchema: no,
				createTable: no,
			},
			nil,
		},
		{
			"unknown user and rights",
			creation{hasSchema: true, createTable: no},
			[]string{toDefault},
		},
	} {
		if got := c.grants("[whd]"); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
