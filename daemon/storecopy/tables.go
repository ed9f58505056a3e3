package storecopy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
)

// Tables and columns are those of the migrated files, except as follows. The embedded
// store has one daemon and one partition: messages of all partitions belong to the first
// one, which is not leased, and rows for other daemons are not copied.
// WH_MessageCount and WH_EventBlock have no counterpart on the server; the daemon fills them. The
// tables about the order of the request log have none either: see summarizeLog.
var (
	// conditions restrict the rows of tables.
	conditions = map[string]string{
		// ResponseTextSize is maintained by triggers.
		"WH_Number":    `Name NOT IN ('ResponseTextSize', 'CountedMessage', 'NamedMessage', '` + originRow + `')`,
		"WH_Partition": `PartitionID = 1`,
		"WH_Nudge":     `Kind = 4`, // versions of subscriptions
		"WH_Change":    `1 = 0`,
	}
	// expressions on the server take the place of columns.
	expressions = map[string]string{
		"WH_Partition.LeaseUntil":       `CAST('0001-01-01' AS datetime2(7))`,
		"SY_WebhookMessage.PartitionID": `1`,
	}
)

// table is a table of a file.
type table struct {
	name    string
	columns []string
}

// tablesOf returns the tables of a migrated file that are copied, by name.
func tablesOf(ctx context.Context, file *appdb.DB) ([]table, error) {
	const statement = `SELECT t.name, group_concat(c.name)
FROM pragma_table_list t, pragma_table_info(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND substr(t.name, 1, 7) <> 'sqlite_'
	AND t.name NOT IN ('WH_Migration', 'WH_MessageCount', 'WH_EventBlock',
		'WH_RequestLogMissing', 'WH_RequestLogLag', 'WH_RequestLogLatest')
GROUP BY t.name ORDER BY t.name`
	scan := func(row appdb.Row) (table, error) {
		var name, columns string
		err := row.Scan(&name, &columns)
		return table{name: name, columns: strings.Split(columns, ",")}, err
	}
	return appdb.QueryAll(ctx, file, scan, statement)
}

// copyAll copies the data into new files in dir.
func (r *Result) copyAll(ctx context.Context, source *appdb.DB, dir string) error {
	if err := r.copyStore(ctx, source, filepath.Join(dir, appdb.FileName)); err != nil {
		return err
	}
	if err := r.copyLog(ctx, source, filepath.Join(dir, appdb.LogFileName)); err != nil {
		return err
	}
	var err error
	r.OutboxRows, err = queryInt(ctx, source,
		`SELECT COUNT_BIG(*) FROM whd.WH_Outbox WHERE RefusedReason IS NULL`)
	return err
}

// copyStore copies all data but the request log into a new file, and records the origin in it.
func (r *Result) copyStore(ctx context.Context, source *appdb.DB, path string) (err error) {
	store, err := appdb.Open(ctx, appdb.Config{Path: path, Connections: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := setOrigin(ctx, store, originCopied); err != nil {
		return err
	}
	return r.copyFile(ctx, source, store)
}

// copyLog copies the request log into a new file.
func (r *Result) copyLog(ctx context.Context, source *appdb.DB, path string) (err error) {
	if err := appdb.MigrateLog(ctx, path); err != nil {
		return err
	}
	log, err := appdb.OpenFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	err = r.copyFile(ctx, source, log)
	if err != nil {
		return err
	}
	return summarizeLog(ctx, log)
}

// logSummaries fill the tables by which requests are found by time and counted, as the migrations of
// the request log do for the rows that exist.
var logSummaries = []string{
	`UPDATE WH_RequestLogMissing SET (Number, LastId) =
	(SELECT Number, CASE WHEN Number > 0 THEN LastId ELSE 0 END
	FROM (SELECT COALESCE(MAX(Id) - MIN(Id) + 1 - COUNT(*), 0) AS Number, MAX(Id) AS LastId FROM WH_RequestLog))`,
	`UPDATE WH_RequestLogLatest SET (DateTime, LastId) =
	(SELECT COALESCE(MAX(DateTime), '0001-01-01T00:00:00.0000000'), COALESCE(MAX(Id), 0) FROM WH_RequestLog)`,
	`INSERT INTO WH_RequestLogLag (Lag, LastId)
	SELECT CAST(MAX(julianday(Latest) - julianday(DateTime)) * 86400000 AS INTEGER) + 2, MAX(Id)
	FROM (SELECT Id, DateTime, MAX(DateTime) OVER (ORDER BY Id) AS Latest FROM WH_RequestLog)
	HAVING MAX(Id) IS NOT NULL`,
}

// summarizeLog describes the order of the copied requests, without which lists by time would miss
// those with an earlier time than a request before them.
func summarizeLog(ctx context.Context, log *appdb.DB) error {
	for _, statement := range logSummaries {
		_, err := log.Exec(ctx, statement)
		if err != nil {
			return fmt.Errorf("summarizing the request log: %w", err)
		}
	}
	return nil
}

// copyFile copies the rows of all tables of a migrated file, and compares their numbers.
func (r *Result) copyFile(ctx context.Context, source, file *appdb.DB) error {
	tables, err := tablesOf(ctx, file)
	if err != nil {
		return err
	}
	for _, t := range tables {
		rows := " FROM whd." + t.name
		if conditions[t.name] != "" {
			rows += " WHERE " + conditions[t.name]
		}
		if err := copyRows(ctx, source, file, t, rows); err != nil {
			return fmt.Errorf("copying the table %s: %w", t.name, err)
		}
		inSource, err := queryInt(ctx, source, "SELECT COUNT_BIG(*)"+rows)
		if err != nil {
			return err
		}
		copied, err := queryInt(ctx, file, "SELECT COUNT(*)"+rows)
		if err != nil {
			return err
		}
		r.Tables = append(r.Tables, Count{t.name, inSource, copied})
		if inSource != copied {
			return fmt.Errorf("the table %s has %d rows on the server, but %d were copied:"+
				" stop all daemons and other commands of whd, then copy again",
				t.name, inSource, copied)
		}
	}
	return nil
}

// selection returns the columns to select on the server.
func (t table) selection() string {
	selected := slices.Clone(t.columns)
	for i, column := range t.columns {
		if expression := expressions[t.name+"."+column]; expression != "" {
			selected[i] = expression
		}
	}
	return strings.Join(selected, ", ")
}

// copyRows replaces the rows of a table by those of the server, one after another. from is
// the FROM clause for both.
func copyRows(ctx context.Context, source, file *appdb.DB, t table, from string) error {
	rows, err := source.Pool.QueryContext(ctx, source.Qualify("SELECT "+t.selection()+from))
	if err != nil {
		return err
	}
	defer rows.Close()
	tx, err := file.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after Commit
	if _, err := tx.ExecContext(ctx, file.Qualify("DELETE"+from)); err != nil {
		return err
	}
	insertion := "INSERT INTO whd." + t.name + " (" + strings.Join(t.columns, ", ") + ")" +
		" VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	insert, err := tx.PrepareContext(ctx, file.Qualify(insertion))
	if err != nil {
		return err
	}

	values := make([]any, len(t.columns))
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		for i, v := range values {
			if timestamp, ok := v.(time.Time); ok {
				values[i] = appdb.Timestamp(timestamp)
			}
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tx.Commit()
}
