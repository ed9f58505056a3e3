package rest_test

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// TestWorkbooks requests a workbook in each way, and from each kind of route.
// TestExportsReadBack compares the values of all record kinds.
func TestWorkbooks(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := asAdmin(t, i)
	c.do("POST /Users", `{"UserName":"Ann","DisplayName":"00120","Role":"reader","Password":"`+annPassword+`"}`).want(t, 201)
	c.do("POST /Webhooks/Subscribers", `{"Name":"=1+1"}`).want(t, 201)
	for _, test := range []struct {
		path, headers, file, column, value string
	}{
		{"/Queries/DB_Class.xlsx?Take=1", "", "DB_ClassQuery", "Class", ""},
		{"/Queries/DB_Class?Take=1&format=xlsx", "", "DB_ClassQuery", "Class", ""},
		{"/Queries/DB_Class?Take=1", "Accept: " + xlsxType, "DB_ClassQuery", "Class", ""},
		{"/json/reply/DB_ClassQuery?Take=1&format=XLSX", "", "DB_ClassQuery", "Class", ""},
		{"/Queries/WH_Audit.xlsx?Take=1&ActionStartsWith=user", "", "WH_AuditQuery", "Action", "user add"},
		{"/Webhooks/Subscribers.xlsx", "", "SubscriberQuery", "Name", "=1+1"},
		{"/Webhooks/Messages.xlsx", "", "MessageQuery", "", ""},
		{"/Logs.xlsx?Take=1&HttpMethod=POST", "", "QueryRequestLogsGETManyRequest", "HttpMethod", "POST"},
		{"/Users.xlsx", "", "", "DisplayName", "00120"},
	} {
		var headers []string
		if test.headers != "" {
			headers = []string{test.headers}
		}
		a := c.do("GET "+test.path, "", append(headers, "Want-Digest: sha-256",
			"Accept-Encoding: gzip")...).want(t, 200)
		a.wantHeader(t, "Content-Type", xlsxType).wantHeader(t, "Content-Encoding", "")
		if test.file != "" {
			a.wantHeader(t, "Content-Disposition", "attachment; filename="+test.file+".xlsx").
				wantHeader(t, "X-Offset", "0").
				wantHeader(t, "X-Digest", digestOf(a.body))
		}
		rows, err := encodetest.Rows("xlsx", []byte(a.body), nil)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		if test.column == "" {
			continue
		}
		if len(rows) == 0 {
			t.Errorf("%s has no rows, want the column %s", test.path, test.column)
			continue
		}
		got := rows[len(rows)-1][test.column]
		if test.value != "" && got != test.value {
			t.Errorf("%s: %s of the last row is %q, want %q", test.path, test.column, got, test.value)
		}
	}

	for path, status := range map[string]int{
		"/Queries/DB_Class.xlsx?Take=x": 400,
		"/xlsx/reply/DB_ClassQuery":     404,
		"/Queries/Nothing.xlsx":         404,
	} {
		c.do("GET "+path, "").want(t, status).wantHeader(t, "Content-Type", "application/json; charset=utf-8").
			wantHeader(t, "Content-Disposition", "")
	}

	c.do("HEAD /Queries/DB_Class.xlsx", "").want(t, 200).wantHeader(t, "Content-Type", xlsxType)
}

// TestWorkbookLimits: a result that does not fit is an error, or is aborted if its size
// was not known before the first byte.
func TestWorkbookLimits(t *testing.T) {
	c := asAdmin(t, startWithView(t, "DB_Class", "SELECT %s FROM numbers LIMIT 1048576"))
	a := c.do("GET /Queries/DB_Class.xlsx", "").want(t, 400).
		wantHeader(t, "Content-Type", "application/json; charset=utf-8")
	a.wantMessage(t, "1048576 rows match, but a sheet of a workbook holds at most 1048575")
	a, err := c.try("GET /Queries/DB_Class.xlsx?Include=NoTotal", "")
	if a.status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("status %d, %v, want an aborted response", a.status, err)
	}
	a = c.do("GET /Queries/DB_Class.xlsx?Skip=1&Include=NoTotal", "", "Want-Digest: sha-256").want(t, 200)
	trailer := a.http.Trailer
	if trailer.Get("X-Row-Count") != "1048575" || trailer.Get("X-Digest") != digestOf(a.body) {
		t.Errorf("trailers %v", trailer)
	}
	c = asAdmin(t, startWithView(t, "DB_Class",
		"SELECT replace(hex(zeroblob(16384)), '0', 'x') AS Class /* %s */ FROM numbers LIMIT 1"))
	c.do("GET /Queries/DB_Class.xlsx", "").want(t, 400).
		wantMessage(t, "row 1 does not fit into a workbook: a cell holds at most 32767 characters")
}

// TestWorkbookLimitOnPages checks the note on a page of more rows than a workbook holds, and that the
// link to a workbook leads to a page that offers CSV.
func TestWorkbookLimitOnPages(t *testing.T) {
	c := signIn(t, startWithView(t, "DB_Class", "SELECT %s FROM numbers LIMIT 1048576"))
	page := c.do("GET /Queries/DB_Class?Take=5&Include=Total", "").want(t, 200).
		wantText(t, "Rows 1 to 5 of 1,048,576.", "All 1,048,576 rows", "more rows than a workbook (XLSX) holds")
	c.do("GET /Queries/DB_Class?Take=5&Include=NoTotal", "").want(t, 200).
		wantText(t, "If these are more than 1,048,575 rows")
	all, _ := page.exports(t, "XLSX")
	for _, path := range []string{all, "/Queries/DB_Class.XLSX", "/Queries/DB_Class%2Exlsx?include=Total",
		"/Queries/DB_Class.xlsx?%C4%B0nclude=Total"} {
		refused := c.do("GET "+path, "").want(t, 400).wantText(t, "1048576 rows match")
		if to := refused.link(t, "Export as CSV"); to != "/Queries/DB_Class?format=csv" {
			t.Errorf("the link to CSV of %s leads to %s", path, to)
		}
	}
	c = signIn(t, startWithView(t, "DB_Class",
		"SELECT replace(hex(zeroblob(16384)), '0', 'x') AS Class /* %s */ FROM numbers LIMIT 1"))
	refused := c.do("GET /Queries/DB_Class.xlsx", "").want(t, 400).wantText(t, "a cell holds at most 32767 characters")
	if to := refused.link(t, "Export as CSV"); to != "/Queries/DB_Class?format=csv" {
		t.Errorf("the link to CSV instead of a long cell leads to %s", to)
	}
}

// TestEscapedSuffix checks that the links to other formats have no suffix, also if the address has it
// in escaped form.
func TestEscapedSuffix(t *testing.T) {
	c := signIn(t, demo.start(t))
	for _, suffix := range []string{".html", ".HTML", "%2Ehtml", ".%68tml"} {
		page := c.do("GET /Queries/DB_Class"+suffix+"?Take=1", "").want(t, 200)
		all, _ := page.exports(t, "CSV")
		if want := "/Queries/DB_Class?format=csv"; all != want {
			t.Errorf("DB_Class%s: all rows as CSV are at %s, want %s", suffix, all, want)
		}
	}
}

// formulas is a view with texts and numbers that spreadsheets may change.
const formulas = `SELECT '00120' AS RecID, '=1+"1"' AS JB_JobStages_RecID, '+1' AS JB_Resources_RecID, '2019-05-01T10:11:12.1230000' AS TransactionDate,
	'-12.50' AS Quantity, '922337203685477.5807' AS UnitCost, '0.0001' AS UnitCharge, '@é 😀' AS Remark, '1753-01-01T00:00:00.0000000' AS LastSavedDateTime,
	char(9) || 'a' AS HR_Staff_RecID, NULL AS RowHash, '-' AS Units, 'a-b=c' AS JB_EstimateLines_RecID /* %s */ FROM numbers LIMIT 1`

// TestCSVForSpreadsheets checks the byte order mark and the guard against formulas.
func TestCSVForSpreadsheets(t *testing.T) {
	const kind = "JB_EstimateResourceLines"
	k, _ := record.Builtin().Lookup(kind)
	names := strings.Join(k.FieldNames(), ",") + "\r\n"
	const plain = `00120,"=1+""1""",+1,2019-05-01T10:11:12.1230000,-12.50,922337203685477.5807,0.0001,@é 😀,1753-01-01T00:00:00.0000000,` + "\ta,,-,a-b=c\r\n"
	const guarded = `00120,"'=1+""1""",'+1,2019-05-01T10:11:12.1230000,-12.50,922337203685477.5807,0.0001,'@é 😀,1753-01-01T00:00:00.0000000,` + "'\ta,,'-,a-b=c\r\n"
	for want, args := range map[string][]string{plain: nil, guarded: {"--csv-formula-guard"}} {
		c := asAdmin(t, startWithView(t, kind, formulas, args...))
		for request, mark := range map[string]string{
			"GET /Queries/" + kind + ".csv":                          "",
			"GET /Queries/" + kind + ".csv?bom=true":                 "\ufeff",
			"GET /Queries/" + kind + ".csv?BOM=1&Strict=true":        "\ufeff",
			"GET /Queries/" + kind + ".csv?bom=false":                "",
			"POST /csv/reply/" + kind + `Query {"Bom":true}`:         "\ufeff",
			"POST /csv/reply/" + kind + `Query?bom=0 {"bom":"true"}`: "",
		} {
			line, body, _ := strings.Cut(request, " {")
			if body != "" {
				body = "{" + body
			}
			guard := strconv.FormatBool(want == guarded)
			a := c.do(line, body).want(t, 200).wantHeader(t, "X-Ignored-Members", "").
				wantHeader(t, "X-Formula-Guard", guard)
			if a.body != mark+names+want {
				t.Errorf("%s\ngot  %q\nwant %q", request, a.body, mark+names+want)
			}
		}

		c.do("GET /Queries/"+kind+".csv", "", "X-Formula-Guard: false").want(t, 200).
			wantHeader(t, "X-Formula-Guard", "false").
			wantText(t, plain)
		c.do("GET /Queries/"+kind+".json", "").want(t, 200).wantHeader(t, "X-Formula-Guard", "")
		for _, line := range []string{
			"GET /Queries/" + kind + ".csv?bom=maybe",
			"GET /Queries/" + kind + ".csv?Strict=true&bom=t",
			"GET /Users?bom=1&bom=1",
			"GET /Users.csv?bom=maybe",
		} {
			c.do(line, "").want(t, 400).wantText(t, "bom")
		}

		c.do("POST /csv/reply/"+kind+"Query", `{"bom":"maybe"}`).want(t, 400).wantText(t, "must be true or false,bom")
		c.do("POST /Users", `{"bom":"maybe","UserName":"Ann","DisplayName":"=A1","Role":"reader","Password":"`+annPassword+`"}`).want(t, 400)
		c.do("POST /Users", `{"UserName":"Ann","DisplayName":"=A1","Role":"reader","Password":"`+annPassword+`"}`).want(t, 201)
		users := c.do("GET /Users.csv?bom=true", "").want(t, 200).body
		guard := strings.Contains(users, ",'=A1,")
		if !strings.HasPrefix(users, "\ufeffUserName,") || guard != (want == guarded) {
			t.Errorf("with %v: %q", args, users)
		}
	}
}

// TestResponsesInLibreOffice opens a workbook and CSV with a byte order mark of a running
// service: texts, dates and decimals keep their values. CSV has no types, so its columns
// are imported as text.
func TestResponsesInLibreOffice(t *testing.T) {
	if !clientstest.Wanted() {
		t.Skip("make clients runs this test: each start of LibreOffice takes seconds")
	}

	office := clientstest.Tool(t, "soffice")
	const kind = "JB_EstimateResourceLines"
	c := asAdmin(t, startWithView(t, kind, formulas))
	k, _ := record.Builtin().Lookup(kind)
	for file, test := range map[string]struct {
		filter string
		dates  []string
		amount string
	}{
		"rows.xlsx": {
			filter: "Calc MS Excel 2007 XML",
			dates:  []string{"2019-05-01 10:11:12.123", "1753-01-01T00:00:00.0000000"},
			amount: "-12.5",
		},
		"rows.csv": {
			filter: "CSV:44,34,76,1,1/2/2/2/3/2/4/2/5/2/6/2/7/2/8/2/9/2/10/2/11/2/12/2/13/2",
			dates:  []string{"2019-05-01T10:11:12.1230000", "1753-01-01T00:00:00.0000000"},
			amount: "-12.50",
		},
	} {
		dir := t.TempDir()
		format := strings.TrimPrefix(filepath.Ext(file), ".")
		body := c.do("GET /Queries/"+kind+"?bom=true&format="+format, "").want(t, 200).body
		if err := os.WriteFile(filepath.Join(dir, file), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), office,
			"-env:UserInstallation="+clientstest.FileURL(filepath.Join(dir, "profile")),
			"--headless",
			"--infilter="+test.filter,
			"--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true",
			"--outdir", filepath.Join(dir, "out"),
			filepath.Join(dir, file))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "out", "rows.csv"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		want := [][]string{
			k.FieldNames(),
			{
				"00120", `=1+"1"`, "+1", test.dates[0], test.amount,
				"922337203685477.5807", "0.0001", "@é 😀", test.dates[1], "\ta", "",
				"-", "a-b=c",
			},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", file, err, got, want)
		}
	}
}
