package query

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
)

// TestMask checks that every statement of a plan reads the masked table, and compares with its values.
func TestMask(t *testing.T) {
	kind := &record.Kind{Name: "Note", Fields: []record.Field{
		{Name: "NoteID", Type: record.Text, Filter: record.Text.Filter()},
		{Name: "Text", Type: record.Text, Filter: record.Text.Filter()},
	}}
	equals := func(field int, value string) []Condition {
		return []Condition{{Field: field, Operator: record.Equal, Operands: []wire.Value{{Text: value}}}}
	}
	rows := Plan{
		Kind:       kind,
		Columns:    []int{1},
		Where:      equals(1, "x"),
		Take:       NoTake,
		Aggregates: []Aggregate{{Function: Max, Field: 1}},
		Mask:       &Mask{Field: 1, Where: equals(0, "hidden")},
	}
	distinct := rows
	distinct.Distinct = true
	grouped := rows
	grouped.Group = &Group{Source: kind, Field: 1}

	for _, tt := range []struct {
		d     *dialect.Dialect
		table string
	}{
		{dialect.SQLite(), `FROM (SELECT "NoteID", CASE WHEN "NoteID" = ?1 THEN '' ELSE "Text" END COLLATE TSQL AS "Text" FROM T) AS masked WHERE "Text" = ?2`},
		{dialect.TSQL(), `FROM (SELECT [NoteID], CASE WHEN [NoteID] = @p1 THEN '' ELSE [Text] END AS [Text] FROM T) AS masked WHERE [Text] = @p2`},
	} {
		for name, compile := range map[string]func() (Statement, error){
			"rows":            func() (Statement, error) { return Compile(&rows, tt.d, "T") },
			"total":           func() (Statement, error) { return CompileCount(&rows, tt.d, "T") },
			"distinct total":  func() (Statement, error) { return CompileCount(&distinct, tt.d, "T") },
			"aggregates":      func() (Statement, error) { return CompileAggregates(&rows, tt.d, "T") },
			"groups":          func() (Statement, error) { return Compile(&grouped, tt.d, "T") },
			"total of groups": func() (Statement, error) { return CompileCount(&grouped, tt.d, "T") },
		} {
			st, err := compile()
			if err != nil || !strings.Contains(st.SQL, tt.table) {
				t.Errorf("the statement for %s is %s (%v), want %s", name, st.SQL, err, tt.table)
			}
		}
	}
}
