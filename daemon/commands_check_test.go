package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

func TestCheckEmbedded(t *testing.T) {
	o := newOffice(t)
	o.do(0, "", "migrate")
	if got := o.do(0, "", "check").stdout; !strings.Contains(got, "14 of 14 kinds are complete\nbills: 5 of 5 tables are complete\n") || !strings.Contains(got, "whd.db: version ") || strings.Contains(got, "PROBLEM") {
		t.Errorf("got %s", got)
	}
	got := o.do(1, "", "check --erp-sources DB_Class=gone,SO_Totals=IN_Colours,bm_stages=BM_Main")
	for _, want := range []string{"BM_Main_RecID", "bills: 4 of 5", "DB_Class", "there is no such table or view", "InvoiceTotal", "there is no such column", "12 of 14"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, got.stdout)
		}
	}
	if !strings.Contains(got.stderr, errIncomplete.Error()) {
		t.Errorf("standard error: %s", got.stderr)
	}
	o.play([]step{{"", "check --format yaml", 2, `--format is text or json, not "yaml"`}})
}

func TestCheckJSON(t *testing.T) {
	o := newOffice(t)
	o.do(0, "", "migrate")
	var report struct {
		Complete bool
		Records  int
		Own      struct{ Version, Needed int64 }
		Findings []struct{ Record, Table, Field, Problem string }
	}
	if err := json.Unmarshal([]byte(o.do(0, "", "check --format json").stdout), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Complete || report.Records != len(record.Builtin().Kinds()) || report.Own.Version == 0 || report.Own.Version != report.Own.Needed || report.Findings == nil {
		t.Errorf("got %+v", report)
	}
	if err := json.Unmarshal([]byte(o.do(1, "", "check --format json --erp-sources DB_Class=gone").stdout), &report); err != nil {
		t.Fatal(err)
	}
	if report.Complete || len(report.Findings) != 1 || report.Findings[0].Table != "gone" || report.Findings[0].Field != "" {
		t.Errorf("got %+v", report)
	}
}

func TestDemoCommand(t *testing.T) {
	newOffice(t).play([]step{
		{"", "demo", 0, ""},
		{"", "demo", 1, "the store has records"},
	})
}
