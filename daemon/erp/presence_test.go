package erp_test

import (
	"fmt"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// trackedKinds returns an optional and a required kind, each of which has a table of its name.
func trackedKinds(t *testing.T) []erp.Tracked {
	t.Helper()
	field := []record.Field{{Name: "ID", Type: record.Int}}
	registry, err := record.NewRegistry(
		record.Kind{Name: "Optional", Fields: field},
		record.Kind{Name: "Required", Table: "sales.[Order Lines]", Fields: field},
	)
	if err != nil {
		t.Fatal(err)
	}
	kinds := registry.Kinds()
	return []erp.Tracked{{Kind: kinds[0], Optional: true}, {Kind: kinds[1]}}
}

// TestPresence looks for tables that exist and do not exist, with each history. A required table
// that has never been seen is neither missing nor absent: it is reported as a mistake.
func TestPresence(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, "CREATE SCHEMA sales")
	r, err := erp.Open(erp.Config{DSN: dsn, Registry: record.Builtin()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	both := []string{"Optional", "Required"}
	check := func(served erp.Served, want erp.Presence) {
		t.Helper()
		got, err := r.Presence(t.Context(), trackedKinds(t), served)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("with served tables %+v: got %+v (%v), want %+v", served, got, err, want)
		}
	}
	check(erp.Served{}, erp.Presence{Absent: []string{"Optional"}})
	check(erp.Served{Tables: both}, erp.Presence{Missing: both})
	check(erp.Served{Gone: both}, erp.Presence{Absent: both})

	mssqltest.Exec(t, dsn, "CREATE TABLE dbo.Optional (ID int)", "CREATE VIEW sales.[Order Lines] AS SELECT 1 AS ID")
	check(erp.Served{}, erp.Presence{New: both})
	check(erp.Served{Tables: both}, erp.Presence{})
	check(erp.Served{Gone: both}, erp.Presence{New: both})
}

// TestLastPresence checks which tables are served while the ERP's server does not answer.
func TestLastPresence(t *testing.T) {
	for _, c := range []struct {
		served erp.Served
		want   erp.Presence
	}{
		{erp.Served{}, erp.Presence{}},
		{erp.Served{Tables: []string{"Optional"}}, erp.Presence{}},
		{erp.Served{Tables: []string{"Required"}}, erp.Presence{Absent: []string{"Optional"}}},
		{erp.Served{Tables: []string{"Optional"}, Gone: []string{"Required"}}, erp.Presence{Absent: []string{"Required"}}},
	} {
		got := erp.LastPresence(trackedKinds(t), c.served)
		got.New = nil
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("with served tables %+v: got %+v, want %+v", c.served, got, c.want)
		}
	}
}
