package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/erp"
)

// billColumn returns all values of a column of one of the bill tables.
func billColumn(t *testing.T, name, column string) []any {
	t.Helper()
	table, _ := erp.BillTables().Lookup(name)
	i, ok := table.Column(column)
	if !ok {
		t.Fatalf("%s has no column %s", name, column)
	}
	var values []any
	for cells := range Rows(table) {
		values = append(values, cells[i])
	}
	return values
}

// TestBillTables checks that the rows match the table definitions and can be stored and
// found.
func TestBillTables(t *testing.T) {
	if got, want := len(billTables), len(erp.BillTables().Kinds()); got != want {
		t.Errorf("%d tables, want %d", got, want)
	}
	for _, table := range erp.BillTables().Kinds() {
		var names []string
		for _, f := range find(table.Name).fields {
			names = append(names, f.name)
		}
		if !slices.Equal(names, table.FieldNames()) {
			t.Errorf("%s has the columns %s, want %s", table.Name, names, table.FieldNames())
		}
		seen := make(map[string]bool)
		for cells := range Rows(table) {
			id := strings.ToUpper(fmt.Sprint(cells[0]))
			if seen[id] || id == "" {
				t.Fatalf("%s: %v is duplicated or missing", table.Name, cells[0])
			}
			seen[id] = true
			for i, f := range table.Fields {
				if err := checkValue(f, cells[i]); err != nil {
					t.Fatalf("%s.%s: %v", table.Name, f.Name, err)
				}
			}
		}
	}
}

// TestBillReferences checks all foreign keys, including those from record kinds to bills.
func TestBillReferences(t *testing.T) {
	for _, c := range []struct {
		from  string
		ids   []any
		table string
	}{
		{"BM_Stages", billColumn(t, erp.StagesTable, "BM_Main_RecID"), erp.BillsTable},
		{"BM_StageCustomFields", billColumn(t, erp.FieldsTable, "SY_Plugin_RecID"), erp.PluginsTable},
		{"BM_StageCustomValues", billColumn(t, erp.ValuesTable, "BM_Stages_RecID"), erp.StagesTable},
		{"BM_StageCustomValues", billColumn(t, erp.ValuesTable, "BM_StageCustomFields_RecID"), erp.FieldsTable},
		{"BM_Inputs", column(t, "BM_Inputs", "BM_Stages_RecID"), erp.StagesTable},
		{"BM_Inputs", column(t, "BM_Inputs", "SubAssembly"), erp.BillsTable},
		{"BM_InputCustomFields", column(t, "BM_InputCustomFields", "SY_Plugin_RecID"), erp.PluginsTable},
	} {
		ids := make(map[any]bool)
		for _, id := range billColumn(t, c.table, "RecID") {
			ids[id] = true
		}
		for _, id := range c.ids {
			if id != nil && id != "" && !ids[id] {
				t.Fatalf("%s refers to %v, which is not in %s", c.from, id, c.table)
			}
		}
	}
}

// TestBillValuesUnique checks that a stage has at most one value of a field.
func TestBillValuesUnique(t *testing.T) {
	stages := billColumn(t, erp.ValuesTable, "BM_Stages_RecID")
	fields := billColumn(t, erp.ValuesTable, "BM_StageCustomFields_RecID")
	seen := make(map[string]bool)
	for i := range stages {
		place := fmt.Sprint(stages[i], fields[i])
		if seen[place] {
			t.Fatalf("row %d has the same stage and field as another", i)
		}
		seen[place] = true
	}
	billID, stageID, settingID := BillExample()
	if !seen[stageID+settingID] {
		t.Errorf("the stage %s of the example has no value of %s", stageID, settingID)
	}
	if got := billColumn(t, erp.StagesTable, "BM_Main_RecID")[0]; got != billID {
		t.Errorf("the stage of the example belongs to %v, want %s", got, billID)
	}
}

// TestBillRowsGolden compares sample rows with a golden file.
func TestBillRowsGolden(t *testing.T) {
	var got strings.Builder
	for _, table := range erp.BillTables().Kinds() {
		fmt.Fprintf(&got, "== %s %d\n%s\n",
			table.Name, Count(table.Name), strings.Join(table.FieldNames(), " "))
		n := 0
		for cells := range Rows(table) {
			n++
			if n <= 8 {
				got.WriteString(formatRow(cells))
			}
		}
	}
	golden(t, "bills.golden", got.String())
}
