package executor_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
)

// TestFactsFollowSchema checks that the key, the indexed columns and the types of columns are those
// of the present schema, whichever connection has changed it.
func TestFactsFollowSchema(t *testing.T) {
	file := fileOf(t, "")
	kind := registered(t, record.Kind{Name: "T", Fields: []record.Field{
		{Name: "A", Type: record.Int},
		{Name: "B", Type: record.Decimal},
	}})

	for _, step := range []struct {
		sql      string
		key      []int
		leads    bool // an index starts with A
		affinity string
	}{
		{"CREATE TABLE T (A int NOT NULL, B text)", nil, false, "text"},
		{"CREATE UNIQUE INDEX U ON T (A)", []int{0}, true, "text"},
		{"DROP INDEX U", nil, false, "text"},
		{"CREATE INDEX I ON T (A)", nil, true, "text"},
		{"ALTER TABLE T DROP COLUMN B", nil, true, ""},
		{"ALTER TABLE T ADD COLUMN B numeric", nil, true, "numeric"},
		{"ALTER TABLE T RENAME TO Other", nil, false, ""},
	} {
		conn, err := file.Pool.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Exec(step.sql)
		file.Pool.Put(conn)
		if err != nil {
			t.Fatalf("%s: %v", step.sql, err)
		}

		// The second time, the facts are those that the first one has read.
		for range 2 {
			key, err := executor.Key(t.Context(), file, kind)
			if err != nil || !slices.Equal(key, step.key) {
				t.Errorf("after %s the key is %v (%v), want %v", step.sql, key, err, step.key)
			}
			leads, err := executor.Leads(t.Context(), file, kind, 0)
			if err != nil || leads != step.leads {
				t.Errorf("after %s an index starts with A: %v (%v), want %v", step.sql, leads, err, step.leads)
			}
			columns, err := executor.ColumnsOf(t.Context(), file, kind)
			if err != nil || columns[1].Affinity != step.affinity {
				t.Errorf("after %s the columns are %+v (%v), want B with affinity %q", step.sql, columns, err, step.affinity)
			}
		}
	}
}
