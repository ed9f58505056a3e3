package daemon_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// catalogueQueries describe a database: its objects, and the rights of its users.
var catalogueQueries = []string{
	"SELECT name, CAST(schema_id AS nvarchar(20)), CAST(object_id AS nvarchar(20)), type FROM sys.objects ORDER BY object_id",
	"SELECT name, CAST(schema_id AS nvarchar(20)), CAST(principal_id AS nvarchar(20)), N'' FROM sys.schemas ORDER BY schema_id",
	"SELECT name, CAST(object_id AS nvarchar(20)), CAST(column_id AS nvarchar(20)), CAST(user_type_id AS nvarchar(20)) FROM sys.columns ORDER BY object_id, column_id",
	"SELECT COALESCE(name, N''), CAST(object_id AS nvarchar(20)), CAST(index_id AS nvarchar(20)), type_desc FROM sys.indexes ORDER BY object_id, index_id",
	"SELECT name, CAST(principal_id AS nvarchar(20)), type, N'' FROM sys.database_principals ORDER BY principal_id",
	"SELECT permission_name, CAST(major_id AS nvarchar(20)), CAST(grantee_principal_id AS nvarchar(20)), state_desc FROM sys.database_permissions ORDER BY major_id, grantee_principal_id, permission_name",
}

// catalogue returns the catalogue of the database as text. Babelfish does not list
// permissions: those of the login are computed.
func (o onServer) catalogue(login string) (text string) {
	o.t.Helper()
	read := func(dsn string, queries ...string) {
		s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
		if err != nil {
			o.t.Fatal(err)
		}
		defer s.Close()
		for _, query := range queries {
			rows, err := s.DB().QueryContext(o.t.Context(), query)
			if err != nil {
				o.t.Fatalf("%s: %v", query, err)
			}
			for rows.Next() {
				var c [4]string
				if err := rows.Scan(&c[0], &c[1], &c[2], &c[3]); err != nil {
					o.t.Fatalf("%s: %v", query, err)
				}
				text += strings.Join(c[:], " ") + "\n"
			}
			if err := rows.Err(); err != nil {
				o.t.Fatalf("%s: %v", query, err)
			}
		}
	}
	read(o.dsn, catalogueQueries...)
	for _, kinds := range [][]*record.Kind{record.Builtin().Kinds(), erp.BillTables().Kinds()} {
		for _, kind := range kinds {
			right := func(name string) string {
				return "CAST(HAS_PERMS_BY_NAME('dbo." + kind.Name + "', 'OBJECT', '" + name + "') AS nvarchar(20))"
			}
			read(login, "SELECT N'"+kind.Name+"', "+right("SELECT")+", "+right("INSERT")+", "+right("UPDATE"))
		}
	}

	return text
}

// token waits for the end of the first look at a kind, and returns the token of the present.
func (u *use) token(kind string) (token string) {
	u.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		status, text := u.as("GET /Queries/"+kind+"/Changes", "")
		if _, token, found := strings.Cut(text, `"Next":"`); found {
			token, _, _ = strings.Cut(token, `"`)
			return token
		}
		if status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			u.t.Fatalf("no token: status %d, %s", status, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// captures changes a row as the ERP does, and expects its change, its event, and that the
// administrator of the server sees the connections of capture by their name.
func (u *use) captures(token string) {
	u.t.Helper()
	mssqltest.Exec(u.t, u.dsn, "UPDATE dbo.CR_Classification SET Description = N'changed by the ERP' WHERE CreditorClassificationID = (SELECT MIN(CreditorClassificationID) FROM dbo.CR_Classification)")
	d := await(u.t, u.got)
	if d.header.Get("X-Event-Name") != "creditor.updated" || !strings.Contains(d.body, "changed by the ERP") {
		u.t.Errorf("delivered %+v", d)
	}
	u.expectAs("GET /Queries/CR_Classification/Changes?Since="+token, "", 200, `"Changed":["Description"]`)
	n := mssqltest.Count(u.t, u.dsn, "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'whd-capture'")
	if n == 0 {
		u.t.Error("the server has no session of whd-capture")
	}
}

// TestSelectOnly runs a daemon with a login that can only read the ERP's tables. Everything but
// the bill update works, and the ERP's database does not change.
func TestSelectOnly(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "demo records", "demo")
	login, dsn := o.scriptLogin("login.sql")
	before := o.catalogue(dsn)
	if lines := strings.Count(before, "\n"); lines < 100 || !strings.Contains(before, "\nDB_Class 1 0 0\n") {
		t.Fatalf("the catalogue has %d lines:\n%s", lines, before)
	}

	kinds := filepath.Join(t.TempDir(), "kinds")
	writeKinds(t, kinds, "captured", "[CR_Classification]\nkey = ['CreditorClassificationID']\ncapture = 'always'\nevents = 'creditor'\n")
	u := newUse(o, "--erp", dsn, "--erp-kinds", kinds, "--changes-sweep", "1s", "--changes-share", "1")
	u.queries()
	token := u.token("CR_Classification")
	u.subscribe()
	for n := range 3 {
		u.publish(fmt.Sprint("event ", n))
	}

	u.captures(token)
	u.updateBill("Assembly", 403, "the service's login has no permission to INSERT and UPDATE, so bills can only be read")
	u.updateBill("Assembly", 403, "dbo.BM_StageCustomValues")
	if _, text := u.as("GET /metrics", ""); strings.Contains(text, `whd_http_panics_total 1`) {
		t.Error("a request failed unexpectedly")
	}

	ctx := t.Context()
	_, err := u.admin.AddUser(ctx, wire.UserRequest{
		UserName: "ann",
		Role:     pointer("reader"),
		Password: pointer("a password of ann"),
	})
	if err != nil {
		t.Error(err)
	}

	u.expectAs("POST /ApiKeys", `{"Name":"till","Role":"reader"}`, 201, "whd_")
	u.expectAs("GET /Queries/WH_Audit?Fields=Action,Subject&SubjectIn=ann", "", 200, `"user add"`)
	u.expectAs("GET /readyz", "", 200, "ready\n")
	u.restart("--erp", dsn)
	u.publish("after the restart")
	u.expectAs("GET /Logs?Take=1", "", 200, `"Results":[{`)

	// whd check prints the statement that grants the bill update.
	r := u.report(0, "WHD_ERP="+dsn)
	want := "GRANT INSERT, UPDATE ON [dbo].[BM_StageCustomValues] TO [" + login + "];"
	if !r.Complete || len(r.Findings) != 1 || !r.Findings[0].Warning || !slices.Equal(r.Grants, []string{want}) {
		t.Errorf("the check reports %+v, want %s", r, want)
	}

	var out strings.Builder
	status := whd.Main(whd.Process{
		Args:   []string{"check", "--data-dir", u.dir},
		Env:    []string{"WHD_ERP=" + dsn},
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: t.Output(),
	})
	if status != 0 || !strings.Contains(out.String(), "\n  "+want+"\n") {
		t.Errorf("the check printed, with status %d,\n%s", status, &out)
	}
	if after := o.catalogue(dsn); after != before {
		t.Errorf("the ERP's database has changed from\n%s\nto\n%s", before, after)
	}
	if files, err := fs.Glob(os.DirFS(u.dir), "records.db*"); err != nil || len(files) > 0 {
		t.Errorf("files of demo records: got %q, %v, want none", files, err)
	}

	mssqltest.Exec(t, o.dsn, want) // without a restart
	u.updateBill("Assembly", 200, "Assembly")
	// Without SELECT on tables, the check prints the statements for these and the bills fail.
	mssqltest.Exec(t, o.dsn, "REVOKE SELECT ON dbo.IN_Colours FROM "+login,
		"REVOKE SELECT ON dbo.BM_Main FROM "+login)
	r = u.report(1, "WHD_ERP="+dsn)
	missing := []string{
		"GRANT SELECT ON [dbo].[BM_Main] TO [" + login + "];",
		"GRANT SELECT ON [dbo].[IN_Colours] TO [" + login + "];",
	}
	slices.Sort(r.Grants)
	if !slices.Equal(r.Grants, missing) {
		t.Errorf("the check prints %q, want %q", r.Grants, missing)
	}

	u.expectAs("GET /Queries/IN_Colours", "", 503, "no permission to read")
	// A store on the same server needs a schema.
	r = u.report(1, "WHD_ERP="+dsn, "WHD_STORE="+dsn)
	if !slices.Contains(r.Grants, "CREATE SCHEMA [whd] AUTHORIZATION ["+login+"];") {
		t.Errorf("with a store on the server, the check prints %q", r.Grants)
	}
}
