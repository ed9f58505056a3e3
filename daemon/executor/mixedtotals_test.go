package executor_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// TestMixedAggregates: the least and the greatest value are of the field's type, an empty text
// is null, and the sum of a text is an error.
func TestMixedAggregates(t *testing.T) {
	pool, conn := newFile(t)
	err := conn.Exec("CREATE TABLE T (ID INTEGER PRIMARY KEY, Qty INTEGER, Price REAL, Day DATE); " +
		"INSERT INTO T VALUES (1, 5, 1.5, '2026-01-02'), (2, '', '', ''), (3, 'n/a', 'abc', 'n/a'), (4, 2.5, 7, 20260102), (5, 12, NULL, '2026-01-01 10:00:00'), (6, NULL, 2.0, NULL), (7, x'00', -1.0, x'00')")
	if err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	field := func(name string, of record.Type) record.Field {
		return record.Field{Name: name, Type: of, Filter: of.Filter(), Null: record.Nullable}
	}
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: []record.Field{field("ID", record.Long), field("Qty", record.Int), field("Price", record.Double), field("Day", record.DateTime)}})
	if err != nil {
		t.Fatal(err)
	}
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	for include, want := range map[string]string{
		"MIN(Qty),MAX(Qty),COUNT(Qty),COUNT(DISTINCT Qty)": "5 12 5 5",
		"MIN(Price),MAX(Price),COUNT(Price)":               "-1 7 5",
		"MIN(Day),MAX(Day),COUNT(Day)":                     "2026-01-01T10:00:00.0000000 2026-01-02T00:00:00.0000000 5",
		"SUM(Price)":                                       "has a value that is not a number",
		"SUM(Qty)":                                         "has a value that is not a number",
	} {
		req, err := query.Parse(registry.Kinds()[0], query.Members{{Name: "Include", Texts: []string{include}}, {Name: "Take", Texts: []string{"0"}}}, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(req, false)
		if err != nil {
			t.Fatal(err)
		}
		result, err := executor.Select(t.Context(), file, func() executor.Limits { return executor.Limits{} }, plan)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := result.Tail(0)
		result.Close()
		var got []string
		for _, m := range tail.Meta {
			got = append(got, m.Value)
		}
		if err != nil {
			got = []string{fault.From(err).Message}
		}
		if text := strings.Join(got, " "); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", include, text, want)
		}
	}
}
