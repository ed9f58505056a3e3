package erptest

import "github.com/bizhook/whd/daemon/erp"

const billTime = "2019-05-01T10:11:12.1230000"

// billRows are the rows of the tables: a bill with two stages, a bill with one stage, and
// three fields, one without a plugin. billValues are the values of the first stage.
var billRows = map[string][][]any{
	erp.BillsTable:   {{"BILL-1"}, {"BILL-2"}},
	erp.StagesTable:  {{"Stage a", "BILL-1"}, {"Stage b", "BILL-1"}, {"Stage c", "bill-2  "}},
	erp.PluginsTable: {{"PLUGIN-1", "Quality"}, {"PLUGIN-2", "Größe"}},
	erp.FieldsTable: {
		{"FIELD-1", "Colour", nil, int64(0), nil, "plugin-1 ", billTime, int64(20)},
		{"FIELD-2", "Weight", nil, int64(2), nil, "PLUGIN-2", billTime, int64(10)},
		{"FIELD-3", nil, nil, nil, nil, nil, billTime, nil},
	},
}

var billValues = [][]any{
	{"6F9619FF-8B86-4011-B42D-00C04FC964FF", "STAGE A", "FIELD-1", "red", billTime},
	{"0E984725-C51C-4BF4-9960-E1C80E27ABA0", "Stage a", "FIELD-3", nil, billTime},
}

// duplicateRows are three rows of one value, which the ERP should not have.
var duplicateRows = [][]any{
	{"6F9619FF-8B86-4011-B42D-00C04FC964FF", "Stage a", "FIELD-1", "older", "2019-05-01T10:11:12.0000000"},
	{"0E984725-C51C-4BF4-9960-E1C80E27ABA0", "Stage a", "FIELD-1", "newest", "2021-05-01T10:11:12.0000000"},
	{"29C7A2C5-0B0F-4C0E-93E7-0D8B1B6C7B11", "Stage a", "FIELD-1", "newer", "2020-05-01T10:11:12.0000000"},
}

// otherNotation are rows with ids that are not in the default notation; the first is not a GUID.
var otherNotation = [][]any{
	{"MIGRATED000000000001", "Stage a", "FIELD-1", "red", billTime},
	{"{6f9619ff-8b86-4011-b42d-00c04fc964ff}", "Stage a", "FIELD-3", "x", billTime},
}
