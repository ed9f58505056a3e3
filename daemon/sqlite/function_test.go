package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rulesTable creates the table of rules and ruleStatements.
const rulesTable = `CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT COLLATE TSQL, d TEXT_DECIMAL COLLATE DEC);
	CREATE INDEX a_t ON a(t);
	CREATE INDEX a_d ON a(d);
	INSERT INTO a VALUES
		(1, 'Bolt', '10.00'), (2, 'bolt  ', '9.5'), (3, 'BÖLT', '-3'), (4, 'bölt', '10'),
		(5, 'Kelvin', '0.00'), (6, 'kelvin', '-0.0'), (7, '', '123456789012345678901234567890.12'),
		(8, NULL, NULL), (9, '50% [off]_', '123456789012345678901234567890.13')`

// rules are conditions with the ids of the rows that meet them.
var rules = []struct{ where, want string }{
	{"t = 'BOLT'", "1,2"},
	{"t = 'bolt '", "1,2"},
	{"t IN ('bölt', 'KELVIN')", "3,4,5,6"},
	{"t BETWEEN 'BOLT' AND 'kelvin'", "1,2,3,4,5,6"},
	{"t > 'bolt'", "3,4,5,6"},
	{"t <> 'bolt'", "3,4,5,6,7,9"},
	{"t = '   '", "7"},
	{"d = '10'", "1,4"},
	{"d IN ('10.000', '0')", "1,4,5,6"},
	{"d BETWEEN '-3.0' AND '9.50'", "2,3,5,6"},
	{"d > '10'", "7,9"},
	{"d = '123456789012345678901234567890.130'", "9"},
	{"t LIKE 'b_lt'", "1,2,3,4"},
	{"t LIKE '[k-m]%'", "5,6"},
	{"t LIKE '%[[]off]%'", "9"},
	{"t LIKE '['", ""},
	{"t LIKE NULL", ""},
	{"t NOT LIKE '%'", ""},
	{"t LIKE t", "1,2,3,4,5,6,7"},
	{"t LIKE '50[%]%'", "9"},
	{"t LIKE 'BÖ%'", "3,4"},
	{"t LIKE '%LT'", "1,2,3,4"},
	{"t LIKE '%LT '", "2"},
	{"t LIKE '%\u212aEL%'", "5,6"},
	{"t LIKE '%[_]%'", "9"},
	{"NULL LIKE '%'", ""},
}

// ruleStatements are statements with their rows, as returned by query.
var ruleStatements = []struct{ sql, want string }{
	{"SELECT count(DISTINCT t) FROM a", "5"},
	{"SELECT count(*) FROM (SELECT DISTINCT d FROM a WHERE d IS NOT NULL)", "6"},
	{"SELECT count(*) FROM a GROUP BY t ORDER BY t", "1,1,1,2,2,2"},
	{"SELECT id FROM a WHERE id IN (1, 3, 5, 9) ORDER BY t", "9,1,3,5"},
	{"SELECT id FROM a WHERE d IS NOT NULL ORDER BY d, id", "3,5,6,2,1,4,7,9"},
	{"SELECT min(d), max(d) FROM a", "-3|123456789012345678901234567890.13"},
	{"SELECT max(t) FROM a WHERE id IN (5, 6, 1)", "Kelvin"},
	{"SELECT dec_text(0.25), dec_text(1.0 / 300000)", "0.25|0.0000033333333333333333"},
	{"SELECT dec_text(-1e20), dec_text(12)", "-100000000000000000000|12"},
	{"SELECT dec_text('1e5'), dec_text(NULL)", "1e5|NULL"},
	{"SELECT dec_sum(d) FROM a", "246913578024691357802469135806.75"},
	{"SELECT dec_sum(d), dec_avg(d) FROM a WHERE id < 5", "26.50|6.625000"},
	{"SELECT dec_sum(d), dec_avg(d) FROM a WHERE id = 8", "NULL|NULL"},
	{"SELECT dec_sum(d), dec_avg(d) FROM a WHERE id > 99", "NULL|NULL"},
	{"SELECT dec_avg(id), dec_sum(id) FROM a WHERE id < 3", "1.500000|3"},
	{"SELECT dec_sum(d) FROM a WHERE id < 5 GROUP BY t ORDER BY t", "19.50,7"},
	{"SELECT 'A' || char(0) || 'b' LIKE 'a' || char(0) || '_'", "1"},
}

func TestRules(t *testing.T) {
	c := open(t)
	exec(t, c, rulesTable)
	checkRules(t, true, func(sql string) string { return query(t, c, sql) })
}

// TestRulesWithDriver checks the rules through database/sql, which migrations and backups
// use on the same files.
func TestRulesWithDriver(t *testing.T) {
	for range 2 {
		if err := RegisterDriver(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "records.db")
	exec(t, openFile(t, path, Options{}), rulesTable)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkRules(t, false, func(sql string) string { return queryDriver(t, db, sql) })
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := db.Exec("VACUUM INTO ?", copied); err != nil {
		t.Fatal(err)
	}
	if got := query(t, openFile(t, copied, Options{}), "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("the integrity check of the copy: got %s, want ok", got)
	}
}

func queryDriver(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, v := range values {
			if !v.Valid {
				v.String = "NULL"
			}
			shown = append(shown, v.String)
		}
		lines = append(lines, strings.Join(shown, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return strings.Join(lines, ",")
}

// functions matches functions that are not registered with the database/sql driver.
var functions = regexp.MustCompile(`\b(LIKE|dec_text|dec_sum|dec_avg)\b`)

// checkRules evaluates each condition with and without the table's indexes.
func checkRules(t *testing.T, withFunctions bool, query func(sql string) string) {
	t.Helper()
	check := func(sql, want string) {
		t.Helper()
		if !withFunctions && functions.MatchString(sql) {
			return
		}
		if got := query(sql); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	for _, rule := range rules {
		for _, table := range []string{"a", "a NOT INDEXED"} {
			check(fmt.Sprintf("SELECT id FROM %s WHERE %s ORDER BY id", table, rule.where), rule.want)
		}
	}
	for _, s := range ruleStatements {
		check(s.sql, s.want)
	}
}

// TestIndexes: comparisons and sorting on columns with our collations use their indexes.
func TestIndexes(t *testing.T) {
	c := open(t)
	exec(t, c, rulesTable)
	for sql, index := range map[string]string{
		"SELECT id FROM a WHERE t = ?":                 "USING COVERING INDEX a_t (t=?)",
		"SELECT id FROM a WHERE t IN (?, ?)":           "USING COVERING INDEX a_t (t=?)",
		"SELECT id FROM a WHERE d BETWEEN ? AND ?":     "USING COVERING INDEX a_d (d>? AND d<?)",
		"SELECT id FROM a ORDER BY t":                  "USING COVERING INDEX a_t",
		"SELECT id FROM a WHERE d > ? ORDER BY d DESC": "USING COVERING INDEX a_d (d>?)",
	} {
		plan := query(t, c, "EXPLAIN QUERY PLAN "+sql)
		if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: got plan %s, want %s without sorting", sql, plan, index)
		}
	}
}

// TestPlanOfParameters checks that a statement keeps its plan for all values of its parameters: with
// statistics, the value that few rows have would otherwise choose the index.
func TestPlanOfParameters(t *testing.T) {
	c := open(t)
	exec(t, c, `CREATE TABLE b (x TEXT, y TEXT);
CREATE INDEX b_x ON b (x);
CREATE INDEX b_y ON b (y);
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
INSERT INTO b SELECT iif(n < 10, 'rare', 'common'), iif(n < 990, 'common', 'rare') FROM numbers;
ANALYZE`)
	const search = "EXPLAIN QUERY PLAN SELECT rowid FROM b WHERE x = ? AND y = ?"
	first := query(t, c, search, "rare", "common")
	second := query(t, c, search, "common", "rare")
	if first != second {
		t.Errorf("got the plans %s and %s, want one for both values", first, second)
	}
	if stats := query(t, c, "SELECT count(*) > 0 FROM sqlite_stat4"); stats != "1" {
		t.Errorf("samples of the columns exist: got %s, want 1", stats)
	}
}

// TestPatternPerRun: the compiled pattern is cached per execution, not per statement.
func TestPatternPerRun(t *testing.T) {
	c := open(t)
	for pattern, want := range map[string]string{"a%": "1", "b%": "0", "%B": "1", "[": "0"} {
		if got := query(t, c, "SELECT 'ab' LIKE ?", pattern); got != want {
			t.Errorf("ab LIKE %s: got %s, want %s", pattern, got, want)
		}
	}
}

func TestAggregateErrors(t *testing.T) {
	c := open(t)
	for sql, want := range map[string]string{
		"SELECT dec_sum('1.5'), dec_sum('x')":               "not a decimal",
		"SELECT dec_avg('')||dec_avg('x')":                  "not a decimal",
		"SELECT typed_number('x')":                          "not a decimal",
		"SELECT dec_sum(1.5e300)":                           "not a decimal",
		"SELECT dec_sum('" + strings.Repeat("9", 90) + "')": "arithmetic overflow",
	} {
		if e := failure(t, c.Exec(sql)); !strings.Contains(e.Message, want) {
			t.Errorf("%.40s: got error %v, want %s", sql, e, want)
		}
	}
}
