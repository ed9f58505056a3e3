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

func TestCheckOfEmbeddedStore(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "migrate")
	n := len(record.Builtin().Kinds())
	complete := fmt.Sprintf("%d of %d kinds are complete\nbills: 5 of 5 tables are complete\n", n, n)
	if got := d.run(0, "", "check").stdout; !strings.Contains(got, complete) || !strings.Contains(got, "whd.db: version ") || strings.Contains(got, "PROBLEM") {
		t.Errorf("got %s", got)
	}
	got := d.run(1, "", "check --erp-sources DB_Class=gone,SO_Totals=IN_Colours,bm_stages=BM_Main")
	for _, want := range []string{"BM_Main_RecID", "bills: 4 of 5", "DB_Class", "there is no such table or view", "InvoiceTotal", "there is no such column", fmt.Sprintf("%d of %d kinds", n-2, n)} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, got.stdout)
		}
	}
	if !strings.Contains(got.stderr, errIncomplete.Error()) {
		t.Errorf("standard error: %s", got.stderr)
	}
	d.runSteps([]step{{"", "check --format yaml", 2, `--format must be text or json, not "yaml"`}})
}

func TestCheckAsJSON(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "migrate")
	var report struct {
		Complete bool
		Records  int
		Own      struct{ Version, Needed int64 }
		Findings []struct{ Record, Table, Field, Problem string }
	}
	if err := json.Unmarshal([]byte(d.run(0, "", "check --format json").stdout), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Complete || report.Records != len(record.Builtin().Kinds()) || report.Own.Version == 0 || report.Own.Version != report.Own.Needed || report.Findings == nil {
		t.Errorf("got %+v", report)
	}
	if err := json.Unmarshal([]byte(d.run(1, "", "check --format json --erp-sources DB_Class=gone").stdout), &report); err != nil {
		t.Fatal(err)
	}
	if report.Complete || len(report.Findings) != 1 || report.Findings[0].Table != "gone" || report.Findings[0].Field != "" {
		t.Errorf("got %+v", report)
	}
}

func TestDemoNeedsEmptyStore(t *testing.T) {
	newDataDir(t).runSteps([]step{
		{"", "demo", 0, ""},
		{"", "demo", 1, "the store has records"},
	})
}

func TestCheckReportsERPVersion(t *testing.T) {
	d := newDataDir(t)
	d.run(0, "", "migrate")
	conn, err := sqlite.Open(filepath.Join(d.dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	check := func(source, want string) {
		t.Helper()
		if got := d.run(0, "", "check --erp-version-source "+source).stdout; !strings.Contains(got, "\nERP: "+want+" ("+source+")\n") {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	check("SY_System.Version", "no version; warning: it cannot be read: no such table: SY_System")
	for _, c := range []struct{ sql, want string }{
		{"CREATE TABLE SY_System (Version TEXT)", "no version; warning: it contains no version such as 07.02.01.00"},
		{"INSERT INTO SY_System VALUES (NULL), ('beta'), ('7.2.1.0.0')", "no version; warning: it contains no version such as 07.02.01.00"},
		{"INSERT INTO SY_System VALUES ('07.02.00.99')", "version 07.02.00.99; warning: webhooks require version 07.02.01.00 or later"},
		{"INSERT INTO SY_System VALUES (' 7.2.1 '), ('07.01.99.99')", "version 7.2.1"},
		{"INSERT INTO SY_System VALUES ('07.10')", "version 07.10"},
	} {
		if err := conn.Exec(c.sql); err != nil {
			t.Fatal(err)
		}
		check("SY_System.Version", c.want)
	}
	check("SY_System.Release", "no version; warning: it cannot be read: no such column: t.Release")
	if got := d.run(0, "", "check --format json --erp-version-source SY_System.Version").stdout; !strings.Contains(got, `"Version": "07.10"`) {
		t.Errorf("got %s", got)
	}
	d.runSteps([]step{{"", "check --erp-version-source Version", 2, `"Version" is not a table and a column such as dbo.SY_System.Version`}})
	if got := d.run(0, "", "check --webhooks-host-url http://localhost:5050").stdout; strings.Contains(got, "ERP:") || !strings.Contains(got, "\nwarn  webhooks.host_url  http://localhost:5050 is a loopback address") {
		t.Errorf("got %s", got)
	}
}
