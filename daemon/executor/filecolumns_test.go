package executor_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// TestOtherColumns: decimals that a table or view of another program has as text, or in a
// column without a type, are compared, sorted and grouped by their values. A condition may
// ignore the case of a text that its column does not.
func TestOtherColumns(t *testing.T) {
	decimal, text := record.Field{Name: "N", Type: record.Decimal}, record.Field{Name: "N", Type: record.Text}
	order := []query.Order{{Field: 0}}
	texts := "VALUES ('10'), ('9'), ('9.00'), ('-2'), ('-10'), (NULL)"
	for _, c := range []struct {
		name, sql string
		field     record.Field
		request   query.Request
		want      string
	}{
		{"greater", "CREATE TABLE T (N TEXT); INSERT INTO T " + texts, decimal, where(record.GreaterThan, "5"), "10 9 9.00"},
		{"equal", "CREATE TABLE T (N varchar(40)); INSERT INTO T " + texts, decimal, where(record.Equal, "9.0"), "9 9.00"},
		{"in", "CREATE TABLE T (N TEXT); INSERT INTO T " + texts, decimal, where(record.In, "9", "-2.0"), "9 9.00 -2"},
		{"between", "CREATE TABLE T (N TEXT); INSERT INTO T " + texts, decimal, where(record.Between, "-3", "9"), "9 9.00 -2"},
		{"order", "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('10'), ('9'), ('-2'), ('-10')", decimal, query.Request{Order: order}, "-10 -2 9 10"},
		{"distinct", "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('9'), ('9.00'), ('10')", decimal, query.Request{Distinct: true, Order: order}, "9 10"},
		{"our collation", "CREATE TABLE T (N TEXT_DECIMAL COLLATE DEC); INSERT INTO T " + texts, decimal, where(record.GreaterThan, "5"), "10 9 9.00"},
		{"numeric", "CREATE TABLE T (N DECIMAL(18,4)); INSERT INTO T VALUES (10), (9.5), (-2)", decimal, where(record.GreaterThan, "5"), "10 9.5"},
		{"view", "CREATE TABLE U (N INTEGER); INSERT INTO U VALUES (1), (4), (10); CREATE VIEW T AS SELECT N * 1.5 AS N FROM U", decimal, where(record.GreaterThan, "5.9"), "6.0 15.0"},
		{"equal in a view", "CREATE TABLE U (N INTEGER); INSERT INTO U VALUES (1), (4), (10); CREATE VIEW T AS SELECT N * 1.5 AS N FROM U", decimal, where(record.Equal, "6"), "6.0"},
		{"small numbers of a view", "CREATE TABLE U (N INTEGER); INSERT INTO U VALUES (1), (4), (300000); CREATE VIEW T AS SELECT 1.0 / N AS N FROM U", decimal, query.Request{Order: order}, "0.0000033333333333333333 0.25 1.0"},
		{"untyped texts", "CREATE TABLE T (N); INSERT INTO T VALUES ('10'), (9.5), ('-2')", decimal, where(record.GreaterThan, "5"), "10 9.5"},
		{"case", "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('Acme'), ('acme'), ('b')", text, where(record.Equal, "acme"), "acme"},
		{"folded", "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('Acme'), ('acme'), ('b')", text, folded(where(record.Equal, "acme")), "Acme acme"},
		{"not folded", "CREATE TABLE T (N TEXT); INSERT INTO T VALUES ('Acme'), ('acme'), ('b')", text, folded(query.Request{Where: []query.Condition{query.Not(where(record.Equal, "acme").Where[0])}}), "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(t, c.sql, c.field, c.request); got != c.want {
				t.Errorf("rows %s, want %s", got, c.want)
			}
		})
	}
	aggregates := query.Request{Take: query.NoTake, Include: []query.Aggregate{{Function: query.Min, Name: "least"}, {Function: query.Max, Name: "most"}, {Function: query.Count, Distinct: true, Name: "values"}}}
	if got, want := numbers(t, "CREATE TABLE T (N TEXT); INSERT INTO T "+texts, decimal, aggregates), "10 9 9.00 -2 -10 null least=-10 most=10 values=4"; got != want {
		t.Errorf("aggregates %s, want %s", got, want)
	}
}

// TestKeyOfDecimalsInTexts: a unique index of texts does not prove a key of decimals.
func TestKeyOfDecimalsInTexts(t *testing.T) {
	pool, conn := newFile(t)
	if err := conn.Exec("CREATE TABLE T (N TEXT NOT NULL PRIMARY KEY); INSERT INTO T VALUES ('1'), ('9'), ('9.00')"); err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	n := []record.Field{{Name: "N", Type: record.Decimal}}
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: n}, record.Kind{Name: "Declared", Table: "T", Fields: n, Key: []string{"N"}})
	if err != nil {
		t.Fatal(err)
	}
	if key, err := executor.Key(t.Context(), file, registry.Kinds()[0]); err != nil || key != nil {
		t.Errorf("the key is %v (%v), want none", key, err)
	}
	if problem, err := executor.KeyProblem(t.Context(), file, registry.Kinds()[1]); err != nil || !strings.Contains(problem, "is 2;") {
		t.Errorf("the problem of the declared key is %q (%v), want two equal rows", problem, err)
	}
}

func where(o record.Operator, texts ...string) query.Request {
	c := query.Condition{Operator: o}
	for _, text := range texts {
		c.Operands = append(c.Operands, wire.Value{Text: text})
	}
	return query.Request{Where: []query.Condition{c}}
}

// folded makes the condition of a request ignore case.
func folded(r query.Request) query.Request {
	r.Where[0].Folded = true
	return r
}

// numbers returns the values and the aggregates of a request for the field of a table T.
func numbers(t *testing.T, sql string, field record.Field, r query.Request) string {
	t.Helper()
	pool, conn := newFile(t)
	for statement := range strings.SplitSeq(sql, ";") {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	pool.Put(conn)
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: []record.Field{field}})
	if err != nil {
		t.Fatal(err)
	}
	r.Kind, r.Take = registry.Kinds()[0], query.NoTake
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	result, err := executor.Select(t.Context(), file, func() executor.Limits { return executor.Limits{} }, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var got []string
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			break
		}
		got = append(got, cells[0].Text(field.Type))
		if cells[0].Null {
			got[len(got)-1] = "null"
		}
	}
	tail, err := result.Tail(int64(len(got)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range tail.Meta {
		got = append(got, m.Name+"="+m.Value)
	}
	return strings.Join(got, " ")
}

// TestSumsThatFail: a sum that cannot be computed is an error of the request, as on a server.
func TestSumsThatFail(t *testing.T) {
	pool, conn := newFile(t)
	defer pool.Put(conn)
	for sql, want := range map[string]string{
		"SELECT dec_sum(v) FROM (SELECT '1.5' AS v UNION ALL SELECT 'x')": "not a number",
		"SELECT dec_avg('-')": "not a number",
		"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT dec_sum(v) FROM (SELECT '0." + strings.Repeat("1", 38) + "' AS v UNION ALL SELECT '" + strings.Repeat("9", 38) + "' FROM n)": "out of range",
	} {
		err := executor.Classify(conn.Query(sql, nil))
		if f := fault.From(err); f.Kind != fault.Invalid || !strings.Contains(f.Message, want) {
			t.Errorf("%.80s: %v, want an error of the request with %q", sql, err, want)
		}
	}
}
