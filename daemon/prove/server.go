package prove

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// product is the server's product and version.
const product = "COALESCE('Babelfish ' + CAST(SERVERPROPERTY('BabelfishVersion') AS nvarchar(64)), 'SQL Server ' + CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(64)))"

// Statements of checks. They select the status, unless it is ok, and the figure.
const (
	version = "SELECT CONCAT(CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8, 12) AND SERVERPROPERTY('BabelfishVersion') IS NULL AND " + // not Azure
		"COALESCE(CAST(SERVERPROPERTY('ProductMajorVersion') AS int), 0) < 13 THEN 'failed' END, '|', " + product +
		", ', engine edition ', CAST(SERVERPROPERTY('EngineEdition') AS int), ', compatibility level ', compatibility_level) FROM sys.databases WHERE name = DB_NAME()"
	isolation = "SELECT CASE is_read_committed_snapshot_on WHEN 1 THEN '|row versioning: reads do not wait for changes in progress' " +
		"ELSE '|locking: reads wait for changes in progress, and changes for reads' END FROM sys.databases WHERE name = DB_NAME()"
	collation = "SELECT CONCAT(CASE WHEN N'a' <> N'A' THEN 'warning' END, '|', CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)), " +
		"': a ', CASE WHEN N'a' = N'A' THEN '=' ELSE '<>' END, ' A, e ', CASE WHEN N'e' = N'\u00e9' THEN '=' ELSE '<>' END, N' \u00e9', CASE WHEN N'a' <> N'A' THEN '; filters distinguish upper and lower case' END)"
	timeZone = "SELECT CONCAT(CASE WHEN DATEPART(tz, SYSDATETIMEOFFSET()) <> CAST(@p1 AS int) THEN 'warning' END, " +
		"'|server: ', DATEPART(tz, SYSDATETIMEOFFSET()), ' minutes from UTC, query.time_zone: ', @p1)"
	// A replica of an availability group, or a database outside of groups.
	group = "SELECT CASE WHEN group_database_id IS NULL THEN 'not checked|the database is in no availability group' " +
		"ELSE '|in a group: replicas share group_database_id' END FROM sys.databases WHERE name = DB_NAME()"
	minActive = "SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() IS NOT NULL THEN '|available' END"
)

// selects returns a check of one statement. Its parameter is the UTC offset of
// query.time_zone.
func selects(statement string) func(*reader) (string, error) {
	return func(p *reader) (string, error) {
		_, offset := time.Now().In(p.zone).Zone()
		found, err := p.texts(statement, strconv.Itoa(offset/60))
		status, figure, _ := strings.Cut(append(found, "failed|no result")[0], "|")
		if err == nil && status != "" {
			err = outcomef(check.Status(status), "%s", figure)
		}
		return figure, err
	}
}

// collations checks the collations of the database and of the columns.
func (p *reader) collations() (string, error) {
	figure, err := selects(collation)(p)
	strict := 0
	for _, t := range p.tables {
		for i := range t.kind.Fields {
			if t.live == nil {
				break
			}
			if dialect.CaseSensitive(t.live.ByField[i].Collation) {
				strict++
			}
		}
	}
	if err == nil && strict > 0 {
		err = warning("%s; %d columns distinguish upper and lower case", figure, strict)
	}
	return figure, err
}

// openJSON reads rows by a list that is too long for separate parameters.
func (p *reader) openJSON() (string, error) {
	const length = 60
	for _, t := range p.tables {
		key := t.kind.KeyField()
		list := slices.Repeat(t.values(key, 1), length)
		if len(list) == 0 || t.large() && !t.leads(t.kind.KeyName()) {
			continue
		}
		rows, st, err := p.read(t, first(query.Condition{Field: key, Operator: record.In, Operands: list}))
		if err == nil && len(rows) == 0 {
			err = failed("a list of %d values finds no row", length)
		} else if err == nil && !strings.Contains(st.SQL, "OPENJSON") {
			err = warning("not available at this compatibility level: lists are separate parameters")
		}
		return fmt.Sprintf("a list of %d values in one parameter", length), err
	}
	return "", errNoRows
}

// endsLater is a statement that runs for seconds: a cross join of constants.
const endsLater = "WITH c AS (SELECT v FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) t (v)) SELECT COUNT_BIG(*) FROM c c1 " +
	"CROSS JOIN c c2 CROSS JOIN c c3 CROSS JOIN c c4 CROSS JOIN c c5 CROSS JOIN c c6 CROSS JOIN c c7 CROSS JOIN c c8 " +
	"WHERE c1.v + c2.v + c3.v + c4.v + c5.v + c6.v + c7.v + c8.v < 0 OPTION (" + hint + ")"

func (p *reader) cancelled() (string, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	return p.ends(ctx, 200*time.Millisecond, cancel)
}

func (p *reader) limited() (string, error) { return p.ends(p.ctx, statementLimit, p.conn.Abort) }

// lock locks a name until the session ends. It reports whether the name was free. A session
// must not call it more than four times while it is not: each time uses a part of the stack
// of errors of Babelfish, which then aborts.
func (p *reader) lock(name string) (bool, error) {
	found, err := p.texts("DECLARE @Result int; EXEC @Result = sp_getapplock @Resource = @p1, @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0; SELECT CONCAT(@Result, '')",
		name)
	return slices.Equal(found, []string{"0"}), err
}

// ends runs a long statement until stop is called, in a session that holds a lock, and
// waits until the server has released the lock.
func (p *reader) ends(ctx context.Context, after time.Duration, stop func()) (string, error) {
	const patience = 2 * time.Second
	name := "whd_prove_" + rand.Text()
	if free, err := p.lock(name); !free {
		return "", cmp.Or(err, notChecked("no application lock"))
	}
	p.conn.LimitStatements(0) // stop is the limit
	defer p.conn.LimitStatements(p.limit)
	start := time.Now()
	timer := time.AfterFunc(after, stop)
	defer timer.Stop()
	rows, err := p.conn.Query(ctx, mssql.Query{SQL: endsLater, Types: []record.Type{record.Long}})
	if err == nil {
		_, err = rows.Next()
	}
	p.conn.Close()
	stopped := time.Now()
	took := stopped.Sub(start).Round(time.Millisecond)
	if err == nil {
		return "", notChecked("the server completed the statement in %v", took)
	}
	defer p.conn.Abort() // releases the lock
	for {
		if err := executor.Sleep(p.ctx, 900*time.Millisecond); err != nil {
			return "", err
		}
		free, err := p.lock(name)
		since := time.Since(stopped).Round(time.Millisecond)
		if free && err == nil {
			return fmt.Sprintf("stopped after %v, ended within %v", took, since), nil
		}
		if since > patience {
			return "", cmp.Or(err, failed("stopped after %v, did not end within %v", took, since))
		}
	}
}

// seeks runs statements that an index can answer, and reads from their actual plans
// whether it did. The connection is closed afterwards, so that no others get plans.
func (p *reader) seeks() (string, error) {
	p.conn.Close() // returns it to the pool
	conn, err := p.server.Pool.DB().Conn(p.ctx)
	if err != nil {
		return "", err
	}
	defer conn.Raw(func(any) error { return driver.ErrBadConn })
	if _, err := conn.ExecContext(p.ctx, "SET STATISTICS XML ON"); err != nil {
		return "", err
	}
	n, small := 0, 0
	var scans []string
	seekable := []record.Operator{record.Equal, record.In, record.Between, record.StartsWith}
	for _, t := range p.tables {
		for _, c := range t.filters() {
			field := t.kind.Fields[c.Field].Name
			if !slices.Contains(seekable, c.Operator) || !t.leads(field) {
				continue
			}
			if isSearch(c.Operator) && t.large() {
				continue
			}
			switch plan, err := p.actualPlan(conn, t, c); {
			case err != nil:
				return "", err
			case plan == "":
				return "", notChecked("the server returns no plans")
			case isSeek(plan):
				n++
			case t.size < minSeek:
				small++
			default:
				scans = append(scans, t.kind.Name+" "+field+" "+c.Operator.String())
			}
		}
	}
	if n+small+len(scans) == 0 {
		return "", notChecked("no index of a table with rows")
	}
	figure := fmt.Sprintf("%d seeks, %d scans of tables of less than %d rows", n, small, minSeek)
	if scans != nil {
		return "", warning("%s, scans of %s", figure, listed(scans))
	}
	return figure, nil
}

// actualPlan runs a filter and returns its plan, empty if the server returns none.
func (p *reader) actualPlan(conn *sql.Conn, t *table, c query.Condition) (plan string, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.limit)
	defer cancel()
	st, err := p.compile(t, first(c))
	if err != nil {
		return "", err
	}
	procedure, args := mssql.Call(mssql.LockTimeout(lockTimeout)+st.SQL, t.live.Bind(st.Args)...)
	rows, err := conn.QueryContext(ctx, procedure, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	// The driver knows whether there is another set of rows only after the last row of one.
	for hasSet := true; hasSet; hasSet = rows.NextResultSet() {
		names, err := rows.Columns()
		for err == nil && rows.Next() {
			if len(names) == 1 && strings.Contains(names[0], "XML Showplan") {
				err = rows.Scan(&plan)
			}
		}
		if err != nil {
			return "", err
		}
	}
	return plan, rows.Err()
}

// isSeek reports whether a plan seeks in indexes only.
func isSeek(plan string) bool {
	has := func(operator string) bool { return strings.Contains(plan, `PhysicalOp="`+operator+`"`) }
	seeks := slices.ContainsFunc([]string{"Index Seek", "Clustered Index Seek"}, has)
	scans := slices.ContainsFunc([]string{"Index Scan", "Clustered Index Scan", "Table Scan"}, has)
	return seeks && !scans
}
