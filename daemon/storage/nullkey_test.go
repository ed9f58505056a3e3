package storage_test

import (
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

// TestNullablePrimaryKey reads pages by a primary key that may be null, as SQLite lets it. It
// is a key while no row has a null in it.
func TestNullablePrimaryKey(t *testing.T) {
	const (
		singleKey = "A TEXT PRIMARY KEY, B TEXT"
		pairKey   = "A TEXT, B TEXT, PRIMARY KEY (A, B)"
		firstSet  = "A TEXT NOT NULL, B TEXT, PRIMARY KEY (A, B)"

		singles = "('a','1'),('b','2'),('c','3'),('d','4'),('e','5')"
		pairs   = "('a','1'),('a','2'),('b','1'),('b','2'),('c','1')"

		noteFirst = "B TEXT, A TEXT PRIMARY KEY"

		nullInA = "(NULL,'lost')"
		nullInB = "('b',NULL)"
		wantA   = "null in column A of its primary key: (null, lost)"
		wantB   = "null in column B of its primary key: (A = b, B = )"
	)
	nullAfterNote := "('x" + strings.Repeat("é", 150) + "',NULL)"
	wantNote := "null in column A of its primary key: (x" + strings.Repeat("é", 99) + "...)"
	for _, c := range []struct {
		name     string
		declared []string // the key in the file of the kind, as whd kinds discover writes it
		table    string   // columns of the table
		rows     string   // five rows without a null
		nullRow  string   // a row with a null in the key
		want     string   // error with this row
	}{
		{"single", nil, singleKey, singles, nullInA, wantA},
		{"single, declared", []string{"A"}, singleKey, singles, nullInA, wantA},
		{"pair", nil, pairKey, pairs, nullInB, wantB},
		{"pair, declared", []string{"A", "B"}, pairKey, pairs, nullInB, wantB},
		{"pair without its first", nil, pairKey, pairs, nullInA, wantA},
		{"pair without its first, declared", []string{"A", "B"}, pairKey, pairs, nullInA, wantA},
		{"only the second may be null", nil, firstSet, pairs, nullInB, wantB},
		{"long first value", nil, noteFirst, singles, nullAfterNote, wantNote},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := func(name string) record.Field {
				return record.Field{
					Name:   name,
					Type:   record.Text,
					Filter: record.TextFilter,
					Null:   record.Nullable,
				}
			}
			store, kind, conn := openKeyed(t, record.Kind{
				Key:    c.declared,
				Fields: []record.Field{text("A"), text("B")},
			})
			err := conn.Exec("CREATE TABLE T (" + c.table + "); INSERT INTO T VALUES " + c.rows)
			if err != nil {
				t.Fatal(err)
			}
			for _, isDescending := range []bool{false, true} {
				rows, err := readPages(t, store, kind, isDescending)
				if err != nil || len(rows) != 5 {
					t.Errorf("descending %v: got rows %s (%v), want 5", isDescending, rows, err)
				}
			}

			if err := conn.Exec("INSERT INTO T VALUES " + c.nullRow); err != nil {
				t.Fatal(err)
			}
			for _, isDescending := range []bool{false, true} {
				rows, err := readPages(t, store, kind, isDescending)
				if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.From(err).Message, c.want) {
					t.Errorf("descending %v, with a null: got rows %s and error %v, want error %q",
						isDescending, rows, err, c.want)
				}
			}
		})
	}
}

// TestDecimalKeyInTexts reads pages by a primary key of texts that are decimals: 9 and 9.00
// are the same decimal, so that the key proves nothing. The error has this reason, and not
// that there is no primary key.
func TestDecimalKeyInTexts(t *testing.T) {
	store, kind, conn := openKeyed(t, record.Kind{Fields: []record.Field{
		{Name: "Amount", Type: record.Decimal, Filter: record.OrderedFilter},
		{Name: "B", Type: record.Text, Filter: record.TextFilter},
	}})
	err := conn.Exec("CREATE TABLE T (Amount TEXT NOT NULL PRIMARY KEY, B TEXT);" +
		" INSERT INTO T VALUES ('9', 'a'), ('9.00', 'b')")
	if err != nil {
		t.Fatal(err)
	}

	rows, err := readPages(t, store, kind, false)
	const want = "Cursor has no effect here: the index of the key of Keyed distinguishes the texts" +
		" of Amount, such as 9 and 9.00, which are the same decimal. Declare the field as string" +
		" or the column as TEXT_DECIMAL COLLATE DEC, or use Skip and Take"
	if got := fault.From(err).Message; got != want {
		t.Errorf("got rows %q and error %q, want error %q", rows, got, want)
	}
}

// openKeyed opens a store with one kind, which becomes Keyed in the table T, and a connection
// to the file of its records.
func openKeyed(t *testing.T, k record.Kind) (*storage.Store, *record.Kind, *sqlite.Conn) {
	t.Helper()
	k.Name = "Keyed"
	k.Table = "T"
	registry, err := record.NewRegistry(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := storage.Open(t.Context(), storage.Config{
		Dir:         dir,
		Registry:    registry,
		Connections: 1,
		ERP:         erp.Config{Sources: map[string]string{"Keyed": "T"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	conn, err := sqlite.Open(filepath.Join(dir, storage.RecordsFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return store, registry.Kinds()[0], conn
}

// readPages reads all pages of two rows, by cursors.
func readPages(
	t *testing.T, s *storage.Store, kind *record.Kind, isDescending bool,
) (rows []string, err error) {
	t.Helper()
	cursor := ""
	for {
		page, next, err := readPage(t, s, &query.Request{
			Kind:   kind,
			Take:   2,
			Cursor: &cursor,
			Order:  []query.Order{{Field: 0, Desc: isDescending}},
		})
		rows = append(rows, page...)
		if err != nil || next == "" {
			return rows, err
		}
		cursor = next
	}
}

// readPage returns the rows of a request, and the cursor of the next page.
func readPage(t *testing.T, s *storage.Store, r *query.Request) (rows []string, next string, err error) {
	t.Helper()
	if err := s.SetPlace(t.Context(), r, nil); err != nil {
		return nil, "", err
	}
	plan, err := query.NewPlan(r, false)
	if err != nil {
		return nil, "", err
	}
	result, err := s.Select(t.Context(), plan)
	if err != nil {
		return nil, "", err
	}
	defer result.Close()
	for {
		cells, err := result.Next()
		if err != nil {
			return rows, "", err
		}
		if cells == nil {
			break
		}
		rows = append(rows, cells[0].Text(record.Text)+" "+cells[1].Text(record.Text))
	}
	tail, err := result.Tail(int64(len(rows)))
	return rows, tail.Next, err
}
