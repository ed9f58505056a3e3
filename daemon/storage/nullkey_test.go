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
	for _, c := range []struct {
		name, table, values, wrong, want string
	}{
		{"single", "A TEXT PRIMARY KEY, B TEXT", "('a','1'),('b','2'),('c','3'),('d','4'),('e','5')", "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"pair", "A TEXT, B TEXT, PRIMARY KEY (A, B)", "('a','1'),('a','2'),('b','1'),('b','2'),('c','1')", "('b',NULL)", "null in column B of its primary key: (A = b, B = )"},
		{"pair without its first", "A TEXT, B TEXT, PRIMARY KEY (A, B)", "('a','1'),('a','2'),('b','1'),('b','2'),('c','1')", "(NULL,'lost')", "null in column A of its primary key: (null, lost)"},
		{"only the second may be null", "A TEXT NOT NULL, B TEXT, PRIMARY KEY (A, B)", "('a','1'),('a','2'),('b','1'),('b','2'),('c','1')", "('b',NULL)", "null in column B of its primary key: (A = b, B = )"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			registry, err := record.NewRegistry(record.Kind{Name: "Keyed", Table: "T", Fields: []record.Field{text("A"), text("B")}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: registry, Connections: 1, ERP: erp.Config{Sources: map[string]string{"Keyed": "T"}}})
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
