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

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// product is the server's product and version.
const product = `COALESCE(
	'Babelfish ' + CAST(SERVERPROPERTY('BabelfishVersion') AS nvarchar(64)),
	'SQL Server ' + CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(64)))`

// Statements of checks. They select the status, unless it is ok, and the figure.
const (
	// The engine editions are those of Azure, which have other version numbers.
	version = `SELECT CONCAT(
	CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8, 12)
		AND SERVERPROPERTY('BabelfishVersion') IS NULL
		AND COALESCE(CAST(SERVERPROPERTY('ProductMajorVersion') AS int), 0) < 13 THEN 'failed' END,
	'|', ` + product + `,
	', engine edition ', CAST(SERVERPROPERTY('EngineEdition') AS int),
	', compatibility level ', compatibility_level)
FROM sys.databases WHERE name = DB_NAME()`

	isolation = `SELECT CASE is_read_committed_snapshot_on
	WHEN 1 THEN '|row versioning: reads do not wait for changes in progress'
	ELSE '|locking: reads wait for changes in progress, and changes for reads' END
FROM sys.databases WHERE name = DB_NAME()`

	collation = `SELECT CONCAT(
	CASE WHEN N'a' <> N'A' THEN 'warning' END,
	'|', CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)),
	': a ', CASE WHEN N'a' = N'A' THEN '=' ELSE '<>' END, ' A',
	', e ', CASE WHEN N'e' = N'é' THEN '=' ELSE '<>' END, N' é',
	CASE WHEN N'a' <> N'A' THEN '; filters distinguish upper and lower case' END)`

	timeZone = `SELECT CONCAT(
	CASE WHEN DATEPART(tz, SYSDATETIMEOFFSET()) <> CAST(@p1 AS int) THEN 'warning' END,
	'|server: ', DATEPART(tz, SYSDATETIMEOFFSET()), ' minutes from UTC, query.time_zone: ', @p1)`

	// A replica of an availability group, or a database outside of groups.
	group = `SELECT CASE
	WHEN group_database_id IS NULL THEN 'not checked|the database is in no availability group'
	ELSE '|in a group: replicas share group_database_id' END
FROM sys.databases WHERE name = DB_NAME()`

	minActive = `SELECT CASE WHEN MIN_ACTIVE_ROWVERSION() IS NOT NULL THEN '|available' END`
)

// selects returns a check of one statement. Its parameter is the UTC offset of
// query.time_zone.
func selects(statement string) func(*reader) (string, error) {
	return func(p *reader) (string, error) {
		_, offset := time.Now().In(p.zone).Zone()
		rows, err := p.texts(statement, strconv.Itoa(offset/60))
		if err != nil {
			return "", err
		}
		if len(rows) == 0 {
			return "", failed("no result")
		}
		status, figure, _ := strings.Cut(rows[0], "|")
		if status != "" {
			return figure, outcomef(check.Status(status), "%s", figure)
		}
		return figure, nil
	}
}

// collations checks the collations of the database and of the columns.
func (p *reader) collations() (string, error) {
	figure, err := selects(collation)(p)
	if err != nil {
		return figure, err
	}
	sensitive := 0
	for _, t := range p.tables {
		if t.live == nil {
			continue
		}
		for i := range t.kind.Fields {
			if dialect.CaseSensitive(t.live.ByField[i].Collation) {
				sensitive++
			}
		}
	}
	if sensitive > 0 {
		err = warning("%s; %d columns distinguish upper and lower case", figure, sensitive)
	}
	return figure, err
}

// openJSON reads rows by a list that is too long for separate parameters.
func (p *reader) openJSON() (string, error) {
	const length = 60
	for _, t := range p.tables {
		key := t.kind.KeyField()
		list := slices.Repeat(t.values(key, 1), length)
		isSlow := t.large() && !t.leads(t.kind.KeyName())
		if len(list) == 0 || isSlow {
			continue
		}
		isListed := query.Condition{Field: key, Operator: record.In, Operands: list}
		rows, st, err := p.read(t, first(isListed))
		if err != nil {
			return "", err
		}
		if len(rows) == 0 {
			return "", failed("a list of %d values finds no row", length)
		}
		if !strings.Contains(st.SQL, "OPENJSON") {
			return "", warning("not available at this compatibility level: lists are separate parameters")
		}
		return fmt.Sprintf("a list of %d values in one parameter", length), nil
	}
	return "", errNoRows
}

// endsLater is a statement that runs for seconds: a cross join of constants.
const endsLater = `WITH c AS (
	SELECT v FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) t (v)
)
SELECT COUNT_BIG(*) FROM c c1
	CROSS JOIN c c2 CROSS JOIN c c3 CROSS JOIN c c4 CROSS JOIN c c5
	CROSS JOIN c c6 CROSS JOIN c c7 CROSS JOIN c c8
WHERE c1.v + c2.v + c3.v + c4.v + c5.v + c6.v + c7.v + c8.v < 0 OPTION (` + hint + `)`

func (p *reader) cancelled() (string, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	return p.ends(ctx, 200*time.Millisecond, cancel)
}

func (p *reader) limited() (string, error) { return p.ends(p.ctx, statementLimit, p.conn.Abort) }

// lock locks a name until the session ends. It reports whether the name was free. A session
// must not call it more than four times while it is not: each time uses a part of the stack
// of errors of Babelfish, which then aborts.
func (p *reader) lock(name string) (bool, error) {
	const statement = `DECLARE @Result int;
EXEC @Result = sp_getapplock @Resource = @p1, @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0;
SELECT CONCAT(@Result, '')`
	results, err := p.texts(statement, name)
	return slices.Equal(results, []string{"0"}), err
}

// ends runs a long statement until stop is called, in a session that holds a lock, and
// waits until the server has released the lock.
func (p *reader) ends(ctx context.Context, after time.Duration, stop func()) (string, error) {
	const (
		timeout      = 2 * time.Second        // for the end on the server
		pollInterval = 900 * time.Millisecond // few polls: see lock
	)
	name := "whd_prove_" + rand.Text()
	if isFree, err := p.lock(name); !isFree {
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
	stoppedAt := time.Now()
	took := stoppedAt.Sub(start).Round(time.Millisecond)
	if err == nil {
		return "", notChecked("the server completed the statement in %v", took)
	}

	defer p.conn.Abort() // releases the lock
	for {
		if err := backoff.Sleep(p.ctx, pollInterval); err != nil {
			return "", err
		}
		isFree, err := p.lock(name)
		waited := time.Since(stoppedAt).Round(time.Millisecond)
		if isFree && err == nil {
			return fmt.Sprintf("stopped after %v, ended within %v", took, waited), nil
		}
		if waited > timeout {
			return "", cmp.Or(err, failed("stopped after %v, did not end within %v", took, waited))
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

	seeks := 0
	smallScans := 0
	var scans []string
	for _, t := range p.tables {
		for _, c := range t.seekable() {
			plan, err := p.actualPlan(conn, t, c)
			if err != nil {
				return "", err
			}
			if plan == "" {
				return "", notChecked("the server returns no plans")
			}
			if isSeek(plan) {
				seeks++
			} else if t.size < minSeek {
				smallScans++
			} else {
				field := t.kind.Fields[c.Field].Name
				scans = append(scans, t.kind.Name+" "+field+" "+c.Operator.String())
			}
		}
	}
	if seeks+smallScans+len(scans) == 0 {
		return "", notChecked("no index of a table with rows")
	}
	figure := fmt.Sprintf("%d seeks, %d scans of tables of less than %d rows",
		seeks, smallScans, minSeek)
	if scans != nil {
		return "", warning("%s, scans of %s", figure, listed(scans))
	}
	return figure, nil
}

// seekOperators are the operators that an index answers.
var seekOperators = []record.Operator{record.Equal, record.In, record.Between, record.StartsWith}

// seekable returns the filters that an index of the table answers.
func (t *table) seekable() (filters []query.Condition) {
	for _, c := range t.filters() {
		isSlow := isSearch(c.Operator) && t.large()
		field := t.kind.Fields[c.Field].Name
		if slices.Contains(seekOperators, c.Operator) && t.leads(field) && !isSlow {
			filters = append(filters, c)
		}
	}
	return filters
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
	hasSet := true
	for hasSet {
		names, err := rows.Columns()
		if err != nil {
			return "", err
		}
		isPlan := len(names) == 1 && strings.Contains(names[0], "XML Showplan")
		for rows.Next() {
			if !isPlan {
				continue
			}
			if err := rows.Scan(&plan); err != nil {
				return "", err
			}
		}
		hasSet = rows.NextResultSet()
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
