package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
)

// tableMade is how migrations make tables.
var tableMade = regexp.MustCompile(`(?m)^CREATE TABLE whd\.(\w+)`)

// serverTables lists the tables that the migrations make on a server.
func serverTables() (names []string, err error) {
	files, err := fs.Glob(schema, serverMigrations+"/*.sql")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, made := range tableMade.FindAllStringSubmatch(string(text), -1) {
			names = append(names, made[1])
		}
	}
	return names, nil
}

// ownRights are those that the service needs on each of its own tables.
var ownRights = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// rights finds what the login may not do with the service's own tables, and
// those that are missing although the version says that they are there.
func (o *ownDB) rights(ctx context.Context) (problems []string, err error) {
	if o.schema == "" {
		return nil, nil // the files are its own
	}
	tables, err := serverTables()
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		there, err := o.hasTable(ctx, table)
		if err != nil {
			return nil, err
		}
		if !there {
			problems = append(problems, o.inSchema("whd.")+table+": there is no such table, or no right to it")
			continue
		}
		lacking, err := o.lacking(ctx, o.inSchema("whd."+mssql.Quote(table)))
		if err != nil {
			return nil, err
		}
		if lacking != nil {
			problems = append(problems, fmt.Sprintf("%s%s: the service's login has no right to %s", o.inSchema("whd."), table, strings.Join(lacking, ", ")))
		}
	}
	return problems, nil
}

// lacking are the rights on a table that the login does not have. A server that
// cannot tell is believed to have given them.
func (o *ownDB) lacking(ctx context.Context, table string) (rights []string, err error) {
	asked := make([]string, len(ownRights))
	has := make([]sql.NullInt64, len(ownRights))
	into := make([]any, len(ownRights))
	for i, right := range ownRights {
		asked[i], into[i] = "HAS_PERMS_BY_NAME(@Table, 'OBJECT', '"+right+"')", &has[i]
	}
	err = o.pool.QueryRowContext(ctx, "SELECT "+strings.Join(asked, ", "), sql.Named("Table", table)).Scan(into...)
	if _, refused := errors.AsType[*mssql.Error](err); refused {
		return nil, nil
	}
	for i, h := range has {
		if err == nil && h.Valid && h.Int64 == 0 {
			rights = append(rights, ownRights[i])
		}
	}
	return slices.Clip(rights), err
}
