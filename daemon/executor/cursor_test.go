package executor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// pages reads the table T of a new file by pages of take rows, and returns the IDs of its rows. The
// kind of the table has the key ID and another field.
func pages(
	t *testing.T, statements string, field record.Field, order []query.Order, take int64,
) (ids []int64, err error) {
	t.Helper()
	file := fileOf(t, statements)
	kind := registered(t, record.Kind{
		Name:   "T",
		Key:    []string{"ID"},
		Fields: []record.Field{{Name: "ID", Type: record.Int}, field},
	})
	cursor := ""
	for range 10 {
		r := query.Request{Kind: kind, Order: order, Take: take, Cursor: &cursor}
		if err := setPlace(&r, kind.KeyFields()); err != nil {
			t.Fatal(err)
		}
		tail, err := eachRow(t, file, r, func(cells []row.Cell) { ids = append(ids, cells[0].Int) })
		if err != nil || tail.Next == "" {
			return ids, err
		}
		cursor = tail.Next
	}
	t.Fatalf("the pages do not end: %v", ids)
	return nil, nil
}

func TestPagesThatCannotContinue(t *testing.T) {
	const create = "CREATE TABLE T (ID int, Other int); INSERT INTO T VALUES "
	const want = "the declared key ID of T is not unique"
	other := record.Field{Name: "Other", Type: record.Int}
	for name, c := range map[string]struct {
		rows  string
		order []query.Order
	}{
		"equal rows": {
			rows: "(1, 1), (2, 1), (2, 2), (3, 1)",
		},
		"rows without a key": {
			rows:  "(1, 1), (NULL, 1), (NULL, 2)",
			order: []query.Order{{Field: 0, Desc: true}},
		},
	} {
		ids, err := pages(t, create+c.rows, other, c.order, 2)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.From(err).Message, want) {
			t.Errorf("%s: got the rows %v and the error %v, want a fault of kind %v: %s",
				name, ids, err, fault.Invalid, want)
		}
	}
}

// TestPagesOfSums reads pages in the order of a column of a view that has no type.
func TestPagesOfSums(t *testing.T) {
	const table = "CREATE TABLE Source (ID int, Other int); " +
		"INSERT INTO Source VALUES (1, 9), (2, 10), (3, 11), (4, -1); "
	for _, sum := range []string{"Other + 1", "CAST(Other + 1 AS numeric)"} {
		view := "CREATE VIEW T AS SELECT ID, " + sum + " AS Other FROM Source"
		decimal := record.Field{Name: "Other", Type: record.Decimal}
		ids, err := pages(t, table+view, decimal, []query.Order{{Field: 1}}, 2)
		if want := []int64{4, 1, 2, 3}; err != nil || !slices.Equal(ids, want) {
			t.Errorf("in the order of %s: got the rows %v (%v), want %v", sum, ids, err, want)
		}
	}
}

func TestPagesOfInfiniteNumbers(t *testing.T) {
	const table = "CREATE TABLE T (ID int, Size double); " +
		"INSERT INTO T VALUES (1, -9e999), (2, 9e999), (3, 5), (4, -5), (5, 9e999), (6, -9e999)"
	size := record.Field{Name: "Size", Type: record.Double}
	for desc, want := range map[bool][]int64{
		false: {1, 6, 4, 3, 2, 5},
		true:  {5, 2, 3, 4, 6, 1},
	} {
		ids, err := pages(t, table, size, []query.Order{{Field: 1, Desc: desc}}, 1)
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("in the order of Size, descending %v: got the rows %v (%v), want %v", desc, ids, err, want)
		}
	}
}
