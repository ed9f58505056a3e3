package storage_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
)

// TestNullablePrimaryKey: SQLite lets a primary key be null. It is a key while no row has a
// null in it.
func TestNullablePrimaryKey(t *testing.T) {
	text := func(name string) record.Field {
		return record.Field{Name: name, Type: record.Text, Filter: record.TextFilter, Null: record.Nullable}
	}
	single := []string{"A"}
	pair := []string{"A", "B"}
	const pairs = "('a','1'),('a','2'),('b','1'),('b','2'),('c','1')"
	for _, c := range []struct {
		name     string
		declared []string // the key in the file of the kind, as whd kinds discover writes it
		table    string
		values   string
		wrong    string
		want     string
	}{
		{"single", nil, "A TEXT PRIMARY KEY, B TEXT", "('a','1'),('b','2'),('c','3'),('d','4'),('e','5')", "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"single, declared", single, "A TEXT PRIMARY KEY, B TEXT", "('a','1'),('b','2'),('c','3'),('d','4'),('e','5')", "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"pair", nil, "A TEXT, B TEXT, PRIMARY KEY (A, B)", pairs, "('b',NULL)", "null in column B of its primary key: (A = b, B = )"},
		{"pair, declared", pair, "A TEXT, B TEXT, PRIMARY KEY (A, B)", pairs, "('b',NULL)", "null in column B of its primary key: (A = b, B = )"},
		{"pair without its first", nil, "A TEXT, B TEXT, PRIMARY KEY (A, B)", pairs, "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"pair without its first, declared", pair, "A TEXT, B TEXT, PRIMARY KEY (A, B)", pairs, "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"only the second may be null", nil, "A TEXT NOT NULL, B TEXT, PRIMARY KEY (A, B)", pairs, "('b',NULL)", "null in column B of its primary key: (A = b, B = )"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			registry, err := record.NewRegistry(record.Kind{
				Name:   "Keyed",
				Table:  "T",
				Key:    c.declared,
				Fields: []record.Field{text("A"), text("B")},
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := storage.Open(t.Context(), storage.Config{
				Dir:         dir,
				Registry:    registry,
				Connections: 1,
				ERP:         erp.Config{Sources: map[string]string{"Keyed": "T"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			conn, err := sqlite.Open(filepath.Join(dir, storage.RecordsFile), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.Exec("CREATE TABLE T (" + c.table + "); INSERT INTO T VALUES " + c.values); err != nil {
				t.Fatal(err)
			}
			for _, desc := range []bool{false, true} {
				if rows, err := readPages(t, s, registry.Kinds()[0], desc); err != nil || len(rows) != 5 {
					t.Errorf("descending %v: %s, %v; want 5 rows", desc, rows, err)
				}
			}
			if err := conn.Exec("INSERT INTO T VALUES " + c.wrong); err != nil {
				t.Fatal(err)
			}
			for _, desc := range []bool{false, true} {
				rows, err := readPages(t, s, registry.Kinds()[0], desc)
				if f := fault.From(err); err == nil || f.Kind != fault.Invalid || !strings.Contains(f.Message, c.want) {
					t.Errorf("descending %v, with a null: %s, %v; want %s", desc, rows, err, c.want)
				}
			}
		})
	}
}

// TestDecimalKeyInTexts: the texts 9 and 9.00 are the same decimal, so that the primary key of
// texts proves nothing. The error has this reason, and not that there is no primary key.
func TestDecimalKeyInTexts(t *testing.T) {
	dir := t.TempDir()
	registry, err := record.NewRegistry(record.Kind{Name: "Keyed", Table: "T", Fields: []record.Field{
		{Name: "Amount", Type: record.Decimal, Filter: record.OrderedFilter},
		{Name: "B", Type: record.Text, Filter: record.TextFilter},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := storage.Open(t.Context(), storage.Config{
		Dir:         dir,
		Registry:    registry,
		Connections: 1,
		ERP:         erp.Config{Sources: map[string]string{"Keyed": "T"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := sqlite.Open(filepath.Join(dir, storage.RecordsFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Exec("CREATE TABLE T (Amount TEXT NOT NULL PRIMARY KEY, B TEXT); INSERT INTO T VALUES ('9', 'a'), ('9.00', 'b')")
	if err != nil {
		t.Fatal(err)
	}

	rows, err := readPages(t, s, registry.Kinds()[0], false)
	const want = "Cursor has no effect here: the index of the key of Keyed distinguishes the texts of Amount, such as 9 and 9.00, which are the same decimal. Declare the field as string or the column as TEXT_DECIMAL COLLATE DEC, or use Skip and Take"
	if got := fault.From(err).Message; got != want {
		t.Errorf("got %q and error %q, want error %q", rows, got, want)
	}
}

// readPages reads all pages of two rows.
func readPages(t *testing.T, s *storage.Store, kind *record.Kind, desc bool) (rows []string, err error) {
	t.Helper()
	for next := ""; ; {
		r := query.Request{Kind: kind, Take: 2, Cursor: &next, Order: []query.Order{{Field: 0, Desc: desc}}}
		if err := s.SetPlace(t.Context(), &r, nil); err != nil {
			return rows, err
		}
		plan, err := query.NewPlan(&r, false)
		if err != nil {
			return rows, err
		}
		result, err := s.Select(t.Context(), plan)
		if err != nil {
			return rows, err
		}
		defer result.Close()
		n := int64(0)
		for {
			cells, err := result.Next()
			if err != nil {
				return rows, err
			}
			if cells == nil {
				break
			}
			n++
			rows = append(rows, fmt.Sprintf("%s %s", cells[0].Text(record.Text), cells[1].Text(record.Text)))
		}
		tail, err := result.Tail(n)
		result.Close()
		if err != nil || tail.Next == "" {
			return rows, err
		}
		next = tail.Next
	}
}
