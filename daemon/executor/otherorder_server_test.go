package executor_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// TestPagesByOtherTypes checks that pages in the order of columns of another type than their fields,
// or with text that not every parameter can have, have all rows once.
func TestPagesByOtherTypes(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE T (
	ID int NOT NULL PRIMARY KEY,
	Floats float,
	Reals real,
	Texts varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS,
	Poles varchar(20) COLLATE SQL_Latin1_General_CP1250_CI_AS,
	Zones datetimeoffset(7))`,
		`INSERT INTO T VALUES
	(1, 0.1, 0.1, N'€uro', N'Zażółć', '2024-01-01T10:00:00+10:00'),
	(2, 0.1, 0.1, N'eur-o', N'gęślą', '2024-01-01T09:00:00-05:00'),
	(3, 1e300, 3.4e38, N'“a”', N'plain', '2024-01-01T00:00:00+00:00'),
	(4, -1e-7, -1e-7, N'Ž', N'ą', '2024-01-01T00:00:00+00:00'),
	(5, 0.30000000000000004, 16777216, N'z', NULL, NULL),
	(6, NULL, NULL, NULL, N'jaźń', '2023-12-31T23:00:00-01:00'),
	(7, 1, 1, N'a', N'a', '2024-01-01T11:00:00+10:00')`)
	kind := registered(t, record.Kind{Name: "T", Fields: []record.Field{
		nullable("ID", record.Int),
		nullable("Floats", record.Decimal),
		nullable("Reals", record.Decimal),
		nullable("Texts", record.Text),
		nullable("Poles", record.Text),
		nullable("Zones", record.DateTime),
	}})
	pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	tableOf := func(kind *record.Kind) mssql.Table {
		return mssql.Table{Schema: "dbo", Name: kind.Name}
	}
	server := executor.NewServer(executor.ServerConfig{Pool: pool, Limits: noLimits, Names: tableOf})
	defer server.Close()

	allIDs := []int64{1, 2, 3, 4, 5, 6, 7}
	for i, f := range kind.Fields {
		for _, desc := range []bool{false, true} {
			order := query.Order{Field: i, Desc: desc}
			want := readPages(t, server, kind, order, query.NoTake)
			if ids := slices.Sorted(slices.Values(want)); !slices.Equal(ids, allIDs) {
				t.Errorf("in the order of %s, descending %v: got the rows %v at once, want each of %v once",
					f.Name, desc, want, allIDs)
			}
			got := readPages(t, server, kind, order, 1)
			if !slices.Equal(got, want) {
				t.Errorf("in the order of %s, descending %v: got the rows %v by pages, want %v", f.Name, desc, got, want)
			}
		}
	}
}

// maxPaged is more than the rows of a table that readPages reads. If a cursor does not continue after its
// row, the pages never end.
const maxPaged = 20

// readPages reads the rows of a kind in an order by pages of take rows, and returns their IDs.
func readPages(t *testing.T, db executor.Database, kind *record.Kind, order query.Order, take int64) []int64 {
	t.Helper()
	var ids []int64
	cursor := ""
	for len(ids) <= maxPaged {
		r := query.Request{Kind: kind, Order: []query.Order{order}, Take: take, Cursor: &cursor}
		if err := setPlace(&r, []int{0}); err != nil {
			t.Fatal(err)
		}
		tail, err := eachRow(t, db, r, func(cells []row.Cell) { ids = append(ids, cells[0].Int) })
		if err != nil {
			t.Errorf("reading the rows after %v in the order %+v: %v", ids, order, err)
			return ids
		}
		if tail.Next == "" {
			return ids
		}
		cursor = tail.Next
	}
	return ids
}
