package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// exceptions lists the tables with rows that are not copied as they are. All other tables and
// columns are those of the migrated files. The embedded store has one daemon and one
// partition: rows for other daemons are not copied, and messages of all partitions belong
// to the first one, which is not leased.
var exceptions = map[string]struct {
	where  string            // condition on the rows, for both databases
	values map[string]string // expressions on the server in place of columns
	server []string          // columns that only the server has
}{
	"WH_Number":         {where: `Name NOT IN ('ResponseTextSize', '` + originRow + `')`}, // the first is maintained by triggers
	"WH_Partition":      {where: `PartitionID = 1`, values: map[string]string{"LeaseUntil": `CAST('0001-01-01' AS datetime2(7))`}},
	"SY_WebhookMessage": {values: map[string]string{"PartitionID": `1`}},
	"WH_Nudge":          {where: `Kind = 4`}, // versions of subscriptions
	"WH_Change":         {where: `1 = 0`},
	"WH_RequestLog":     {server: []string{"Bytes"}},
}

// catalogue maps tables to their columns, and those to their types.
type catalogue map[string]map[string]string

// serverColumns returns the columns of the tables on the server.
func serverColumns(ctx context.Context, source *appdb.DB) (catalogue, error) {
	type column struct{ table, name, kind string }
	all, err := appdb.QueryAll(ctx, source, func(row appdb.Row) (c column, err error) { return c, row.Scan(&c.table, &c.name, &c.kind) },
		`SELECT TABLE_NAME, COLUMN_NAME, LOWER(DATA_TYPE) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = @Schema`, sql.Named("Schema", source.Schema))
	columns := make(catalogue)
	for _, c := range all {
		if columns[c.table] == nil {
			columns[c.table] = make(map[string]string)
		}
		columns[c.table][c.name] = c.kind
	}
	return columns, err
}

// tablesOf returns the tables of a file, with their columns.
func tablesOf(conn *sqlite.Conn) (names []string, columns map[string][]string, err error) {
	columns = make(map[string][]string)
	err = conn.Query(`SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name <> 'WH_Migration' ORDER BY t.name, c.cid`,
		func(s *sqlite.Stmt) error {
			table := s.Text(0)
			if columns[table] == nil {
				names = append(names, table)
			}
			columns[table] = append(columns[table], s.Text(1))
			return nil
		})
	return names, columns, err
}

// copyFile copies the rows of all tables of a migrated file. The file has no journal: if
// the copy fails, it is deleted.
func (r *Result) copyFile(ctx context.Context, source *appdb.DB, server catalogue, path string) (err error) {
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true, Pragmas: []string{"journal_mode = OFF", "synchronous = OFF", "cache_size = -32000"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(), sync(path)) }()
	defer conn.InterruptOn(ctx)()
	names, columns, err := tablesOf(conn)
	for _, name := range names {
		if err == nil {
			err = r.copyTable(ctx, source, server[name], conn, name, columns[name])
		}
	}
	if err == nil && columns["WH_Number"] != nil {
		err = conn.Query(`INSERT INTO WH_Number (Name, Next) VALUES (?1, ?2)`, nil, originRow, int64(originCopied))
	}
	return err
}

// sync writes a file to disk.
func sync(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// copyTable copies the rows of a table and compares their number with that on the server.
func (r *Result) copyTable(ctx context.Context, source *appdb.DB, server map[string]string, conn *sqlite.Conn, name string, columns []string) error {
	e := exceptions[name]
	where := ""
	if e.where != "" {
		where = " WHERE " + e.where
	}
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = mssql.Quote(column)
		switch kind := server[column]; {
		case kind == "":
			return fmt.Errorf("the server has no column %s in the table %s", column, name)
		case e.values[column] != "":
			values[i] = e.values[column]
		case kind == "uniqueidentifier":
			values[i] = "LOWER(CAST(" + values[i] + " AS nvarchar(36)))"
		}
	}
	for column := range server {
		if !slices.Contains(columns, column) && !slices.Contains(e.server, column) {
			return fmt.Errorf("the file has no column %s in the table %s", column, name)
		}
	}
	if err := conn.Exec("BEGIN; DELETE FROM " + sqlite.Quote(name) + where); err != nil {
		return err
	}
	from := "whd." + mssql.Quote(name) + where
	if err := copyRows(ctx, source, "SELECT "+strings.Join(values, ", ")+" FROM "+from, conn, name, columns); err != nil {
		return fmt.Errorf("copying the table %s: %w", name, err)
	}
	if err := conn.Exec("COMMIT"); err != nil {
		return err
	}
	inSource, err := queryInt(ctx, source, `SELECT COUNT_BIG(*) FROM `+from)
	if err != nil {
		return err
	}
	copied, _, err := conn.QueryInt(`SELECT COUNT(*) FROM ` + sqlite.Quote(name) + where)
	if err != nil {
		return err
	}
	count := Count{name, inSource, copied}
	r.Tables = append(r.Tables, count)
	if count.Source != count.Copied {
		err = fmt.Errorf("the table %s has %d rows on the server, but %d were copied: %w", name, count.Source, count.Copied, errChanged)
	}
	return err
}

// copyRows inserts the rows of a query on the server into a table of the file.
func copyRows(ctx context.Context, source *appdb.DB, query string, conn *sqlite.Conn, table string, columns []string) error {
	rows, err := source.Pool.QueryContext(ctx, source.Qualify(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	insert, err := conn.Prepare(`INSERT INTO ` + sqlite.Quote(table) + ` ("` + strings.Join(columns, `", "`) + `") VALUES (?` + strings.Repeat(`, ?`, len(columns)-1) + `)`)
	if err != nil {
		return err
	}
	defer insert.Reset()
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			values[i] = stored(v)
		}
		insert.Bind(values...)
		if _, err := insert.Step(); err != nil {
			return err
		}
		if err := insert.Reset(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stored returns a value of the server as a file stores it.
func stored(v any) any {
	switch v := v.(type) {
	case time.Time:
		return appdb.Timestamp(v)
	case bool:
		return appdb.Bit(v)
	}
	return v
}
