package erp

import (
	"regexp"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// billStatement is a template of a statement on bills: ? is a parameter, <T> the
// table T, {C} the column C as text, ~ follows a comparison of ids, {now} is the time
// of the change, {top} and {limit} limit the number of rows.
type billStatement string

const (
	searchBills billStatement = "SELECT {m.RecID}, {s.RecID}, {f.RecID} AS FieldID," +
		" {f.SettingName} AS SettingName, {f.SY_Plugin_RecID}, {p.Name}, {v.RecID}, {v.Contents}" +
		" FROM (SELECT 1 AS One) AS x" +
		" LEFT JOIN <BM_Main> AS m ON m.RecID = ?~" +
		" LEFT JOIN <BM_Stages> AS s ON s.RecID = ?~ AND s.BM_Main_RecID = m.RecID~" +
		" LEFT JOIN <BM_StageCustomFields> AS f ON "
	joinValues = " LEFT JOIN <SY_Plugin> AS p ON p.RecID = f.SY_Plugin_RecID~" +
		" LEFT JOIN <BM_StageCustomValues> AS v" +
		" ON v.BM_Stages_RecID = s.RecID~ AND v.BM_StageCustomFields_RecID = f.RecID~ ORDER BY "
	whereField = " WHERE BM_Stages_RecID = ?~ AND BM_StageCustomFields_RecID = ?~"

	// findValue returns one row for a field, with NULL for missing parts. The parameters
	// are the ids of bill, stage and field. If the ERP's table has several rows of one
	// value, the newest is first.
	findValue = searchBills + "f.RecID = ?~" + joinValues + "v.LastSavedDateTime DESC"
	// findValues returns one row per field, or one row if the bill or stage is
	// missing. The parameters are the ids of bill and stage.
	findValues = searchBills + "1 = 1" + joinValues +
		"CASE WHEN f.DisplayOrder IS NULL THEN 1 ELSE 0 END, f.DisplayOrder, SettingName, FieldID," +
		" v.LastSavedDateTime DESC"
	// updateValue changes all rows of the value, in case the ERP's table has several.
	updateValue billStatement = "UPDATE <BM_StageCustomValues> SET Contents = ?, LastSavedDateTime = {now}" + whereField
	storedValue billStatement = "SELECT {Contents} FROM <BM_StageCustomValues>" + whereField +
		" ORDER BY LastSavedDateTime DESC"
	insertValue billStatement = "INSERT INTO <BM_StageCustomValues>" +
		" (RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents, LastSavedDateTime)" +
		" VALUES (?, ?, ?, ?, {now})"
	// lockStage needs no right but SELECT, and does not change the row's version as an
	// UPDATE would.
	lockStage billStatement = "SELECT {RecID} FROM <BM_Stages> WITH (UPDLOCK, HOLDLOCK, ROWLOCK) WHERE RecID = ?"
	someIDs   billStatement = "SELECT{top} {RecID} FROM <BM_StageCustomValues>{limit}"
	someBills billStatement = "SELECT{top} {RecID} FROM <BM_Main>{limit}"
)

// billDialect renders the statements on bills in the SQL of a database.
type billDialect struct {
	table   func(string) string // returns the quoted name
	param   string              // prefix of a parameter's number
	collate string              // suffix of a comparison of ids
	asText  [2]string           // prefix and suffix of a column that is read
	now     string              // current time; empty if the time is a parameter
	top     string              // row limit after SELECT
	limit   string              // row limit at the end
}

// fileBillDialect compares ids by our collation, even in tables that others created. All
// times are written from the daemon's clock.
func fileBillDialect(table func(string) string) billDialect {
	return billDialect{table: table, param: "?", collate: " COLLATE TSQL", limit: " LIMIT 10"}
}

// serverBillDialect writes the server's local time: it is also used by the ERP's
// programs and is common to all daemons.
func serverBillDialect(table func(string) string) billDialect {
	return billDialect{
		table:  table,
		param:  "@p",
		asText: [2]string{"CAST(", " AS nvarchar(max))"},
		now:    "SYSDATETIME()",
		top:    " TOP 10",
	}
}

var billTokens = regexp.MustCompile(`\{[^}]*\}|<[^>]*>|[?~]`)

// write returns a statement in SQL.
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

// changeTime returns the argument for {now}, none if the database provides the time.
func (d billDialect) changeTime(t time.Time) []billArg {
	if d.now != "" {
		return nil
	}
	return []billArg{valueArg("LastSavedDateTime", t.Format(wire.DateLayout))}
}

// billArg is an argument and the column that it is compared with or written to.
type billArg struct{ table, column, text string }

func billIDArg(id string) billArg  { return billArg{BillsTable, "RecID", id} }
func stageIDArg(id string) billArg { return billArg{StagesTable, "RecID", id} }
func fieldIDArg(id string) billArg { return billArg{FieldsTable, "RecID", id} }

func valueArg(column, text string) billArg { return billArg{ValuesTable, column, text} }
