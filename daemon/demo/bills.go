package demo

import (
	"fmt"
	"time"
)

// stagesPerBill is the number of stages of a bill of materials.
const stagesPerBill = 4

// valuesPerStage is the number of custom field values of a stage, if it has any.
const valuesPerStage = 3

// billFields are the ids of the custom fields of bill stages.
var billFields = list{"BM_StageCustomFields", len(stageFields), guidID}

// billTables are the tables of custom fields of bill stages. They are not record kinds
// and cannot be queried.
var billTables = []table{
	{"BM_Main", bills.size, []field{
		{"RecID", key(recID)},
	}},
	{"BM_Stages", billStages.size, []field{
		{"RecID", key(recID)},
		{"BM_Main_RecID", func(r row) any { return bills.at(r.n / stagesPerBill) }},
	}},
	{"BM_StageCustomFields", len(stageFields), []field{
		{"RecID", key(guidID)},
		{"SettingName", func(r row) any { return stageFields[r.n].name }},
		{"SettingDescription", func(r row) any { return stageFields[r.n].description }},
		{"CellType", func(r row) any { return stageFields[r.n].cell }},
		{"FieldParameter", func(r row) any { return stageFields[r.n].parameter }},
		{"SY_Plugin_RecID", func(r row) any { return plugins.at(r.n / 2) }},
		{"LastSavedDateTime", saved},
		{"DisplayOrder", func(r row) any { return int64(10 * (len(stageFields) - r.n)) }},
	}},
	{"BM_StageCustomValues", billStages.size * 2 / 3 * valuesPerStage, []field{
		{"RecID", key(upperGUID)},
		{"BM_Stages_RecID", func(r row) any { return billStages.at(r.n / valuesPerStage) }},
		{"BM_StageCustomFields_RecID", func(r row) any { return billFields.at(valuedField(r)) }},
		{"Contents", func(r row) any { return stageFields[valuedField(r)].contents(r) }},
		{"LastSavedDateTime", saved},
	}},
	{"SY_Plugin", len(pluginNames), []field{
		{"RecID", key(guidID)},
		{"Name", func(r row) any { return pluginNames[r.n] }},
	}},
}

// pluginNames are the names of the plugins that define custom fields.
var pluginNames = [...]string{
	"Production Notes", "Quality Control", "Workshop Board", "Größentabellen",
	"Label Printing", "Cost Review",
}

// stageFields are the custom fields of bill stages, with example values.
var stageFields = [...]struct {
	definition
	contents maker
}{
	{
		definition{"Workstation", "Where the stage is done", 4, "Cutting;Sewing;Assembly;Packing"},
		oneOf([]string{"Cutting", "Sewing", "Assembly", "Packing"}),
	},
	{
		definition{"SetupMinutes", "Minutes to set up", 2, "0;480"},
		func(r row) any { return fmt.Sprint(5 * r.fieldRandom().IntN(25)) },
	},
	{
		definition{"Supervisor", "Who signs the stage off", 0, nil},
		oneOf(names),
	},
	{
		definition{"Instructions", "What to mind", 0, nil},
		optional(10, blank(10, phrase(inputNotes))),
	},
	{
		definition{"CheckedOn", "Last check of the stage", 3, "yyyy-MM-dd"},
		func(r row) any { return workday(r).Format(time.DateOnly) },
	},
	{
		definition{"OvenTemperature", "Temperature in °C", 2, "0;250"},
		func(r row) any { return fmt.Sprint(120 + 5*r.fieldRandom().IntN(20)) },
	},
	{
		definition{"Outsourced", "Done by somebody else?", 1, nil},
		oneOf([]string{"True", "False", "False"}),
	},
	{
		definition{"Nacharbeit", "Anteil der Nacharbeit in Prozent", 2, "0;100"},
		func(r row) any { return fmt.Sprintf("%d,%d", r.fieldRandom().IntN(9), r.n%10) },
	},
}

// valuedField returns the index of the field of a row of values: three different fields for
// each stage, starting with the first field for the first stage.
func valuedField(r row) int {
	stage := r.n / valuesPerStage
	nth := r.n % valuesPerStage
	return (stage + 3*nth) % len(stageFields)
}

// BillExample returns the ids of a custom field of a bill stage that has a value, for
// examples.
func BillExample() (billID, stageID, settingID string) {
	return bills.at(0), billStages.at(0), billFields.at(0)
}
