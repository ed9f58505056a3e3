package whd

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// newStore returns a data directory with an empty store.
func newStore(t *testing.T) dataDir {
	t.Helper()
	d := newDataDir(t)
	d.run(0, "", "migrate")
	return d
}

// wantText checks the text that a command printed.
func wantText(t *testing.T, args, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("whd %s printed\n%s\nwant %q", args, got, want)
	}
}

func TestCheckOfEmbeddedStore(t *testing.T) {
	d := newStore(t)
	kinds := len(record.Builtin().Kinds())

	got := d.run(0, "", "check").stdout
	wantText(t, "check", got, fmt.Sprintf("%d of %d kinds are complete\n", kinds, kinds))
	wantText(t, "check", got, "\nbills: 5 of 5 tables are complete\n")
	wantText(t, "check", got, "whd.db: version ")
	if strings.Contains(got, "PROBLEM") {
		t.Errorf("whd check printed\n%s\nwant no problems", got)
	}

	const args = "check --erp-sources DB_Class=gone,SO_Totals=IN_Colours,bm_stages=BM_Main"
	incomplete := d.run(1, "", args)
	for _, want := range []string{
		"BM_Main_RecID",
		"bills: 4 of 5",
		"DB_Class",
		"there is no such table or view",
		"InvoiceTotal",
		"there is no such column",
		fmt.Sprintf("%d of %d kinds", kinds-2, kinds),
	} {
		wantText(t, args, incomplete.stdout, want)
	}
	wantText(t, args, incomplete.stderr, errIncomplete.Error())

	d.runSteps([]step{
		{args: "check --format yaml", status: 2, stderr: `--format must be text or json, not "yaml"`},
	})
}

// checkReport has members of a report in JSON.
type checkReport struct {
	Complete bool
	Records  int
	Own      struct{ Version, Needed int64 }
	Findings []struct{ Record, Table, Field, Problem string }
}

// runCheck runs check, with further arguments, and returns its report in JSON.
func (d dataDir) runCheck(status int, args string) (report checkReport) {
	d.t.Helper()
	text := d.run(status, "", "check --format json"+args).stdout
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		d.t.Fatalf("check --format json%s printed %s: %v", args, text, err)
	}
	return report
}

func TestCheckAsJSON(t *testing.T) {
	d := newStore(t)
	got := d.runCheck(0, "")
	if !got.Complete || got.Findings == nil || len(got.Findings) > 0 {
		t.Errorf("the report is %+v, want it complete with an empty list of findings", got)
	}
	if want := len(record.Builtin().Kinds()); got.Records != want {
		t.Errorf("the report has %d record kinds, want %d", got.Records, want)
	}
	if got.Own.Version == 0 || got.Own.Version != got.Own.Needed {
		t.Errorf("the version is %d of %d, want the latest", got.Own.Version, got.Own.Needed)
	}

	got = d.runCheck(1, " --erp-sources DB_Class=gone")
	if got.Complete || len(got.Findings) != 1 {
		t.Fatalf("the report is %+v, want it incomplete with one finding", got)
	}
	if finding := got.Findings[0]; finding.Table != "gone" || finding.Field != "" {
		t.Errorf("the finding is %+v, want the table gone", finding)
	}
}

// TestCheckAcceptsFlagsOfServe checks the configuration of the demo by its flags. A flag that affects no
// check is accepted, and its value is validated.
func TestCheckAcceptsFlagsOfServe(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "demo")
	const flags = " --demo --demo-activity --mcp-enabled --changes-sweep 10s" +
		" --webhooks-allow-targets 127.0.0.0/8 --webhooks-host-url http://127.0.0.1:5050"
	wantText(t, "check"+flags, d.run(0, "", "check"+flags).stdout, "\nok")
	d.runSteps([]step{
		{args: "check --log-level loud", status: 2, stderr: "log.level"},
		{args: "check --demo-activity", status: 2, stderr: "demo_activity (flag --demo-activity): requires demo"},
	})
	help := d.run(0, "", "check --help").stdout
	wantText(t, "check --help", help, "--demo ")
	if strings.Contains(help, "--log-level") {
		t.Errorf("whd check --help prints a flag that affects no check:\n%s", help)
	}
}

func TestDemoNeedsEmptyStore(t *testing.T) {
	newDataDir(t).runSteps([]step{
		{args: "demo"},
		{args: "demo", status: 1, stderr: "the store has records"},
	})
}

func TestCheckReportsERPVersion(t *testing.T) {
	d := newStore(t)
	conn, err := sqlite.Open(filepath.Join(d.dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	checkVersion := func(source, want string) {
		t.Helper()
		args := "check --erp-version-source " + source
		wantText(t, args, d.run(0, "", args).stdout, "\nERP: "+want+" ("+source+")\n")
	}

	checkVersion("SY_System.Version", "no version; warning: it cannot be read: no such table: SY_System")
	for _, c := range []struct{ sql, want string }{
		{
			sql:  "CREATE TABLE SY_System (Version TEXT)",
			want: "no version; warning: it contains no version such as 07.02.01.00",
		},
		{
			sql:  "INSERT INTO SY_System VALUES (NULL), ('beta'), ('7.2.1.0.0')",
			want: "no version; warning: it contains no version such as 07.02.01.00",
		},
		{
			sql:  "INSERT INTO SY_System VALUES ('07.02.00.99')",
			want: "version 07.02.00.99; warning: webhooks require version 07.02.01.00 or later",
		},
		{
			sql:  "INSERT INTO SY_System VALUES (' 7.2.1 '), ('07.01.99.99')",
			want: "version 7.2.1",
		},
		{
			sql:  "INSERT INTO SY_System VALUES ('07.10')",
			want: "version 07.10",
		},
	} {
		if err := conn.Exec(c.sql); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		checkVersion("SY_System.Version", c.want)
	}
	checkVersion("SY_System.Release", "no version; warning: it cannot be read: no such column: t.Release")

	const args = "check --format json --erp-version-source SY_System.Version"
	wantText(t, args, d.run(0, "", args).stdout, `"Version": "07.10"`)
	d.runSteps([]step{{
		args:   "check --erp-version-source Version",
		status: 2,
		stderr: `"Version" is not a table and a column such as dbo.SY_System.Version`,
	}})
}

func TestCheckWarnsAboutLoopbackAddress(t *testing.T) {
	const args = "check --webhooks-host-url http://localhost:5050"
	got := newStore(t).run(0, "", args).stdout
	wantText(t, args, got, "\nwarn  webhooks.host_url  http://localhost:5050 is a loopback address")
	if strings.Contains(got, "ERP:") {
		t.Errorf("whd %s printed\n%s\nwant no version of the ERP without its source", args, got)
	}
}
