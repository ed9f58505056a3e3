package bill

import (
	"slices"

	"github.com/bizhook/whd/client/record"
)

// The tables of the ERP that a value hangs on. Only Values is written.
const (
	Bills   = "BM_Main"
	Stages  = "BM_Stages"
	Fields  = "BM_StageCustomFields"
	Values  = "BM_StageCustomValues"
	Plugins = "SY_Plugin"
)

// Tables lists the tables with their columns. They are no record kinds that
// anybody can query, but described as if they were, so that what makes, fills
// and checks the tables of kinds does so with these.
func Tables() *record.Registry {
	r, err := record.NewRegistry(
		record.Kind{Name: Bills, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
		}},
		record.Kind{Name: Stages, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "BM_Main_RecID", Type: record.Text},
		}},
		record.Kind{Name: Fields, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "SettingName", Type: record.Text, Null: record.Nullable},
			{Name: "SettingDescription", Type: record.Text, Null: record.Nullable},
			{Name: "CellType", Type: record.Int, Null: record.Nullable},
			{Name: "FieldParameter", Type: record.Text, Null: record.Nullable},
			{Name: "SY_Plugin_RecID", Type: record.Text, Null: record.Nullable},
			{Name: "LastSavedDateTime", Type: record.DateTime, Null: record.Nullable},
			{Name: "DisplayOrder", Type: record.Int, Null: record.Nullable},
		}},
		record.Kind{Name: Values, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "BM_Stages_RecID", Type: record.Text},
			{Name: "BM_StageCustomFields_RecID", Type: record.Text},
			{Name: "Contents", Type: record.Text, Null: record.Nullable},
			{Name: "LastSavedDateTime", Type: record.DateTime, Null: record.Nullable},
		}},
		record.Kind{Name: Plugins, Fields: []record.Field{
			{Name: "RecID", Type: record.Text},
			{Name: "Name", Type: record.Text, Null: record.Nullable},
		}},
	)
	if err != nil {
		panic("bill: " + err.Error()) // a mistake in this table, caught by its test
	}
	return r
}

// unused are the columns of Fields that are made for demo records, as an ERP
// has them, and that nothing here reads.
var unused = []string{"SettingDescription", "CellType", "FieldParameter", "LastSavedDateTime"}

// Needs reports whether the service works with a column of a table.
func Needs(table, column string) bool { return table != Fields || !slices.Contains(unused, column) }
