package erp_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// TestERPVersionOnServer reads the version from columns of two types and reports columns
// that cannot be read.
func TestERPVersionOnServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE SY_System ([Version of it] nvarchar(20), Old char(30))`,
		`INSERT INTO SY_System VALUES ('07.03.00.01', '07.02.00.00'), (NULL, NULL), ('07.02.09.00', '06')`)
	// The wanted problem is the beginning of its text.
	for source, want := range map[string]erp.Version{
		"SY_System.[Version of it]":       {Version: "07.03.00.01"},
		"dbo.[SY_System].Old":             {Version: "07.02.00.00", Problem: "webhooks require version"},
		"SY_System.Release":               {Problem: "it cannot be read"},
		"SY_System.[x]]; DROP TABLE y--]": {Problem: "it cannot be read"},
	} {
		s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn, VersionSource: source}})
		report, err := s.Check(t.Context())
		if err != nil || report.ERP == nil {
			t.Fatalf("%s: got report %+v (%v), want one with a version", source, report, err)
		}
		got := *report.ERP
		if got.Version != want.Version {
			t.Errorf("%s: got version %q, want %q", source, got.Version, want.Version)
		}
		hasProblem := got.Problem != ""
		wantProblem := want.Problem != ""
		if hasProblem != wantProblem || !strings.HasPrefix(got.Problem, want.Problem) {
			t.Errorf("%s: got problem %q, want %q", source, got.Problem, want.Problem)
		}
	}
}

func TestVersionSources(t *testing.T) {
	for text, valid := range map[string]bool{
		"T.C":                        true,
		"dbo.T.C":                    true,
		"[my base].dbo.[a.b].[c]]d]": true,
		"s.d.x.T.C":                  true,

		"":            false,
		"T":           false,
		".C":          false,
		"T.":          false,
		"a.b.c.d.e.f": false,
		"[T.C":        false,
	} {
		if err := erp.CheckVersionSource(text); (err == nil) != valid {
			t.Errorf("%q: got error %v, want valid: %v", text, err, valid)
		}
	}
}
