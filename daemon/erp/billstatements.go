package erp

import (
	"strings"
)

// billWords writes the statements on bills in a database's SQL.
type billWords struct {
	table   func(string) string // quoted name of one of package bill
	param   string              // before a parameter's number
	collate string              // behind a comparison of ids
	asText  [2]string           // around a column that is read
	now     string              // the database's clock; empty where the time is a parameter
	top     string              // behind SELECT, some rows only
	limit   string              // at the end, the same
}

// sqliteBillWords compares ids by the collation of our own columns also where
// the tables are somebody else's. One clock, the daemon's, writes all times.
func sqliteBillWords(table func(string) string) billWords {
	return billWords{table: table, param: "?", collate: " COLLATE TSQL", limit: " LIMIT 10"}
}

// mssqlBillWords takes the server's local time, which is what the ERP's own
// programs write, and the one clock that several daemons share.
func mssqlBillWords(table func(string) string) billWords {
	return billWords{table: table, param: "@p", asText: [2]string{"CAST(", " AS nvarchar(max))"}, now: "SYSDATETIME()", top: " TOP 10"}
}

// text reads a column of any type as text.
func (w billWords) text(column string) string { return w.asText[0] + column + w.asText[1] }

func (w billWords) p(n string) string { return w.param + n }

// equal compares ids.
func (w billWords) equal(a, b string) string { return a + " = " + b + w.collate }

// find is one row about a place, whatever is missing of it: parameters are the
// ids of bill, stage and field. Where the ERP's table has several rows of one
// value, the newest is the first.
func (w billWords) find() string {
	return w.search(w.equal("f.RecID", w.p("3"))) + " ORDER BY v.LastSavedDateTime DESC"
}

// findAll is a row for each field, or one about what is missing: parameters are
// the ids of bill and stage.
func (w billWords) findAll() string {
	return w.search("1 = 1") + " ORDER BY CASE WHEN f.DisplayOrder IS NULL THEN 1 ELSE 0 END, f.DisplayOrder, SettingName, FieldID, v.LastSavedDateTime DESC"
}

func (w billWords) search(field string) string {
	columns := []string{w.text("m.RecID"), w.text("s.RecID"), w.text("f.RecID") + " AS FieldID", w.text("f.SettingName") + " AS SettingName",
		w.text("f.SY_Plugin_RecID"), w.text("p.Name"), w.text("v.RecID"), w.text("v.Contents")}
	return "SELECT " + strings.Join(columns, ", ") + " FROM (SELECT 1 AS One) AS x" +
		" LEFT JOIN " + w.table(BillsTable) + " AS m ON " + w.equal("m.RecID", w.p("1")) +
		" LEFT JOIN " + w.table(StagesTable) + " AS s ON " + w.equal("s.RecID", w.p("2")) + " AND " + w.equal("s.BM_Main_RecID", "m.RecID") +
		" LEFT JOIN " + w.table(FieldsTable) + " AS f ON " + field +
		" LEFT JOIN " + w.table(PluginsTable) + " AS p ON " + w.equal("p.RecID", "f.SY_Plugin_RecID") +
		" LEFT JOIN " + w.table(ValuesTable) + " AS v ON " + w.equal("v.BM_Stages_RecID", "s.RecID") + " AND " + w.equal("v.BM_StageCustomFields_RecID", "f.RecID")
}

// update has the parameters contents, the time if it is one, stage and field.
// Where the ERP's table has several rows of the value, it changes all of them.
func (w billWords) update() string {
	stage, field := "2", "3"
	saved := w.now
	if saved == "" {
		saved, stage, field = w.p("2"), "3", "4"
	}
	return "UPDATE " + w.table(ValuesTable) + " SET Contents = " + w.p("1") + ", LastSavedDateTime = " + saved + w.where(stage, field)
}

// stored reads a value: parameters are the ids of stage and field.
func (w billWords) stored() string {
	return "SELECT " + w.text("Contents") + " FROM " + w.table(ValuesTable) + w.where("1", "2") + " ORDER BY LastSavedDateTime DESC"
}

func (w billWords) where(stage, field string) string {
	return " WHERE " + w.equal("BM_Stages_RecID", w.p(stage)) + " AND " + w.equal("BM_StageCustomFields_RecID", w.p(field))
}

// someIDs reads the ids of a few values, whichever, and someBills those of bills.
func (w billWords) someIDs() string { return w.some(ValuesTable) }

func (w billWords) someBills() string { return w.some(BillsTable) }

func (w billWords) some(table string) string {
	return "SELECT" + w.top + " " + w.text("RecID") + " FROM " + w.table(table) + w.limit
}

// insert has the parameters id, stage, field, contents, and the time if it is
// one.
func (w billWords) insert() string {
	saved := w.now
	if saved == "" {
		saved = w.p("5")
	}
	return "INSERT INTO " + w.table(ValuesTable) + " (RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents, LastSavedDateTime) VALUES (" +
		strings.Join([]string{w.p("1"), w.p("2"), w.p("3"), w.p("4"), saved}, ", ") + ")"
}
