package executor_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// pages reads the table T of a new file by pages of take rows, and returns the first fields
// of its rows.
func pages(t *testing.T, table string, kind record.Kind, order []query.Order, take int64) (rows []string, err error) {
	t.Helper()
	pool, conn := newFile(t)
	if err = conn.Exec(table); err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	kind.Name = "T"
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	registered := registry.Kinds()[0]
	cursors := query.NewCursors([32]byte{})
	next := ""
	for range 10 {
		r := query.Request{Kind: registered, Order: order, Take: take, Cursor: &next}
		if next == "" {
			err = cursors.Start(&r, nil, registered.KeyFields())
		} else {
			err = cursors.Continue(&r, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(&r, false)
		if err != nil {
			t.Fatal(err)
		}
		result, err := executor.Select(t.Context(), file, func() executor.Limits { return executor.Limits{} }, plan)
		if err != nil {
			return rows, err
		}
		defer result.Close()
		read := int64(0)
		for {
			cells, err := result.Next()
			if err != nil {
				return rows, err
			}
			if cells == nil {
				break
			}
			rows = append(rows, cells[0].Text(registered.Fields[0].Type))
			read++
		}
		tail, err := result.Tail(read)
		if err != nil || tail.Next == "" {
			return rows, err
		}
		next = tail.Next
		result.Close()
	}
	t.Fatalf("the pages do not end: %s", rows)
	return nil, nil
}

func TestPagesThatCannotContinue(t *testing.T) {
	id, other := record.Field{Name: "ID", Type: record.Int}, record.Field{Name: "Other", Type: record.Int}
	for name, c := range map[string]struct {
		table  string
		fields []record.Field
		order  []query.Order
		want   string
	}{
		"equal rows": {"CREATE TABLE T (ID int, Other int); INSERT INTO T VALUES (1, 1), (2, 1), (2, 2), (3, 1)",
			[]record.Field{id, other}, nil, "the declared key ID of T is not unique"},
		"rows without a key": {"CREATE TABLE T (ID int, Other int); INSERT INTO T VALUES (1, 1), (NULL, 1), (NULL, 2)",
			[]record.Field{id, other}, []query.Order{{Field: 0, Desc: true}}, "the declared key ID of T is not unique"},
	} {
		rows, err := pages(t, c.table, record.Kind{Fields: c.fields, Key: []string{"ID"}}, c.order, 2)
		if f := fault.From(err); err == nil || f.Kind != fault.Invalid || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s: %s, %v; want %s", name, rows, err, c.want)
		}
	}
	for _, sums := range []string{"Other + 1", "CAST(Other + 1 AS numeric)"} {
		view := "CREATE TABLE Source (ID int, Other int); INSERT INTO Source VALUES (1, 9), (2, 10), (3, 11), (4, -1); CREATE VIEW T AS SELECT ID, " + sums + " AS Other FROM Source"
		rows, err := pages(t, view, record.Kind{Fields: []record.Field{id, {Name: "Other", Type: record.Decimal}}, Key: []string{"ID"}}, []query.Order{{Field: 1}}, 2)
		if err != nil || strings.Join(rows, " ") != "4 1 2 3" {
			t.Errorf("in the order of %s: %s, %v", sums, rows, err)
		}
	}
}

func TestPagesOfInfiniteNumbers(t *testing.T) {
	kind := record.Kind{Fields: []record.Field{{Name: "ID", Type: record.Int}, {Name: "Size", Type: record.Double}}, Key: []string{"ID"}}
	table := "CREATE TABLE T (ID int, Size double); INSERT INTO T VALUES (1, -9e999), (2, 9e999), (3, 5), (4, -5), (5, 9e999), (6, -9e999)"
	for desc, want := range map[bool]string{false: "1 6 4 3 2 5", true: "5 2 3 4 6 1"} {
		if rows, err := pages(t, table, kind, []query.Order{{Field: 1, Desc: desc}}, 1); err != nil || strings.Join(rows, " ") != want {
			t.Errorf("descending %v: %s, %v; want %s", desc, rows, err, want)
		}
	}
}
