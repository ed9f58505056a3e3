package executor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// guidTable is a table with GUIDs in blobs as its key.
type guidTable struct {
	file *executor.File
	kind *record.Kind
	keys []string // in the order of their bytes
}

func newGuidTable(t *testing.T, form record.BlobForm) guidTable {
	t.Helper()
	pool, conn := newFile(t)
	err := conn.Exec("CREATE TABLE T (ID INTEGER, V UNIQUEIDENTIFIER NOT NULL PRIMARY KEY) WITHOUT ROWID")
	if err != nil {
		t.Fatal(err)
	}
	const rows = 40
	for i := range rows {
		// Both orders sort these blobs in another way than their texts.
		blob := fmt.Sprintf("x'%02x0000%02x00010002%016x'", i%7, i, i)
		err := conn.Exec(fmt.Sprintf("INSERT INTO T VALUES (%d, %s)", i, blob))
		if err != nil {
			t.Fatal(err)
		}
	}
	stored, err := executortest.StoredMixed(conn, "T", "V")
	if err != nil {
		t.Fatal(err)
	}
	executortest.UnpackGuids(stored, form)
	var keys []string
	err = conn.Query("SELECT ID FROM T ORDER BY V", func(s *sqlite.Stmt) error {
		keys = append(keys, stored[s.Int(0)].(string))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)

	kind := registered(t, record.Kind{Name: "T", Fields: []record.Field{
		{Name: "ID", Type: record.Long, Filter: record.OrderedFilter},
		{Name: "Held", Column: "V", Type: record.Guid, Filter: record.GuidFilter, Blob: form},
	}})
	file := executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	return guidTable{file: file, kind: kind, keys: keys}
}

// read returns the keys of the rows of a request, and the cursor of the next page.
func (g guidTable) read(t *testing.T, r query.Request) (keys []string, next string) {
	t.Helper()
	tail, err := eachRow(t, g.file, r, func(cells []row.Cell) {
		if cells[1].Misfit {
			t.Fatalf("the key %s is not read as a GUID", cells[1].Data)
		}
		keys = append(keys, string(cells[1].Data))
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys, tail.Next
}

// TestGuidBlobKeys checks that a key of GUIDs in blobs finds its row, and that pages by cursor have
// each row once in the order of the bytes.
func TestGuidBlobKeys(t *testing.T) {
	for _, form := range []record.BlobForm{record.BlobNet, record.BlobRFC} {
		t.Run(string(form), func(t *testing.T) {
			g := newGuidTable(t, form)
			for _, key := range g.keys {
				where := query.Condition{Field: 1, Operator: record.Equal, Operands: []wire.Value{{Text: key}}}
				got, _ := g.read(t, query.Request{Kind: g.kind, Take: query.NoTake, Where: []query.Condition{where}})
				if !slices.Equal(got, []string{key}) {
					t.Errorf("the rows with the key %s have the keys %q, want only that one", key, got)
				}
			}
			for _, desc := range []bool{false, true} {
				want := slices.Clone(g.keys)
				if desc {
					slices.Reverse(want)
				}
				got := g.pages(t, query.Order{Field: 1, Desc: desc})
				if !slices.Equal(got, want) {
					t.Errorf("pages by key, descending %v:\ngot  %q\nwant %q", desc, got, want)
				}
			}
		})
	}
}

// pages reads all rows in pages by cursor.
func (g guidTable) pages(t *testing.T, order query.Order) []string {
	t.Helper()
	key, err := executor.Key(t.Context(), g.file, g.kind)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	cursor := ""
	for len(keys) <= len(g.keys) {
		r := query.Request{Kind: g.kind, Order: []query.Order{order}, Take: 7, Cursor: &cursor}
		if err := setPlace(&r, key); err != nil {
			t.Fatal(err)
		}
		page, next := g.read(t, r)
		keys = append(keys, page...)
		if next == "" {
			break
		}
		cursor = next
	}
	return keys
}
