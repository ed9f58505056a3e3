package erptest

import (
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestEdgeRows checks that every field has every edge value of its type, and null if it is nullable.
func TestEdgeRows(t *testing.T) {
	for name, caps := range map[string]Capabilities{
		"file":   {},
		"server": {Scale: 19, NoNUL: true, Collation: true},
	} {
		t.Run(name, func(t *testing.T) {
			registry, err := record.NewRegistry(record.Kinds()...)
			if err != nil {
				t.Fatal(err)
			}
			s := &suite{values: caps.edges()}
			for _, kind := range registry.Kinds() {
				checkEdges(t, s, kind)
			}
		})
	}
}

// checkEdges checks the rows of a kind.
func checkEdges(t *testing.T, s *suite, kind *record.Kind) {
	t.Helper()
	rows := s.makeRows(kind)
	for i, f := range kind.Fields {
		stored := make(map[string]bool)
		hasNull := false
		for _, row := range rows {
			if row[i] == nil {
				hasNull = true
				continue
			}
			stored[operandText(row[i])] = true
		}
		if hasNull != bool(f.Null) {
			t.Errorf("%s.%s: has a null: %v, want %v", kind.Name, f.Name, hasNull, f.Null)
		}
		for _, value := range s.values[f.Type] {
			if !stored[operandText(value)] {
				t.Errorf("%s.%s: no row has the value %q", kind.Name, f.Name, operandText(value))
			}
		}
	}
}
