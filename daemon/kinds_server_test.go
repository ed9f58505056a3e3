package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestOwnKindOnServer queries a table in another schema, with names of table and columns that are no
// identifiers, and a bill table, and checks them with the database.
func TestOwnKindOnServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, "CREATE SCHEMA sales", "CREATE TABLE sales.[Order Lines] ([Line No.] int NOT NULL, [Sum] decimal(9,2) NULL)",
		"INSERT INTO sales.[Order Lines] VALUES (1, 2.5), (2, NULL)", "CREATE TABLE dbo.BM_Stages (RecID nvarchar(40), BM_Main_RecID nvarchar(40))", "INSERT INTO dbo.BM_Stages VALUES (N's1', N'b1')")
	dir := t.TempDir()
	writeKinds(t, filepath.Join(dir, "kinds"), "sales", `[OrderLine]
source = "sales.[Order Lines]"
key = ["LineNo"]
[OrderLine.fields]
LineNo = { type = "int", column = "Line No." }
Sum = "decimal?"

[Short]
source = "sales.[Order Lines]"
[Short.fields]
LineNo = "int"

[BM_Stages.fields]
RecID = "string"
`)
	i := daemontest.StartIn(t, dir, "--erp", dsn, "--erp-kinds", filepath.Join(dir, "kinds"),
		"--auth-queries", "anonymous")
	for path, want := range map[string]string{
		"/Queries/OrderLine.csv?LineNoGreaterThan=0&OrderByDesc=Sum": "LineNo,Sum\r\n1,2.50\r\n2,\r\n",
		"/Queries/BM_Stages.csv":                                     "RecID\r\ns1\r\n",
		"/Queries/Short.json":                                        "lacks the column LineNo",
	} {
		if _, body := get(t, i.URL+path); !strings.Contains(body, want) {
			t.Errorf("%s has no %s: %s", path, want, body)
		}
	}

	r := onServer{
		t:   t,
		dsn: dsn,
		dir: dir,
	}.checks("sqlite", 1, "WHD_ERP="+dsn, "WHD_ERP_KINDS="+filepath.Join(dir, "kinds"))
	found := false
	for _, f := range r.Findings {
		if f.Record == "OrderLine" {
			t.Errorf("got %+v", f)
		}
		const remedy = `there is no such column LineNo; correct the field in its file, LineNo = { type = "int"`
		if f.Record == "Short" && f.Field == "LineNo" && strings.Contains(f.Problem, remedy) {
			found = true
		}
	}
	if !found {
		t.Errorf("got %+v", r.Findings)
	}
}
