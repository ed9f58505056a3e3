package executor_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// The field N of the table T.
var (
	decimalN = record.Field{Name: "N", Type: record.Decimal}
	textN    = record.Field{Name: "N", Type: record.Text}
)

// decimalTexts are the rows of a table of decimals as texts.
const decimalTexts = "INSERT INTO T VALUES ('10'), ('9'), ('9.00'), ('-2'), ('-10'), (NULL)"

// TestOtherColumns checks that decimals which a table or view of another program has as text, or in
// a column without a type, are compared, sorted and grouped by their values.
func TestOtherColumns(t *testing.T) {
	const (
		texts = "CREATE TABLE T (N TEXT); " + decimalTexts
		views = "CREATE TABLE U (N INTEGER); INSERT INTO U VALUES (1), (4), (10); " +
			"CREATE VIEW T AS SELECT N * 1.5 AS N FROM U"
	)
	order := []query.Order{{Field: 0}}
	for _, c := range []struct {
		name       string
		statements string
		request    query.Request
		want       string
	}{
		{"greater", texts, where(record.GreaterThan, "5"), "10 9 9.00"},
		{
			"equal",
			"CREATE TABLE T (N varchar(40)); " + decimalTexts,
			where(record.Equal, "9.0"),
			"9 9.00",
		},
		{"in", texts, where(record.In, "9", "-2.0"), "9 9.00 -2"},
		{"between", texts, where(record.Between, "-3", "9"), "9 9.00 -2"},
		{
			"order",
			"CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('10'), ('9'), ('-2'), ('-10')",
			query.Request{Order: order},
			"-10 -2 9 10",
		},
		{
			"distinct",
			"CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('9'), ('9.00'), ('10')",
			query.Request{Distinct: true, Order: order},
			"9 10",
		},
		{
			"our collation",
			"CREATE TABLE T (N TEXT_DECIMAL COLLATE DEC); " + decimalTexts,
			where(record.GreaterThan, "5"),
			"10 9 9.00",
		},
		{
			"our type without our collation",
			"CREATE TABLE T (N TEXT_DECIMAL); " + decimalTexts,
			where(record.GreaterThan, "5"),
			"10 9 9.00",
		},
		{
			"order of our type without our collation",
			"CREATE TABLE T (N TEXT_DECIMAL); INSERT INTO T VALUES ('10'), ('9'), ('-2')",
			query.Request{Order: order},
			"-2 9 10",
		},
		{
			"numeric",
			"CREATE TABLE T (N DECIMAL(18,4)); INSERT INTO T VALUES (10), (9.5), (-2)",
			where(record.GreaterThan, "5"),
			"10 9.5",
		},
		{"view", views, where(record.GreaterThan, "5.9"), "6.0 15.0"},
		{"equal in a view", views, where(record.Equal, "6"), "6.0"},
		{
			"small numbers of a view",
			"CREATE TABLE U (N INTEGER); INSERT INTO U VALUES (1), (4), (300000); " +
				"CREATE VIEW T AS SELECT 1.0 / N AS N FROM U",
			query.Request{Order: order},
			"0.0000033333333333333333 0.25 1.0",
		},
		{
			"untyped texts",
			"CREATE TABLE T (N); INSERT INTO T VALUES ('10'), (9.5), ('-2')",
			where(record.GreaterThan, "5"),
			"10 9.5",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(t, c.statements, decimalN, c.request); got != c.want {
				t.Errorf("the rows are %s, want %s", got, c.want)
			}
		})
	}
}

// TestFoldedConditions checks that a condition may ignore the case of a text that its column does
// not ignore.
func TestFoldedConditions(t *testing.T) {
	const table = "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('Acme'), ('acme'), ('b')"
	exact := where(record.Equal, "acme")
	ignoringCase := where(record.Equal, "acme")
	ignoringCase.Where[0].Folded = true
	negated := query.Request{Where: []query.Condition{query.Not(ignoringCase.Where[0])}}
	for _, c := range []struct {
		name    string
		request query.Request
		want    string
	}{
		{"case", exact, "acme"},
		{"folded", ignoringCase, "Acme acme"},
		{"not folded", negated, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(t, table, textN, c.request); got != c.want {
				t.Errorf("the rows are %s, want %s", got, c.want)
			}
		})
	}
}

// TestAggregatesOfDecimalsInTexts checks that aggregates compare decimals by their values.
func TestAggregatesOfDecimalsInTexts(t *testing.T) {
	r := query.Request{Include: []query.Aggregate{
		{Function: query.Min, Name: "min"},
		{Function: query.Max, Name: "max"},
		{Function: query.Count, Distinct: true, Name: "count"},
	}}
	got := numbers(t, "CREATE TABLE T (N TEXT); "+decimalTexts, decimalN, r)
	const want = "10 9 9.00 -2 -10 null min=-10 max=10 count=4"
	if got != want {
		t.Errorf("the rows and aggregates are %s, want %s", got, want)
	}
}

// TestKeyOfDecimalsInTexts checks that a unique index of texts does not prove a key of decimals.
func TestKeyOfDecimalsInTexts(t *testing.T) {
	file := fileOf(t, "CREATE TABLE T (N TEXT NOT NULL PRIMARY KEY); INSERT INTO T VALUES ('1'), ('9'), ('9.00')")
	fields := []record.Field{decimalN}
	kind := registered(t, record.Kind{Name: "T", Fields: fields})
	key, err := executor.Key(t.Context(), file, kind)
	if err != nil || key != nil {
		t.Errorf("the key is %v (%v), want none", key, err)
	}

	declared := registered(t, record.Kind{Name: "Declared", Table: "T", Fields: fields, Key: []string{"N"}})
	problem, err := executor.KeyProblem(t.Context(), file, declared)
	if err != nil || !strings.Contains(problem, "is 2;") {
		t.Errorf("the problem of the declared key is %q (%v), want two equal rows", problem, err)
	}
}

// where returns a request with a condition on the first field.
func where(o record.Operator, texts ...string) query.Request {
	c := query.Condition{Operator: o}
	for _, text := range texts {
		c.Operands = append(c.Operands, wire.Value{Text: text})
	}
	return query.Request{Where: []query.Condition{c}}
}

// numbers returns the values and the aggregates of a request for the field of a table T.
func numbers(t *testing.T, statements string, field record.Field, r query.Request) string {
	t.Helper()
	file := fileOf(t, statements)
	r.Kind = registered(t, record.Kind{Name: "T", Fields: []record.Field{field}})
	r.Take = query.NoTake
	var got []string
	tail, err := eachRow(t, file, r, func(cells []row.Cell) {
		text := cells[0].Text(field.Type)
		if cells[0].Null {
			text = "null"
		}
		got = append(got, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range tail.Meta {
		got = append(got, m.Name+"="+m.Value)
	}
	return strings.Join(got, " ")
}

// TestSumsThatFail checks that a sum which cannot be computed is an error of the request, as on a
// server.
func TestSumsThatFail(t *testing.T) {
	pool, conn := newFile(t)
	defer pool.Put(conn)
	tooLarge := "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) " +
		"SELECT dec_sum(v) FROM (" +
		"SELECT '0." + strings.Repeat("1", 38) + "' AS v " +
		"UNION ALL SELECT '" + strings.Repeat("9", 38) + "' FROM n)"
	for sql, want := range map[string]string{
		"SELECT dec_sum(v) FROM (SELECT '1.5' AS v UNION ALL SELECT 'x')": "not a number",
		"SELECT dec_avg('-')": "not a number",
		tooLarge:              "out of range",
	} {
		err := executor.Classify(conn.Query(sql, nil))
		if f := fault.From(err); f.Kind != fault.Invalid || !strings.Contains(f.Message, want) {
			t.Errorf("%.80s: got the error %v, want a fault of kind %v with %q", sql, err, fault.Invalid, want)
		}
	}
}
