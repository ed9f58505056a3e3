package erp

import (
	"slices"
	"sync"

	"github.com/bizhook/whd/client/record"
)

// The ERP's tables of bills. Only ValuesTable is written.
const (
	BillsTable   = "BM_Main"
	StagesTable  = "BM_Stages"
	FieldsTable  = "BM_StageCustomFields"
	ValuesTable  = "BM_StageCustomValues"
	PluginsTable = "SY_Plugin"
)

// BillTables returns the tables of bills with their columns. They are not record kinds and
// cannot be queried, but are described like kinds so that the same code creates, seeds
// and checks them.
func BillTables() *record.Registry { return billTables() }

// billTable returns the description of a table of bills, nil if there is none.
func billTable(name string) *record.Kind {
	table, _ := BillTables().Lookup(name)
	return table
}

var billTables = sync.OnceValue(func() *record.Registry {
	r, err := record.NewRegistry(
		record.Kind{Name: BillsTable, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
		}},
		record.Kind{Name: StagesTable, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "BM_Main_RecID", Type: record.Text},
		}},
		record.Kind{Name: FieldsTable, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "SettingName", Type: record.Text, Null: record.Nullable},
			{Name: "SettingDescription", Type: record.Text, Null: record.Nullable},
			{Name: "CellType", Type: record.Int, Null: record.Nullable},
			{Name: "FieldParameter", Type: record.Text, Null: record.Nullable},
			{Name: "SY_Plugin_RecID", Type: record.Text, Null: record.Nullable},
			{Name: "LastSavedDateTime", Type: record.DateTime, Null: record.Nullable},
			{Name: "DisplayOrder", Type: record.Int, Null: record.Nullable},
		}},
		record.Kind{Name: ValuesTable, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "BM_Stages_RecID", Type: record.Text},
			{Name: "BM_StageCustomFields_RecID", Type: record.Text},
			{Name: "Contents", Type: record.Text, Null: record.Nullable},
			{Name: "LastSavedDateTime", Type: record.DateTime, Null: record.Nullable},
		}},
		record.Kind{Name: PluginsTable, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "Name", Type: record.Text, Null: record.Nullable},
		}},
	)
	if err != nil {
		panic("erp: " + err.Error()) // an error in this table, found by its test
	}
	return r
})

// unusedColumns are columns of FieldsTable that the service does not read. They are only
// created for demo records.
var unusedColumns = []string{"SettingDescription", "CellType", "FieldParameter", "LastSavedDateTime"}

// needsColumn reports whether the service uses a column of a table.
func needsColumn(table, column string) bool {
	return table != FieldsTable || !slices.Contains(unusedColumns, column)
}
