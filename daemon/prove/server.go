package prove

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
)

// serverChecks are the checks of the ERP's server.
type serverChecks struct {
	*reader
	zone      *time.Location
	product   string
	babelfish bool
}

// facts returns n texts that a statement selects as one, separated by |.
func (p *serverChecks) facts(n int, statement string, params ...mssql.Param) ([]string, error) {
	found, err := p.texts(p.ctx, statement, params...)
	facts := strings.Split(strings.Join(found, ""), "|")
	return append(facts, make([]string, max(0, n-len(facts)))...), err
}

func (p *serverChecks) identify() error {
	is, err := p.facts(2, "SELECT CONCAT(CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(64)), '|', CAST(SERVERPROPERTY('BabelfishVersion') AS nvarchar(64)))")
	p.product = "SQL Server " + is[0]
	if p.babelfish = is[1] != ""; p.babelfish {
		p.product = "Babelfish " + is[1]
	}
	return err
}

func (p *serverChecks) version() (string, error) {
	const sql2016 = 13
	azure := []string{"5", "8", "12"} // engine editions
	is, err := p.facts(2, "SELECT CONCAT(CAST(SERVERPROPERTY('EngineEdition') AS nvarchar(8)), '|', compatibility_level) FROM sys.databases WHERE name = DB_NAME()")
	figure := fmt.Sprintf("%s, engine edition %s, compatibility level %s", p.product, is[0], is[1])
	number, _, _ := strings.Cut(strings.TrimPrefix(p.product, "SQL Server "), ".")
	if major, _ := strconv.Atoi(number); err == nil && !p.babelfish && !slices.Contains(azure, is[0]) && major < sql2016 {
		err = failed("%s", figure)
	}
	return figure, err
}

func (p *serverChecks) isolation() (string, error) {
	is, err := p.facts(1, "SELECT CONCAT(CAST(is_read_committed_snapshot_on AS int), '') FROM sys.databases WHERE name = DB_NAME()")
	if is[0] == "1" {
		return "row versioning: reads do not wait for changes in progress", err
	}
	return "locking: reads wait for changes in progress, and changes for reads", err
}

func (p *serverChecks) collation() (string, error) {
	is, err := p.facts(3, "SELECT CONCAT(CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)), '|', CASE WHEN N'a' = N'A' THEN '=' ELSE '<>' END, '|', CASE WHEN N'e' = N'\u00e9' THEN '=' ELSE '<>' END)")
	figure := fmt.Sprintf("%s: a %s A, e %s \u00e9", is[0], is[1], is[2])
	if err == nil && is[1] != "=" {
		err = warning("%s; filters distinguish upper and lower case", figure)
	}
	return figure, err
}

func (p *serverChecks) timeZone() (string, error) {
	is, err := p.facts(1, "SELECT CONCAT(DATEPART(tz, SYSDATETIMEOFFSET()), '')")
	_, offset := time.Now().In(p.zone).Zone()
	figure := fmt.Sprintf("server: %s minutes from UTC, query.time_zone: %d", is[0], offset/60)
	if err == nil && is[0] != strconv.Itoa(offset/60) {
		err = warning("%s", figure)
	}
	return figure, err
}

// openJSON reads rows by a list that is too long for separate parameters.
func (p *serverChecks) openJSON() (string, error) {
	const length = 60
	i := slices.IndexFunc(p.tables, func(t *table) bool { return p.load(t) == nil && len(t.values(t.kind.KeyField(), 1)) > 0 })
	if i < 0 {
		return "", notChecked("no rows")
	}
	t := p.tables[i]
	key := t.kind.KeyField()
	list := slices.Repeat(t.values(key, 1), length)
	rows, st, err := p.read(t, first(query.Condition{Field: key, Operator: record.In, Operands: list}))
	switch {
	case err == nil && len(rows) == 0:
		err = failed("a list of %d values finds no row", length)
	case err == nil && !strings.Contains(st.SQL, "OPENJSON"):
		err = warning("not available at this compatibility level: lists are separate parameters")
	}
	return fmt.Sprintf("a list of %d values in one parameter", length), err
}

func (p *serverChecks) minActive() (string, error) {
	_, err := p.facts(1, "SELECT CONVERT(nvarchar(18), CAST(MIN_ACTIVE_ROWVERSION() AS varbinary(8)), 1)")
	return "available", err
}

// endsLater is a statement that runs for seconds: a cross join of constants.
var endsLater = func() string {
	text, sum := "SELECT COUNT_BIG(*) FROM", "0"
	for i := range 8 {
		text += fmt.Sprintf("%s (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) t%d (v)", map[bool]string{true: " CROSS JOIN"}[i > 0], i)
		sum += fmt.Sprintf(" + t%d.v", i)
	}
	return text + " WHERE " + sum + " < 0" + hint + ")"
}()

func (p *serverChecks) cancelled() (string, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	return p.ends(ctx, 200*time.Millisecond, cancel)
}

func (p *serverChecks) limited() (string, error) { return p.ends(p.ctx, statementLimit, p.conn.Abort) }

// ends runs a long statement until stop is called, in a session that holds a lock, and
// waits until the server has released the lock.
func (p *serverChecks) ends(ctx context.Context, after time.Duration, stop func()) (string, error) {
	const lock = "DECLARE @Result int; EXEC @Result = sp_getapplock @Resource = @p1, @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0; SELECT CONCAT(@Result, '')"
	const patience = 3 * time.Second
	name := textParam("whd_prove_" + rand.Text())
	is, err := p.facts(1, lock, name)
	if e, refused := errors.AsType[*mssql.Error](err); refused {
		err = notChecked("no application lock (server error %d)", e.Number)
	}
	if err != nil || is[0] != "0" {
		return "", cmp.Or(err, notChecked("no application lock"))
	}
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
	for {
		is, err := p.facts(1, lock, name)
		if since := time.Since(stopped).Round(time.Millisecond); is[0] == "0" && err == nil {
			p.conn.Abort() // releases the lock
			return fmt.Sprintf("stopped after %v, ended within %v", took, since), nil
		} else if since > patience {
			return "", cmp.Or(err, failed("stopped after %v, did not end within %v", took, since))
		}
		if err := executor.Sleep(p.ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// seeks runs statements that an index can answer, and reads from their actual plans
// whether it did. The connection is closed afterwards, so that no others get plans.
func (p *serverChecks) seeks() (string, error) {
	for _, t := range p.tables {
		p.load(t)
	}
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
	for _, t := range p.tables {
		for field, f := range t.kind.Fields {
			for _, op := range []record.Operator{record.Equal, record.In, record.Between, record.StartsWith} {
				c, ok := t.condition(field, op)
				if !ok || !f.Filter.Allows(op) || !t.leads(f.Name) || isSearch(op) && t.large() {
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
					scans = append(scans, t.kind.Name+" "+f.Name+" "+op.String())
				}
			}
		}
	}
	figure := fmt.Sprintf("%d seeks, %d scans of tables of less than %d rows", n, small, minSeek)
	if scans != nil {
		return "", warning("%s, scans of %s", figure, listed(scans))
	}
	return figure, nil
}

// actualPlan runs a filter and returns its plan, empty if the server returns none.
func (p *serverChecks) actualPlan(conn *sql.Conn, t *table, c query.Condition) (plan string, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, statementLimit)
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
	for more := true; more; more = rows.NextResultSet() {
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
	has := func(o string) bool { return strings.Contains(plan, `PhysicalOp="`+o+`"`) }
	return slices.ContainsFunc([]string{"Index Seek", "Clustered Index Seek"}, has) && !slices.ContainsFunc([]string{"Index Scan", "Clustered Index Scan", "Table Scan"}, has)
}
