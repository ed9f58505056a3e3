package executor_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
)

// TestPagesByOtherTypes reads pages in the order of columns of another type than their fields,
// or with text that not every parameter can have: all rows once.
func TestPagesByOtherTypes(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE T (ID int NOT NULL PRIMARY KEY, Floats float, Reals real, Texts varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS, Poles varchar(20) COLLATE SQL_Latin1_General_CP1250_CI_AS, Zones datetimeoffset(7))`,
		`INSERT INTO T VALUES (1, 0.1, 0.1, N'€uro', N'Zażółć', '2024-01-01T10:00:00+10:00'), (2, 0.1, 0.1, N'eur-o', N'gęślą', '2024-01-01T09:00:00-05:00'), (3, 1e300, 3.4e38, N'“a”', N'plain', '2024-01-01T00:00:00+00:00'),
(4, -1e-7, -1e-7, N'Ž', N'ą', '2024-01-01T00:00:00+00:00'), (5, 0.30000000000000004, 16777216, N'z', NULL, NULL), (6, NULL, NULL, NULL, N'jaźń', '2023-12-31T23:00:00-01:00'), (7, 1, 1, N'a', N'a', '2024-01-01T11:00:00+10:00')`)
	field := func(name string, fieldType record.Type) record.Field {
		return record.Field{Name: name, Type: fieldType, Filter: fieldType.Filter(), Null: record.Nullable}
	}
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: []record.Field{field("ID", record.Int), field("Floats", record.Decimal), field("Reals", record.Decimal), field("Texts", record.Text), field("Poles", record.Text), field("Zones", record.DateTime)}})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	limits := func() executor.Limits { return executor.Limits{} }
	server := executor.NewServer(pool, 0, limits, func(kind *record.Kind) mssql.Table { return mssql.Table{Schema: "dbo", Name: kind.Name} })
	defer server.Close()
	kind, cursors := registry.Kinds()[0], query.NewCursors([32]byte{})
	read := func(order query.Order, take int64) (ids []string, err error) {
		for next := ""; ; {
			r := query.Request{Kind: kind, Order: []query.Order{order}, Take: take, Cursor: &next}
			if next == "" {
				err = cursors.Start(&r, nil, []int{0})
			} else {
				err = cursors.Continue(&r, nil)
			}
			if err != nil {
				return nil, err
			}
			plan, err := query.NewPlan(&r, false)
			if err != nil {
				return nil, err
			}
			rows, tail, err := readPlan(t, server, limits, plan)
			ids = append(ids, rows...)
			if err != nil || tail.Next == "" || len(ids) > 20 {
				return ids, err
			}
			next = tail.Next
		}
	}
	for i, f := range kind.Fields {
		for _, desc := range []bool{false, true} {
			order := query.Order{Field: i, Desc: desc}
			whole, err := read(order, query.NoTake)
			got, pageErr := read(order, 1)
			if pageErr != nil || err != nil || !slices.Equal(got, whole) {
				t.Errorf("%s, descending %v: %s by pages, %v, want %s, %v", f.Name, desc, got, pageErr, whole, err)
			}
		}
	}
}

func readPlan(t *testing.T, from executor.Database, limits func() executor.Limits, plan *query.Plan) (ids []string, tail executor.Tail, err error) {
	result, err := executor.Select(t.Context(), from, limits, plan)
	if err != nil {
		return nil, tail, err
	}
	defer result.Close()
	for {
		cells, err := result.Next()
		if err != nil {
			return ids, tail, err
		}
		if cells == nil {
			break
		}
		ids = append(ids, cells[0].Text(record.Int))
	}
	tail, err = result.Tail(int64(len(ids)))
	return ids, tail, err
}
