package erp

import (
	"regexp"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// billStatement is a statement on bills as a template: ? is the next parameter,
// <T> the table T, {C} the column C as text, ~ follows a comparison of ids,
// {now} is the time of the change. {top} and {limit} are where a database bounds
// the rows.
type billStatement string

const (
	searchBills billStatement = "SELECT {m.RecID}, {s.RecID}, {f.RecID} AS FieldID, {f.SettingName} AS SettingName, {f.SY_Plugin_RecID}, {p.Name}, {v.RecID}, {v.Contents}" +
		" FROM (SELECT 1 AS One) AS x" +
		" LEFT JOIN <BM_Main> AS m ON m.RecID = ?~" +
		" LEFT JOIN <BM_Stages> AS s ON s.RecID = ?~ AND s.BM_Main_RecID = m.RecID~" +
		" LEFT JOIN <BM_StageCustomFields> AS f ON "
	joinValues = " LEFT JOIN <SY_Plugin> AS p ON p.RecID = f.SY_Plugin_RecID~" +
		" LEFT JOIN <BM_StageCustomValues> AS v ON v.BM_Stages_RecID = s.RecID~ AND v.BM_StageCustomFields_RecID = f.RecID~ ORDER BY "
	whereField = " WHERE BM_Stages_RecID = ?~ AND BM_StageCustomFields_RecID = ?~"

	// findValue gives one row about a place, whatever is missing of it: parameters
	// are the ids of bill, stage and field. Where the ERP's table has several rows of
	// one value, the newest is the first.
	findValue = searchBills + "f.RecID = ?~" + joinValues + "v.LastSavedDateTime DESC"
	// findValues gives a row for each field, or one about what is missing:
	// parameters are the ids of bill and stage.
	findValues = searchBills + "1 = 1" + joinValues +
		"CASE WHEN f.DisplayOrder IS NULL THEN 1 ELSE 0 END, f.DisplayOrder, SettingName, FieldID, v.LastSavedDateTime DESC"
	// updateValue changes all rows of the value, where the ERP's table has several.
	updateValue billStatement = "UPDATE <BM_StageCustomValues> SET Contents = ?, LastSavedDateTime = {now}" + whereField
	storedValue billStatement = "SELECT {Contents} FROM <BM_StageCustomValues>" + whereField + " ORDER BY LastSavedDateTime DESC"
	insertValue billStatement = "INSERT INTO <BM_StageCustomValues> (RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents, LastSavedDateTime) VALUES (?, ?, ?, ?, {now})"
	someIDs     billStatement = "SELECT{top} {RecID} FROM <BM_StageCustomValues>{limit}"
	someBills   billStatement = "SELECT{top} {RecID} FROM <BM_Main>{limit}"
)

// billDialect writes the statements on bills in a database's SQL.
type billDialect struct {
	table   func(string) string // quoted name
	param   string              // before a parameter's number
	collate string              // behind a comparison of ids
	asText  [2]string           // around a column that is read
	now     string              // the database's clock; empty where the time is a parameter
	top     string              // behind SELECT, some rows only
	limit   string              // at the end, the same
}

// fileBillDialect compares ids by the collation of our own columns also where the
// tables were made by others. One clock, the daemon's, writes all times.
func fileBillDialect(table func(string) string) billDialect {
	return billDialect{table: table, param: "?", collate: " COLLATE TSQL", limit: " LIMIT 10"}
}

// serverBillDialect takes the server's local time, which is what the ERP's own
// programs write, and the one clock that several daemons share.
func serverBillDialect(table func(string) string) billDialect {
	return billDialect{table: table, param: "@p", asText: [2]string{"CAST(", " AS nvarchar(max))"}, now: "SYSDATETIME()", top: " TOP 10"}
}

var billTokens = regexp.MustCompile(`\{[^}]*\}|<[^>]*>|[?~]`)

func (d billDialect) write(statement billStatement) string {
	params := 0
	return billTokens.ReplaceAllStringFunc(string(statement), func(token string) string {
		switch {
		case token == "~":
			return d.collate
		case token == "{top}":
			return d.top
		case token == "{limit}":
			return d.limit
		case token == "{now}" && d.now != "":
			return d.now
		case token == "?" || token == "{now}":
			params++
			return d.param + strconv.Itoa(params)
		case token[0] == '<':
			return d.table(token[1 : len(token)-1])
		}
		return d.asText[0] + token[1:len(token)-1] + d.asText[1]
	})
}

// saved is the argument of {now}, none where the database has the time.
func (d billDialect) saved(at time.Time) []billArg {
	if d.now != "" {
		return nil
	}
	return []billArg{inValues("LastSavedDateTime", at.Format(wire.DateLayout))}
}

// billArg is an argument, bound by the type of the column that it meets.
type billArg struct{ table, column, text string }

func atBill(id string) billArg  { return billArg{BillsTable, "RecID", id} }
func atStage(id string) billArg { return billArg{StagesTable, "RecID", id} }
func atField(id string) billArg { return billArg{FieldsTable, "RecID", id} }

func inValues(column, text string) billArg { return billArg{ValuesTable, column, text} }
