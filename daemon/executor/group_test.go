package executor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/tsql"
)

// salesTable is a table as package erp creates it. Its values are equal in several forms.
const salesTable = `CREATE TABLE T (ID TEXT COLLATE TSQL NOT NULL, Price TEXT_DECIMAL COLLATE DEC,
	Qty INTEGER, Day TEXT, Paid INTEGER, Note TEXT COLLATE TSQL);
INSERT INTO T VALUES
	('1', '1.50', 5, '2026-01-02T00:00:00.0000000', 1, 'Red'),
	('2', '1.5', NULL, '2026-01-02', 0, 'red '),
	('3', '-0.25', 9223372036854775807, '2026-02-01T10:00:00.0000000', NULL, 'blue'),
	('4', NULL, 9223372036854775807, NULL, 1, ''),
	('5', '', 0, '', 1, NULL),
	('6', '99999999999999999999999999999999999999', -7, '2025-12-31 23:59:59', 0, 'BLUE'),
	('7', '0.00', 12, '2026-01-31T00:00:00.0000000', 0, 'Straße'),
	('8', '-0', 12, '2026-01-02T00:00:00.0000000', 1, 'STRASSE')`

func salesKind(t *testing.T) *record.Kind {
	return registered(t, record.Kind{Name: "T", Fields: []record.Field{
		{Name: "ID", Type: record.Text, Filter: record.Text.Filter(), Null: record.NotNull},
		nullable("Price", record.Decimal),
		nullable("Qty", record.Long),
		nullable("Day", record.DateTime),
		nullable("Paid", record.Bool),
		nullable("Note", record.Text),
	}})
}

// groupingFiles returns two files with the same rows. The service groups those of the first one,
// since the table is its own; the engine, SQLite, groups those of the second one.
func groupingFiles(t *testing.T, statements string) (service, engine *executor.File) {
	t.Helper()
	pool, conn := newFile(t)
	err := conn.Exec(statements)
	pool.Put(conn)
	if err != nil {
		t.Fatal(err)
	}
	isOwn := func(*sqlite.Conn, *record.Kind) (bool, error) { return true, nil }
	name := (*record.Kind).Source
	return executor.NewFile(pool, name, isOwn, nil), executor.NewFile(pool, name, nil, nil)
}

// groupTexts returns the groups of a request and their total, or its error.
func groupTexts(t *testing.T, file *executor.File, kind *record.Kind, members query.Members) string {
	t.Helper()
	req, err := query.Parse(kind, members, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	req.Total = query.TotalOn
	plan, err := query.NewPlan(req, false)
	if err != nil {
		t.Fatal(err)
	}
	types := plan.Types()
	var lines []string
	tail, err := eachRow(t, file, *req, func(cells []row.Cell) {
		var texts []string
		for i, cell := range cells {
			text := cell.Text(types[i])
			if cell.Null {
				text = "null"
			} else if i == 0 {
				text = anyForm(types[0], text)
			}
			texts = append(texts, text)
		}
		lines = append(lines, strings.Join(texts, " | "))
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s\ntotal %d", strings.Join(lines, "\n"), tail.Total)
}

// anyForm returns the same text for the equal forms of a value: a group has that of any of its
// rows.
func anyForm(t record.Type, text string) string {
	switch t {
	case record.Text:
		return string(tsql.AppendTextKey(nil, []byte(text)))
	case record.Decimal:
		return string(tsql.AppendDecimalKey(nil, []byte(text)))
	}
	return text
}

// groupRequests returns requests with each group and each list of functions, in several orders,
// pages and filters.
func groupRequests() (requests []query.Members) {
	text := func(name, value string) query.Member { return query.Member{Name: name, Texts: []string{value}} }
	for _, by := range []string{"Price", "Qty", "Day", "Day:month", "Day:year", "Paid", "Note"} {
		field, _, _ := strings.Cut(by, ":")
		for _, include := range []string{
			"COUNT(*) AS Value",
			"COUNT(*) AS Value,COUNT(Price),COUNT(Note),COUNT(Day)",
			"SUM(Price) AS Value,AVG(Price)",
			"SUM(Qty) AS Value,AVG(Qty),MIN(Qty),MAX(Qty)",
			"MIN(Day) AS Value,MAX(Day),MIN(ID),MAX(ID)",
		} {
			for _, members := range []query.Members{
				nil,
				{text(query.OrderByDesc, field)},
				{text(query.OrderBy, "-Value")},
				{text(query.Skip, "1"), text(query.Take, "2")},
				{text(query.Skip, "100")},
				{text(query.Take, "0")},
				{text("QtyGreaterThan", "0")},
				{{Name: "PriceBetween", Texts: []string{"-1", "1.500"}}},
			} {
				members = append(members, text(query.GroupBy, by), text(query.Include, include))
				requests = append(requests, members)
			}
		}
	}
	return requests
}

// TestGroupsAreThoseOfSQLite compares the groups of the service with those of SQLite.
func TestGroupsAreThoseOfSQLite(t *testing.T) {
	kind := salesKind(t)
	service, engine := groupingFiles(t, salesTable)
	for _, members := range groupRequests() {
		got := groupTexts(t, service, kind, members)
		want := groupTexts(t, engine, kind, members)
		if got != want {
			t.Errorf("the groups of %v are\n%s\nwant those of SQLite:\n%s", members, got, want)
		}
	}
}

// TestGroupsWithOtherValues checks that SQLite groups rows with values that are not of the type of
// their field, and refuses to add them.
func TestGroupsWithOtherValues(t *testing.T) {
	kind := salesKind(t)
	service, engine := groupingFiles(t, salesTable+`;
INSERT INTO T VALUES ('9', 'n/a', 'n/a', 'n/a', 'maybe', x'00'), ('10', 'n/a', 2.5, 20260102, 7, x'00')`)
	for _, by := range []string{"Price", "Qty", "Day", "Day:month", "Paid", "Note"} {
		for _, include := range []string{"COUNT(*)", "MIN(Price),MAX(Price)", "MIN(Qty),MAX(Day)", "SUM(Price)", "AVG(Qty)"} {
			members := query.Members{
				{Name: query.GroupBy, Texts: []string{by}},
				{Name: query.Include, Texts: []string{include}},
			}
			got := groupTexts(t, service, kind, members)
			want := groupTexts(t, engine, kind, members)
			if got != want {
				t.Errorf("%s by %s is\n%s\nwant the result of SQLite:\n%s", include, by, got, want)
			}
		}
	}
}

// TestManyGroups checks that SQLite computes groups that would need much memory.
func TestManyGroups(t *testing.T) {
	const rows = 60_000
	kind := salesKind(t)
	service, _ := groupingFiles(t, salesTable+fmt.Sprintf(`;
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO T (ID, Qty) SELECT 'x' || n, 1 FROM numbers`, rows))
	got := groupTexts(t, service, kind, query.Members{
		{Name: query.GroupBy, Texts: []string{"ID"}},
		{Name: query.Include, Texts: []string{"SUM(Qty)"}},
		{Name: query.Take, Texts: []string{"3"}},
		{Name: query.OrderBy, Texts: []string{"-ID"}},
	})
	lines := strings.Split(got, "\n")
	want := []string{"x9999 | 1", "x9998 | 1", "x9997 | 1", fmt.Sprintf("total %d", rows+8)}
	if !slices.Equal(lines, want) {
		t.Errorf("the last groups are %q, want %q", lines, want)
	}
}
